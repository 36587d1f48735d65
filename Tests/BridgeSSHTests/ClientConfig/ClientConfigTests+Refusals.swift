import BridgeErrors
import BridgeSSH
import Testing

/// Values and restrictions that are refused, with the file and line they stand in.
extension ClientConfigTests {
  @Test(arguments: [
    ("\nPort 99999", "Port", "\"99999\" is not a port (1 to 65535) (/c:2)"),
    ("Port 0", "Port", "\"0\" is not a port (1 to 65535) (/c:1)"),
    ("Port ssh", "Port", "\"ssh\" is not a port (1 to 65535) (/c:1)"),
    ("Port -1", "Port", "\"-1\" is not a port (1 to 65535) (/c:1)"),
    ("Port", "Port", "the value is missing (/c:1)"),
    ("Port ''", "Port", "the value is missing (/c:1)"),
    ("Port 22 23", "Port", "more than one value (/c:1)"),
    ("Port 22\nport 99999", "port", "\"99999\" is not a port (1 to 65535) (/c:2)"),
    ("ConnectTimeout abc", "ConnectTimeout", "\"abc\" is not a time (/c:1)"),
    ("ConnectTimeout -1", "ConnectTimeout", "\"-1\" is not a time (/c:1)"),
    ("ConnectTimeout 1x", "ConnectTimeout", "\"1x\" is not a time (/c:1)"),
    (
      "ConnectTimeout 9999999999w", "ConnectTimeout",
      "\"9999999999w\" is too long a time (/c:1)"
    ),
    ("ServerAliveCountMax x", "ServerAliveCountMax", "\"x\" is not a count (/c:1)"),
    ("IdentitiesOnly maybe", "IdentitiesOnly", "\"maybe\" is neither yes nor no (/c:1)"),
    (
      "StrictHostKeyChecking x", "StrictHostKeyChecking",
      "\"x\" is none of yes, accept-new, ask, no (/c:1)"
    ),
    ("RequestTTY x", "RequestTTY", "\"x\" is none of yes, no, force, auto (/c:1)"),
    ("LogLevel LOUD", "LogLevel", "\"LOUD\" is not a log level (/c:1)"),
    ("HostName -oProxyCommand=x", "HostName", "\"-oProxyCommand=x\" starts with a hyphen (/c:1)"),
    ("HostName %p", "HostName", "the token %p is not supported (/c:1)"),
    ("User \"a", "User", "a quote is not closed (/c:1)"),
    ("Host", "Host", "the value is missing (/c:1)"),
    ("IdentityFile ~eve/key", "IdentityFile", "there is no user eve (/c:1)"),
    ("IdentityFile /%T", "IdentityFile", "the token %T is not supported (/c:1)"),
    ("Match", "Match", "the value is missing (/c:1)"),
    ("Match host", "Match", "host has no argument (/c:1)"),
    ("Match host web user ann all", "Match", "all cannot be combined with other criteria (/c:1)"),
    ("Match all host web", "Match", "all cannot be combined with other criteria (/c:1)"),
    ("Ciphers +", "Ciphers", "\"+\" is not a list of algorithms (/c:1)"),
    ("MACs a,!b", "MACs", "\"a,!b\" is not a list of algorithms (/c:1)"),
    ("Ciphers a, b", "Ciphers", "more than one value (/c:1)"),
    ("PubkeyAuthentication x", "PubkeyAuthentication", "\"x\" is neither yes nor no (/c:1)"),
    ("RevokedHostKeys /none", "RevokedHostKeys", "there is no file /none (/c:1)"),
    ("IdentityFile /a%", "IdentityFile", "a % stands alone at the end (/c:1)"),
    ("IdentityFile ${NONE}", "IdentityFile", "the variable NONE is not set (/c:1)"),
    ("IdentityFile ${NONE", "IdentityFile", "${ is not closed (/c:1)"),
  ])
  func badValuesNameFileAndLine(text: String, field: String, message: String) {
    #expect(throws: AppError.validationError(field: field, message: message)) {
      try resolve(text)
    }
  }

  @Test(arguments: [
    "", "=", "Port", "Port=99999", "Host=web", "Match=all", "Include=/c", "Port=1\nUser=x",
  ])
  func badOptionsNameThemselves(option: String) {
    let error = #expect(throws: AppError.self) { try resolve("", options: [option]) }
    guard case .validationError(_, let message) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(message.contains("-o"))
    #expect(!message.contains("\n"))
  }

  @Test func badValuesForOtherHostsDoNotMatter() throws {
    #expect(try resolve("Host other\nPort x\nProxyJump y\nFoo z").warnings.isEmpty)
  }

  @Test(arguments: [
    ("ProxyJump bastion", "ProxyJump (/c:1)"),
    ("\nProxyCommand ssh -W %h:%p bastion", "ProxyCommand (/c:2)"),
    ("ProxyCommand nc \"unclosed", "ProxyCommand (/c:1)"),
    ("Host w*\nproxyjump a,b", "proxyjump (/c:2)"),
  ])
  func proxiesAreRefused(text: String, feature: String) {
    #expect(throws: AppError.featureUnavailable(feature: feature)) { try resolve(text) }
  }

  @Test func theFirstProxySettingDecides() throws {
    _ = try resolve("ProxyJump none\nProxyCommand nc x\nProxyJump y")
    _ = try resolve("ProxyJump y", options: ["ProxyCommand=none"])
    #expect(throws: AppError.featureUnavailable(feature: "ProxyJump (-o ProxyJump=x)")) {
      try resolve("ProxyJump none", options: ["ProxyJump=x"])
    }
  }

  @Test(arguments: [
    ("Ciphers chacha20-poly1305@openssh.com", "Ciphers chacha20-poly1305@openssh.com (/c:1)"),
    ("\nciphers -aes*", "ciphers -aes* (/c:2)"),
    ("MACs umac-128@openssh.com,x", "MACs umac-128@openssh.com,x (/c:1)"),
    ("KexAlgorithms sntrup761x25519-sha512", "KexAlgorithms sntrup761x25519-sha512 (/c:1)"),
    ("HostKeyAlgorithms sk-*", "HostKeyAlgorithms sk-* (/c:1)"),
    ("RevokedHostKeys /krl", "RevokedHostKeys /krl as a binary list (/c:1)"),
  ])
  func aRestrictionThatCannotBeKeptIsRefused(text: String, feature: String) {
    #expect(throws: AppError.featureUnavailable(feature: feature)) {
      try resolve(text, more: ["/krl": "SSHKRL\n\0\0\0\0\u{1}"])
    }
    #expect(throws: Never.self) { try resolve("Host other\n\(text)") }
  }
}
