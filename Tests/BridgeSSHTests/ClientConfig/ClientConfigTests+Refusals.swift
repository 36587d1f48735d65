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
    (
      "Match localnetwork 10.0.0.1/8", "Match",
      "localnetwork: \"10.0.0.1/8\" is not a network (ADDRESS/BITS) (/c:1)"
    ),
    (
      "Match host other localnetwork home", "Match",
      "localnetwork: \"home\" is not a network (ADDRESS/BITS) (/c:1)"
    ),
    ("Ciphers +", "Ciphers", "\"+\" is not a list of algorithms (/c:1)"),
    ("MACs a,!b", "MACs", "\"a,!b\" is not a list of algorithms (/c:1)"),
    ("Ciphers a, b", "Ciphers", "more than one value (/c:1)"),
    ("PubkeyAuthentication x", "PubkeyAuthentication", "\"x\" is neither yes nor no (/c:1)"),
    ("RevokedHostKeys /none", "RevokedHostKeys", "there is no file /none (/c:1)"),
    ("KnownHostsCommand", "KnownHostsCommand", "the value is missing (/c:1)"),
    (
      "KnownHostsCommand keys %H", "KnownHostsCommand",
      "the program's path must be absolute (/c:1)"
    ),
    ("KnownHostsCommand /keys %T", "KnownHostsCommand", "the token %T is not supported (/c:1)"),
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
    #expect(try resolve("Host other\nPort x\nProxyJump y\nForwardAgent z").warnings.isEmpty)
  }

  @Test(arguments: [
    ("ProxyJump a,,b", "the name is empty (/c:1)"),
    ("ProxyJump a:0", "\"0\" is not a port (1 to 65535) (/c:1)"),
    ("ProxyJump @a", "\"@a\" has no usable user name (/c:1)"),
    ("ProxyJump [::1]x", "\"[::1]x\" has something behind its bracket (/c:1)"),
    ("ProxyJump -oProxyCommand=x", "\"-oProxyCommand=x\" starts with a hyphen (/c:1)"),
    (
      "ProxyJump \(Array(repeating: "h", count: 17).joined(separator: ","))",
      "more than 16 hops (/c:1)"
    ),
    ("Host w*\nproxyjump a b", "more than one value (/c:2)"),
    ("ProxyCommand nc %x", "the token %x is not supported (/c:1)"),
    ("HostName a;b\nProxyCommand nc %h 22", "\"a;b\" has characters that a shell acts on (/c:2)"),
  ])
  func malformedProxiesAreRefused(text: String, reason: String) {
    let error = #expect(throws: AppError.self) { try resolve(text) }
    guard case .validationError(_, let message) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(message == reason)
  }

  @Test func certificatesAreReadEachOnce() throws {
    let text = "CertificateFile ~/.ssh/id-cert.pub\ncertificatefile /x\nCertificateFile /x\n"
    let config = try resolve(text + "CertificateFile none")
    #expect(config.certificateFiles.map { $0.split(separator: "/").last } == ["id-cert.pub", "x"])
    #expect(config.warnings.isEmpty)
  }

  @Test(
    arguments: [
      ("ProxyJump none\nProxyCommand nc x\nProxyJump y", .command("nc x")),
      ("ProxyJump a", .jump([JumpHost(host: "a")])),
      ("ProxyCommand none\nProxyJump a", nil),
      (
        "ProxyJump me@a:22,[::1]:2222,ssh://b/\nProxyCommand x",
        .jump([
          JumpHost(user: "me", host: "a", port: 22), JumpHost(host: "::1", port: 2222),
          JumpHost(host: "b"),
        ])
      ),
      ("ProxyCommand nc \"-X 5\" %h %p # %%\nProxyJump a", .command("nc \"-X 5\" web 22 # %")),
      ("Port 7\nHostName x.%h\nProxyCommand=p %r %n %h:%p", .command("p ann web x.web:7")),
    ] as [(String, ClientConfig.Proxy?)])
  func theFirstProxySettingDecides(text: String, proxy: ClientConfig.Proxy?) throws {
    #expect(try resolve(text).proxy == proxy)
  }

  @Test func forwardsAreCollected() throws {
    let text = """
      LocalForward 8080 intranet:80
      LocalForward 127.0.0.2:1:/run/x
      DynamicForward 1080
      LocalForward 8080 intranet:80
      ExitOnForwardFailure yes
      """
    let config = try resolve(text)
    #expect(
      config.forwards.map(\.description) == [
        "8080:intranet:80", "127.0.0.2:1:/run/x", "1080",
      ])
    #expect(config.exitsOnForwardFailure)
    let wide = try resolve(text + "\nGatewayPorts yes")
    #expect(
      wide.forwards.map(\.description) == [
        "*:8080:intranet:80", "127.0.0.2:1:/run/x", "*:1080",
      ])
    #expect(try resolve(text + "\nClearAllForwardings yes").forwards.isEmpty)
  }

  /// As OpenSSH, whose target of a `~` is the directory of that name.
  @Test func pathsOfForwardsAreExpanded() throws {
    let text = """
      LocalForward %d/%n.sock intranet:80
      LocalForward ${KEYS}/x /run/%r.sock
      RemoteForward 9000 ${KEYS}/y
      DynamicForward ~/d
      """
    let config = try resolve(text)
    #expect(
      config.forwards.map(\.description) == [
        "/home/ann/web.sock:intranet:80", "/keys/x:/run/ann.sock", "9000:/keys/y", "/home/ann/d",
      ])
    let places = config.forwards.map { config.forwardLocations[$0]?.description }
    #expect(places == ["/c:1", "/c:2", "/c:3", "/c:4"])
    #expect(throws: AppError.self) { try resolve("LocalForward ${NOT_SET}/x web:80") }
  }

  @Test(arguments: [
    "LocalForward 80", "LocalForward 0 web:80", "DynamicForward 0", "LocalForward a b:1",
    "DynamicForward x", "LocalForward 1 a b",
  ])
  func anotherFormOfForwardIsRefused(text: String) {
    let error = #expect(throws: AppError.self) { try resolve(text) }
    guard case .validationError(_, let message) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(message.hasSuffix("(/c:1)"))
  }

  @Test func anOptionDecidesBeforeTheFile() throws {
    #expect(try resolve("ProxyJump y", options: ["ProxyCommand=none"]).proxy == nil)
    #expect(
      try resolve("ProxyJump none", options: ["ProxyJump=x"]).proxy
        == .jump([JumpHost(host: "x")]))
  }

  @Test(arguments: [
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

  /// They work where libssh2 has them, and are refused where nothing else is left.
  @Test(arguments: [
    ("Ciphers", "chacha20-poly1305@openssh.com", AlgorithmKind.cipherToClient),
    ("Ciphers", "aes128-gcm@openssh.com", .cipherToServer),
    ("MACs", "hmac-sha2-256-etm@openssh.com", .macToClient),
  ])
  func aNewerAlgorithmIsRefusedByNameOrOffered(
    keyword: String, name: String, kind: AlgorithmKind
  ) throws {
    let standard = AlgorithmOffer.standard[kind]
    guard LibraryVersion.linked.hasModernProtection else {
      #expect(throws: AppError.featureUnavailable(feature: "\(keyword) \(name) (/c:1)")) {
        try resolve("\(keyword) \(name)")
      }
      #expect(try resolve("\(keyword) +\(name)").algorithms[kind] == standard)
      return
    }
    #expect(try resolve("\(keyword) \(name)").algorithms[kind] == [name])
    #expect(try resolve("\(keyword) +\(name)").algorithms[kind] == standard + [name])
  }
}
