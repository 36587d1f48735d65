import BridgeErrors
import BridgeSSH
import Testing

/// ssh_config as far as it is honoured, over files that exist only here.
struct ClientConfigTests {
  private func resolve(
    _ text: String, host: String = "web", options: [String] = [], more: [String: String] = [:],
    user: String? = nil, port: Int? = nil
  ) throws(AppError) -> ClientConfig {
    let tree = more.merging(["/c": text]) { first, _ in first }
    let question = ClientConfig.Question(
      host: host, user: user, port: port, home: "/home/ann", localUser: "ann",
      environment: ["KEYS": "/keys"])
    return try ClientConfig.resolve(
      question, options: options, path: "/c", files: Self.files(tree))
  }

  static func files(_ tree: [String: String]) -> ClientConfig.Files {
    ClientConfig.Files(
      read: { (path) throws(AppError) -> String? in
        if tree[path] == "unreadable" { throw .filePermissionDenied(path: path) }
        return tree[path]
      },
      names: { directory in
        tree.keys.filter { $0.hasPrefix(directory + "/") }
          .compactMap { $0.dropFirst(directory.count + 1).split(separator: "/").first }
          .map(String.init)
      })
  }

  @Test func nothingSaidMeansDefaults() throws {
    let config = try resolve("")
    #expect(config.hostName == "web")
    #expect(config.port == 22)
    #expect(config.user == "ann")
    #expect(config.identityFiles == nil)
    #expect(config.connectTimeout == nil)
    #expect(config.warnings.isEmpty)
  }

