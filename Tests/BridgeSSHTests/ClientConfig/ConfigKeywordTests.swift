import BridgeErrors
import BridgeSSH
import Testing

/// Every keyword that sets a value changes what the file resolves to.
@Suite struct ConfigKeywordTests {
  /// A value by keyword that no default has.
  private static let values = [
    "hostname": "other.example.org", "user": "bob", "port": "2222", "identityfile": "/k",
    "identitiesonly": "yes", "identityagent": "/a", "pubkeyauthentication": "no",
    "userknownhostsfile": "/u /v", "globalknownhostsfile": "/g /h", "revokedhostkeys": "/r",
    "stricthostkeychecking": "yes", "hostkeyalgorithms": "ssh-ed25519",
    "kexalgorithms": "curve25519-sha256", "ciphers": "aes256-ctr", "macs": "hmac-sha2-512",
    "connecttimeout": "7", "serveraliveinterval": "8", "serveralivecountmax": "9",
    "hostkeyalias": "alias", "requesttty": "force", "loglevel": "QUIET", "proxyjump": "hop",
    "proxycommand": "nc %h %p", "certificatefile": "/c.pub",
    "localforward": "80 web:80", "dynamicforward": "1080", "gatewayports": "yes",
    "exitonforwardfailure": "yes", "clearallforwardings": "yes",
  ]

  private let config = ClientConfigTests()

  @Test func eachHasAValueHere() {
    #expect(Set(Self.values.keys) == Set(ConfigSetting.allCases.map(\.rawValue)))
  }

  @Test(arguments: ConfigSetting.allCases.map(\.rawValue))
  func itChangesTheResult(_ keyword: String) throws {
    let value = try #require(Self.values[keyword])
    let more = ["/r": "ssh-ed25519 AAAA\n"]
    // Some say something about forwards only.
    let base = "LocalForward 1 h:1\n"
    let plain = try config.resolve(base, more: more)
    do {
      let changed = try config.resolve("\(keyword) \(value)\n" + base, more: more)
      #expect(changed != plain, "it has an effect")
      #expect(changed.warnings.isEmpty, "\(changed.warnings)")
      let option = try config.resolve(base, options: ["\(keyword)=\(value)"], more: more)
      #expect(option != plain, "as an option, too")
    } catch AppError.featureUnavailable {
      // A refusal by name is an effect, too.
    }
  }
}
