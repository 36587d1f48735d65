import BridgeErrors
import BridgeSSH
import Testing

/// Every keyword that sets a value changes what the file resolves to.
@Suite struct ConfigKeywordTests {
  /// A value by keyword that no default has.
  private static let values = [
    "hostname": "other.example.org", "user": "bob", "port": "2222", "identityfile": "/k",
    "identitiesonly": "yes", "identityagent": "/a", "forwardagent": "yes",
    "pubkeyauthentication": "no",
    "userknownhostsfile": "/u /v", "globalknownhostsfile": "/g /h", "revokedhostkeys": "/r",
    "knownhostscommand": "/keys %H",
    "stricthostkeychecking": "yes", "hostkeyalgorithms": "ssh-ed25519",
    "kexalgorithms": "curve25519-sha256", "ciphers": "aes256-ctr", "macs": "hmac-sha2-512",
    "connecttimeout": "7", "serveraliveinterval": "8", "serveralivecountmax": "9",
    "hostkeyalias": "alias", "requesttty": "force", "loglevel": "QUIET", "proxyjump": "hop",
    "proxycommand": "nc %h %p", "certificatefile": "/c.pub",
    "localforward": "80 web:80", "dynamicforward": "1080",
    "remoteforward": "80 web:80", "addressfamily": "inet6", "gatewayports": "yes",
    "exitonforwardfailure": "yes", "clearallforwardings": "yes", "sendenv": "LANG",
    "setenv": "A=1", "batchmode": "yes", "passwordauthentication": "no",
    "kbdinteractiveauthentication": "no", "preferredauthentications": "publickey",
    "numberofpasswordprompts": "1", "hashknownhosts": "yes", "tag": "t", "sessiontype": "none",
    "stdinnull": "yes", "escapechar": "none", "remotecommand": "tmux a", "localcommand": "ls -l",
    "permitlocalcommand": "yes", "permitremoteopen": "a:1 b:*", "bindaddress": "127.0.0.2",
    "bindinterface": "lo", "streamlocalbindunlink": "yes",
    "pubkeyacceptedalgorithms": "ssh-ed25519", "requiredrsasize": "3072",
    "controlmaster": "auto", "controlpath": "/c", "controlpersist": "60",
  ]

  private static let keywords = ConfigKeyword.table.map { $0.name.lowercased() }

  private let config = ClientConfigTests()

  @Test func eachHasAValueHere() {
    #expect(Set(Self.values.keys) == Set(Self.keywords))
  }

  @Test(arguments: keywords)
  func itChangesTheResult(_ keyword: String) throws {
    let value = try #require(Self.values[keyword])
    let more = ["/r": "ssh-ed25519 AAAA\n"]
    // Some say something about forwards only.
    let base = "LocalForward 1 h:1\n"
    let plain = try config.resolve(base, more: more)
    do {
      let changed = try config.resolve("\(keyword) \(value)\n" + base, more: more)
      #expect(Self.values(of: changed) != Self.values(of: plain), "it has an effect")
      #expect(changed.warnings.isEmpty, "\(changed.warnings)")
      let option = try config.resolve(base, options: ["\(keyword)=\(value)"], more: more)
      #expect(Self.values(of: option) != Self.values(of: plain), "as an option, too")
      let entry = try #require(changed.entries.first { $0.location == .file("/c", line: 1) })
      #expect(entry.keyword.lowercased() == keyword)
      #expect(entry.words.joined(separator: " ") == value)
      #expect(option.entries.contains { $0.location == .option("\(keyword)=\(value)") })
    } catch AppError.featureUnavailable {
      // A refusal by name is an effect, too.
    }
  }

  /// Without where they come from.
  private static func values(of config: ClientConfig) -> ClientConfig {
    var config = config
    config.entries = []
    config.identityLocations = [:]
    return config
  }

  @Test func theEntriesAreTheLinesThatDecided() throws {
    let text = """
      Host web
        Port 2200
        IdentityFile /a
      Host *
        Port 2201
        IdentityFile /b
      """
    let resolved = try config.resolve(text, options: ["User=bob"])
    #expect(
      resolved.entries.map { "\($0.keyword) \($0.words) \($0.location)" } == [
        "User [\"bob\"] -o User=bob", "Port [\"2200\"] /c:2", "IdentityFile [\"/a\"] /c:3",
        "IdentityFile [\"/b\"] /c:6",
      ])
  }
}