  @Test func everyKeywordHasItsEffect() throws {
    let config = try resolve(
      """
      Host web
        HostName %h.example.org
        User bob
        Port 2222
        IdentityFile ~/.ssh/%h-%p
        IdentityFile "${KEYS}/%r of %u%%"
        IdentitiesOnly yes
        UserKnownHostsFile ~/.ssh/known %d/known2
        StrictHostKeyChecking accept-new
        ConnectTimeout 1m30s
        ServerAliveInterval 15
        ServerAliveCountMax 4
        HostKeyAlias Farm
        RequestTTY force
        LogLevel DEBUG2
      """)
    #expect(config.hostName == "web.example.org")
    #expect(config.user == "bob")
    #expect(config.port == 2222)
    #expect(
      config.identityFiles == [
        "/home/ann/.ssh/web.example.org-2222", "/keys/bob of ann%",
      ])
    #expect(config.identitiesOnly == true)
    #expect(config.userKnownHostsFiles == ["/home/ann/.ssh/known", "/home/ann/known2"])
    #expect(config.hostKeyChecking == .acceptNew)
    #expect(config.connectTimeout == .seconds(90))
    #expect(config.serverAliveInterval == .seconds(15))
    #expect(config.serverAliveCountMax == 4)
    #expect(config.hostKeyAlias == "Farm")
    #expect(config.knownHostName.name == "farm")
    #expect(config.requestTTY == .force)
    #expect(config.logLevel == .debug2)
    #expect(config.warnings.isEmpty)
  }

  @Test(arguments: [
    "Port 2200", "port=2200", "PORT = 2200", "Port =2200", "\tPort\t2200  \r", "Port \"2200\"",
    "Port '2200'", "Port 2200 # why", "# c\n\nPort 2200\nPort 2201", "Host web\nPort 2200",
    "Host w*\nPort 2200", "Host other web\nPort 2200", "Host we?\nPort 2200",
    "Host *\nPort 2200", "Host * !other\nPort 2200", "Host other\nPort 1\nHost web\nPort 2200",
    "Host \"web\"\nPort 2200", "Host=web\nPort=2200", "Port 2200\nHost web\nPort 2201",
    "Host web\r\nPort 2200\r",
  ])
  func portIsFound(text: String) throws {
    #expect(try resolve(text).port == 2200, "\(text)")
  }

  @Test(arguments: [
    "Host other\nPort 2200", "Host web.example.org\nPort 2200", "Host WEB\nPort 2200",
    "Host * !web\nPort 2200", "Host !web *\nPort 2200", "Host !other\nPort 2200",
    "Match all\nPort 2200", "Match host web\nPort 2200\nUser x", "#Port 2200",
    "Host other\nInclude /more", "Match all\nInclude /more",
  ])
  func portIsNotMeant(text: String) throws {
    #expect(try resolve(text, more: ["/more": "Host web\nPort 2200"]).port == 22, "\(text)")
  }

  @Test func whatWasTypedWinsOverOptionsOverFiles() throws {
    let text = "Port 1\nUser file\nIdentityFile /file\nConnectTimeout 1"
    let options = ["Port=2", "User option", "IdentityFile=/option", "connecttimeout = 2"]
    let config = try resolve(text, options: options, user: "typed")
    #expect(config.user == "typed")
    #expect(config.port == 2)
    #expect(config.identityFiles == ["/option", "/file"])
    #expect(config.connectTimeout == .seconds(2))
    #expect(try resolve(text, options: options, port: 3).port == 3)
  }

  @Test func noneTakesTheDefaultsAway() throws {
    let config = try resolve(
      "IdentityFile none\nUserKnownHostsFile none\nConnectTimeout none\nProxyJump none")
    #expect(config.identityFiles == [])
    #expect(config.userKnownHostsFiles == [])
    #expect(config.connectTimeout == nil)
  }

  @Test func includesAreReadInPlace() throws {
    let more = [
      "/home/ann/.ssh/conf.d/10.conf": "Host web\nPort 2200",
      "/home/ann/.ssh/conf.d/20.conf": "Host web\nPort 2201\nUser twenty",
      "/home/ann/.ssh/conf.d/.hidden.conf": "User hidden",
      "/home/ann/.ssh/plain": "HostName plain.example.org",
      "/etc/abs": "ConnectTimeout 7",
      "/home/ann/tilde": "LogLevel quiet",
    ]
    let config = try resolve(
      "Include conf.d/*.conf plain /etc/abs ~/tilde nothing/* absent\nUser file\nPort 1",
      more: more)
    #expect(config.port == 2200)
    #expect(config.user == "twenty")
    #expect(config.hostName == "plain.example.org")
    #expect(config.connectTimeout == .seconds(7))
    #expect(config.logLevel == .quiet)
  }

  @Test func anIncludeEndsNoBlockOfTheFileAroundIt() throws {
    let config = try resolve(
      "Host web\nInclude /more\nPort 2200", more: ["/more": "Host other\nPort 1"])
    #expect(config.port == 2200)
  }

  @Test func includesThatNeverEndAreErrors() {
    expectBad("Include /c", says: "/c includes itself (/c:1)")
    expectBad("Include /a", more: ["/a": "\nInclude /b", "/b": "Include /a"], says: "(/b:1)")
    var chain: [String: String] = [:]
    for index in 0..<20 { chain["/\(index)"] = "Include /\(index + 1)" }
    expectBad("Include /0", more: chain, says: "more than 16 files deep (/15:1)")
    var wide: [String: String] = [:]
    for index in 0..<300 { wide["/d/\(index)"] = "Port 22" }
    expectBad("Include /d/*", more: wide, says: "more than 256 files (/c:1)")
  }

  @Test func anIncludedFileThatCannotBeReadIsAnError() {
    #expect(throws: AppError.filePermissionDenied(path: "/more")) {
      try resolve("Include /more", more: ["/more": "unreadable"])
    }
  }

  @Test func aFileThatWasNamedMustExist() {
    let question = ClientConfig.Question(host: "web", home: "/h", localUser: "ann")
    #expect(throws: AppError.fileNotFound(path: "/none")) {
      try ClientConfig.resolve(
        question, path: "/none", mustExist: true, files: Self.files([:]))
    }
    #expect(throws: Never.self) {
      try ClientConfig.resolve(question, path: "/none", files: Self.files([:]))
    }
  }

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
    (
      "IdentityFile ~bob/key", "IdentityFile",
      "another user's home directory is not supported (/c:1)"
    ),
    ("IdentityFile /%C", "IdentityFile", "the token %C is not supported (/c:1)"),
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

  @Test func everyOtherKeywordIsNamedOnce() throws {
    let config = try resolve(
      "SendEnv LANG\nForwardAgent yes\nsendenv LC_*\nHost web\n"
        + "  Bo\u{1b}gus \"x\nMatch all\nSendEnv",
      options: ["Ciphers=aes128-ctr"])
    #expect(
      config.warnings == [
        "-o Ciphers=aes128-ctr: Ciphers is not supported and was ignored",
        "/c:1: SendEnv is not supported and was ignored",
        "/c:2: ForwardAgent is not supported and was ignored",
        "/c:5: Bo\\x1bgus is not supported and was ignored",
        "/c:6: Match is not supported; the block was skipped",
      ])
  }

  @Test func warningsAreBounded() throws {
    let text = (0..<5000).map { "Unknown\($0) x\n" }.joined()
    let warnings = try resolve(text).warnings
    #expect(warnings.count == 101)
    #expect(warnings.last == "4900 more warnings about the configuration")
  }

  @Test func checkingIsNeverSwitchedOff() throws {
    let config = try resolve("StrictHostKeyChecking no")
    #expect(config.hostKeyChecking == .acceptNew)
    #expect(
      config.warnings == [
        "/c:1: StrictHostKeyChecking no is taken as accept-new; a changed key is still refused"
      ])
  }

  @Test(arguments: [
    (#"User a\ b"#, "a b"), (#"User "a\"b""#, "a\"b"), (#"User 'a b'"#, "a b"),
    (#"User a\\b"#, #"a\b"#), (#"User DOM\bob"#, #"DOM\bob"#), (#"User a"b c"d"#, "ab cd"),
    (#"User a#b"#, "a#b"), ("User \"#a\"", "#a"),
  ])
  func quotingIsThatOfOpenSSH(text: String, user: String) throws {
    #expect(try resolve(text).user == user)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func mutatedFilesNeverCrash(seed: UInt64) {
    let text =
      "Host web !x *\nInclude /more*\nPort=22\nIdentityFile \"~/%h ${KEYS}\"\n"
      + "ConnectTimeout 1m30s\nMatch all\nHostName %h\nProxyJump none\nUserKnownHostsFile a b\n"
    for bytes in Mutation.of(Array(text.utf8), count: 2000, seed: seed) {
      let text = String(decoding: bytes, as: UTF8.self)
      let config = try? resolve(text, more: ["/more": text])
      #expect((config?.warnings ?? []).allSatisfy { !$0.utf8.contains(0x1b) }, "seed \(seed)")
    }
  }

  private func expectBad(_ text: String, more: [String: String] = [:], says: String) {
    let error = #expect(throws: AppError.self) { try resolve(text, more: more) }
    guard case .validationError("Include", let message) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(message.hasSuffix(says), "\(message)")
  }
}
