import BridgeErrors
import BridgeReactor
import BridgeSSH
import Testing

/// ssh_config as far as it is honored, over files that exist only here.
struct ClientConfigTests {
  func resolve(
    _ text: String, host: String = "web", options: [String] = [], more: [String: String] = [:],
    user: String? = nil, port: Int? = nil, command: String? = nil,
    execute: ShellCondition.Runner? = nil
  ) throws(AppError) -> ClientConfig {
    let tree = more.merging(["/c": text]) { first, _ in first }
    var query = ClientConfig.Query(
      host: host, user: user, port: port, home: "/home/ann", localUser: "ann",
      localUserID: 1001, localHost: "desk.example.net", environment: Self.environment)
    query.command = command
    if command != nil { query.session = "exec" }
    return try ClientConfig.resolve(
      query, options: options, sources: [.user("/c"), .system("/etc/ssh/ssh_config")],
      files: Self.files(tree, execute: execute))
  }

  static let environment = ["KEYS": "/keys", "SSH_AUTH_SOCK": "/agent", "OTHER": "/other"]

  static func files(
    _ tree: [String: String], execute: ShellCondition.Runner? = nil
  ) -> ClientConfig.Files {
    ClientConfig.Files(
      read: { (path, isChecked) throws(AppError) -> String? in
        if tree[path] == "unreadable" { throw .filePermissionDenied(path: path) }
        if isChecked, tree[path]?.hasPrefix("# writable") == true {
          throw .fileReadError(path: path, reason: "writable")
        }
        return tree[path]
      },
      names: { directory in
        tree.keys.filter { $0.hasPrefix(directory + "/") }
          .compactMap { $0.dropFirst(directory.count + 1).split(separator: "/").first }
          .map(String.init)
      }, home: { $0 == "bob" ? "/home/bob" : nil }, execute: execute)
  }

  @Test func nothingSaidMeansDefaults() throws {
    let config = try resolve("")
    #expect(config.hostName == "web")
    #expect(config.port == 22)
    #expect(config.user == "ann")
    #expect(config.identityFiles == nil)
    #expect(config.connectTimeout == nil)
    #expect(config.agentSocket == "/agent")
    #expect(config.allowsPublicKeys)
    #expect(config.revokedHostKeys == nil)
    #expect(config.knownHostsCommand == nil)
    #expect(config.algorithms == .standard)
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
        GlobalKnownHostsFile ~bob/known
        RevokedHostKeys /revoked
        KnownHostsCommand /usr/bin/keys "%H of %n"
        IdentityAgent ~/agent-%h
        PubkeyAuthentication no
        HostKeyAlgorithms ssh-ed25519
        KexAlgorithms -ecdh-*
        Ciphers aes256-ctr,chacha20-poly1305@openssh.com
        MACs ^hmac-sha2-512
        StrictHostKeyChecking accept-new
        ConnectTimeout 1m30s
        ServerAliveInterval 15
        ServerAliveCountMax 4
        HostKeyAlias Farm
        RequestTTY force
        LogLevel DEBUG2
      """, more: ["/revoked": ""])
    #expect(config.hostName == "web.example.org")
    #expect(config.user == "bob")
    #expect(config.port == 2222)
    #expect(
      config.identityFiles == [
        "/home/ann/.ssh/web.example.org-2222", "/keys/bob of ann%",
      ])
    #expect(config.identitiesOnly == true)
    #expect(config.userKnownHostsFiles == ["/home/ann/.ssh/known", "/home/ann/known2"])
    #expect(config.globalKnownHostsFiles == ["/home/bob/known"])
    #expect(config.revokedHostKeys == "/revoked")
    #expect(config.knownHostsCommand?.words == ["/usr/bin/keys", "%H of %n"])
    #expect(config.agentSocket == "/home/ann/agent-web.example.org")
    #expect(!config.allowsPublicKeys)
    #expect(config.algorithms[.hostKey] == ["ssh-ed25519"])
    #expect(config.algorithms[.keyExchange].allSatisfy { $0.hasPrefix("curve25519") })
    for kind in [AlgorithmKind.cipherToServer, .cipherToClient] {
      let newer =
        LibraryVersion.linked.hasModernProtection ? ["chacha20-poly1305@openssh.com"] : []
      #expect(config.algorithms[kind] == ["aes256-ctr"] + newer)
    }
    for kind in [AlgorithmKind.macToServer, .macToClient] {
      #expect(config.algorithms[kind] == ["hmac-sha2-512", "hmac-sha2-256"])
    }
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
    "Host web\r\nPort 2200\r", "Host other\nPort 1\nMatch all\nPort 2200",
    "Match all\nInclude /more", "Match host web\nPort 2200", "Match host=web\nPort 2200",
    "Match host x\nPort 1\nMatch host x,WEB,y\nPort 2200", "Match host w*,!x\nPort 2200",
    "Match !host other\nPort 2200", "Match originalhost web user ann\nPort 2200",
    "HostName real\nMatch host real originalhost web\nPort 2200",
    "User bob\nMatch user b*\nPort 2200", "Match localuser ann user ann\nPort 2200",
    "Match final all\nPort 2200", "HostName real\nMatch final host real\nPort 2200",
    "Host real\nPort 2200\nHost web\nHostName real\nMatch final all",
    "Match !final all\nPort 2200", "Match host web # why\nPort 2200",
  ])
  func portIsFound(text: String) throws {
    #expect(try resolve(text, more: ["/more": "Host web\nPort 2200"]).port == 2200, "\(text)")
  }

  @Test(arguments: [
    "Host other\nPort 2200", "Host web.example.org\nPort 2200", "Host WEB\nPort 2200",
    "Host * !web\nPort 2200", "Host !web *\nPort 2200", "Host !other\nPort 2200",
    "Match !all\nPort 2200", "Match host other\nPort 2200\nUser x", "#Port 2200",
    "Host other\nInclude /more", "Match host other\nInclude /more",
    "Match canonical all\nPort 2200",
    "Match host web,!we*\nPort 2200", "Match user bob\nUser bob\nPort 2200",
    "HostName real\nMatch host web\nPort 2200", "Match user ANN\nPort 2200",
    "Match originalhost real\nPort 2200\nHostName real", "Match localuser bob\nPort 2200",
    "Host real\nPort 2200\nHost web\nHostName real", "Match exec true\nPort 2200",
    "Match exec true\nInclude /more", "Match host web tagged x\nPort 2200",
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
      "Include conf.d/[12]?.con[a-f] plain /etc/abs ~/tilde nothing/* absent\nUser file\nPort 1",
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

  /// As with OpenSSH, which finds the mistakes in them as well.
  @Test func whatIsIncludedForAnotherHostIsOnlyChecked() throws {
    let more = [
      "/more": "Port 1\nHost web\nPort 2\nMatch all\nUser eve\nInclude /most",
      "/most": "Match all\nPort 3\nJunk x",
    ]
    let config = try resolve(
      "IgnoreUnknown Junk\nHost other\nInclude /more\nHost web\nPort 2200", more: more)
    #expect(config.port == 2200 && config.user != "eve")
    #expect(
      throws: AppError.validationError(
        field: "Junk",
        message: "Bad configuration option: it is not a keyword of ssh_config (/most:3)")
    ) { try resolve("Host other\nInclude /more", more: more) }
    expectBad("Host other\nInclude /c", says: "/c includes itself (/c:2)")
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

  /// A file of another user, or of root: OpenSSH reads on.
  @Test(arguments: ["/c", "/etc/ssh/ssh_config"])
  func aUsualFileThatMayNotBeReadIsLeftOutWithAWarning(path: String) throws {
    let config = try resolve("Port 25", more: [path: "unreadable"])
    #expect(config.warnings == ["\(path) is left out: you have no permission to read it"])
    #expect(config.port == (path == "/c" ? 22 : 25))
  }

  @Test func aFileThatWasNamedMustExist() {
    let query = ClientConfig.Query(host: "web", home: "/h", localUser: "ann")
    #expect(throws: AppError.fileNotFound(path: "/none")) {
      try ClientConfig.resolve(
        query, sources: [.named("/none")], files: Self.files([:]))
    }
    #expect(throws: Never.self) {
      try ClientConfig.resolve(
        query, sources: [.user("/none"), .system("/none")], files: Self.files([:]))
    }
  }

  @Test func theMachinesFileComesLast() throws {
    let system = "Host web\nPort 2200\nUser machine\nInclude d/*.conf\nHost other\nPort 1"
    let config = try resolve(
      "Host *\nUser mine",
      more: ["/etc/ssh/ssh_config": system, "/etc/ssh/d/1.conf": "ConnectTimeout 7"])
    #expect(config.user == "mine")
    #expect(config.port == 2200)
    #expect(config.connectTimeout == .seconds(7))
  }

  @Test func theMachinesFileCannotIncludeAUsers() {
    expectBad(
      "", more: ["/etc/ssh/ssh_config": "Include ~/x"],
      says: "the machine's file cannot include a user's (/etc/ssh/ssh_config:1)")
  }

  /// What a distribution writes there is no wish of the user's.
  @Test func unusedKeywordsInTheMachinesFileAreNotTold() throws {
    let system =
      "Host *\nSendEnv LANG\nForwardX11 yes\nRequiredRSASize 2048\nGSSAPIAuthentication yes"
    #expect(try resolve("", more: ["/etc/ssh/ssh_config": system]).warnings.isEmpty)
    #expect(try resolve("ForwardX11 yes").warnings.count == 1)
  }

  /// As OpenSSH: the user's own file and all that is included, but not the machine's or one that
  /// the user named.
  @Test func whoMayWriteAFileIsLookedAt() throws {
    let writable = "# writable by others\nPort 2200"
    let error = AppError.fileReadError(path: "/c", reason: "writable")
    #expect(throws: error) { try resolve(writable) }
    #expect(try resolve("", more: ["/etc/ssh/ssh_config": writable]).port == 2200)
    for file in ["/c", "/etc/ssh/ssh_config"] {
      let more = [file: "Include /more", "/more": writable]
      #expect(throws: AppError.fileReadError(path: "/more", reason: "writable")) {
        try resolve(more["/c"] ?? "", more: more)
      }
    }
    let query = ClientConfig.Query(host: "web", home: "/h", localUser: "ann")
    let files = Self.files(["/c": writable])
    #expect(try ClientConfig.resolve(query, sources: [.named("/c")], files: files).port == 2200)
  }

  @Test(
    arguments: [
      ("", "/agent"), ("IdentityAgent none", nil), ("IdentityAgent SSH_AUTH_SOCK", "/agent"),
      ("IdentityAgent $OTHER", "/other"), ("IdentityAgent $UNSET", nil),
      ("IdentityAgent ${KEYS}/%u", "/keys/ann"), ("IdentityAgent /x\nIdentityAgent none", "/x"),
    ] as [(String, String?)])
  func theAgentIsWhereIdentityAgentSays(text: String, socket: String?) throws {
    #expect(try resolve(text).agentSocket == socket)
  }

  /// The hash is that of `ssh -G` for the same names.
  @Test func tokensAreThoseOfOpenSSH() throws {
    let config = try resolve(
      "HostName Real\nHostKeyAlias PrOd\nIdentityFile /%C\n"
        + "IdentityFile /%n-%k-%i-%l-%L-%h-%p-%r-%u-%d-%j-%%", host: "Web", user: "bob")
    let hash = Digest.sha1(Array("desk.example.netreal22bob".utf8))
      .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(
      config.identityFiles == [
        "/\(hash)", "/Web-prod-1001-desk.example.net-desk-real-22-bob-ann-/home/ann--%",
      ])
    #expect(try resolve("IdentityFile ~bob/%k").identityFiles == ["/home/bob/web"])
  }

  /// A Match block that is skipped may hold what must not be missed.
  @Test func aRestrictionInASkippedBlockIsTold() throws {
    let config = try resolve(
      "Match host web exec \"test -f /x\"\n  Port 2200\n  ProxyJump bastion\n  Include /more\n"
        + "Match host other exec true\n  ProxyJump bastion\nMatch version x\n  Ciphers y")
    #expect(config.port == 22)
    #expect(
      config.warnings == [
        "/c:1: Match exec is not supported; the block was skipped",
        "/c:3: ProxyJump was skipped with the Match block (/c:1)",
        "/c:4: Include was skipped with the Match block (/c:1)",
        "/c:7: Match version is not supported; the block was skipped",
        "/c:8: Ciphers was skipped with the Match block (/c:7)",
      ])
  }

  @Test func aSecondReadingRepeatsNoWarningAndNoIdentity() throws {
    let config = try resolve(
      "Match final host web\nIdentityFile /late\nHost *\nIdentityFile /a\nIdentityFile /b\n"
        + "ForwardX11 yes\nMatch exec true")
    #expect(config.identityFiles == ["/a", "/b", "/late"])
    #expect(config.warnings.count == 2)
  }

  /// A keyword whose effect is missed is a warning, once; as with the others, its first line
  /// decides.
  @Test func whatWouldChangeTheRunIsToldOnce() throws {
    let config = try resolve(
      "Compression yes\nCheckHostIP yes\nCheckHostIP yes\nForwardX11 no\nForwardX11 yes\n"
        + "Host web\n  Tunnel yes\nMatch exec x\nTunnel yes",
      options: ["RekeyLimit=1G"])
    #expect(
      config.warnings == [
        "-o RekeyLimit=1G: RekeyLimit is not supported and was ignored",
        "/c:2: CheckHostIP is not supported and was ignored",
        "/c:7: Tunnel is not supported and was ignored",
        "/c:8: Match exec is not supported; the block was skipped",
      ])
    #expect(config.notes.contains("/c:1: Compression has no effect here"))
  }

  /// For `-G`, from which programs take the name of a socket.
  @Test func whatHasNoEffectIsKeptAsItWasWritten() throws {
    let config = try resolve("IPQoS af21 cs1\nVisualHostKey", options: ["TunnelDevice=3:4"])
    #expect(config.unused.map(\.words) == [["3:4"], ["af21", "cs1"], []])
    #expect(try resolve("IdentityAgent ~").agentSocket == "/home/ann/")
  }

  /// As OpenSSH looks for it in known_hosts.
  @Test(arguments: [
    ("127.1", "127.0.0.1"), ("0x7f000001", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"),
    ("0:0:0:0:0:0:0:1", "::1"), ("2001:DB8::0001", "2001:db8::1"), ("fe80::1%lo", "fe80::1%lo"),
    ("1.2.3.4.5", "1.2.3.4.5"), ("web1", "web1"),
  ])
  func anAddressIsWrittenInOneWay(_ host: String, _ name: String) throws {
    #expect(try resolve("", host: host).hostName == name)
    #expect(try resolve("HostName \(host.replacing("%", with: "%%"))").hostName == name)
  }

  /// A variable that is not set forwards none, as with ssh.
  @Test(
    arguments: [
      ("", .none), ("ForwardAgent yes", .own), ("ForwardAgent no\nForwardAgent yes", .none),
      ("ForwardAgent $OTHER", .socket("/other")), ("ForwardAgent $UNSET", .none),
      ("ForwardAgent ${KEYS}/%u", .socket("/keys/ann")),
    ] as [(String, ClientConfig.ForwardedAgent)])
  func theForwardedAgentIsTheOneThatIsNamed(
    _ text: String, _ agent: ClientConfig.ForwardedAgent
  ) throws {
    #expect(try resolve(text).forwardedAgent == agent)
  }

  /// An ordinary file of a user.
  @Test func whatChangesNothingIsSilent() throws {
    let text = """
      IgnoreUnknown UseKeychain,AddKeys*
      Host *
        AddKeysToAgent yes
        UseKeychain yes
        Compression yes
        HashKnownHosts yes
        ControlMaster auto
        ControlPath ~/.ssh/%C
        ControlPersist 10m
        ForwardAgent no
        ForwardX11 no
        ForwardX11Trusted yes
        PermitLocalCommand no
        TCPKeepAlive yes
        EscapeChar ~
        RekeyLimit default none
        SessionType default
        BindAddress none
        CheckHostIP no
        PubkeyAcceptedKeyTypes +ssh-rsa
        RequiredRSASize 1024
        PermitRemoteOpen any
        VisualHostKey yes
        IPQoS lowdelay throughput
        UpdateHostKeys yes
        ChallengeResponseAuthentication yes
        Protocol 2
        ObscureKeystrokeTiming no
      """
    let config = try resolve(text)
    #expect(config.warnings.isEmpty, "\(config.warnings)")
    #expect(config.notes.contains("/c:4: UseKeychain was ignored"))
  }

  @Test(arguments: ["RefuseConnection closed"])
  func aRestrictionThatIsNotKeptEndsTheRun(_ line: String) throws {
    for text in [line, "Host web\n\(line)"] {
      do {
        _ = try resolve(text)
        Issue.record("\(line) is dropped")
      } catch {
        guard case .featureUnavailable(let feature) = error else { throw error }
        #expect(feature.contains("/c:") && feature.hasPrefix(line.prefix { $0 != " " }))
      }
      #expect(throws: Never.self) {
        try resolve("IgnoreUnknown \(line.prefix { $0 != " " })\n" + text)
      }
    }
    #expect(throws: Never.self) { try resolve("Host other\n\(line)") }
  }

  /// A list of which nothing is left would leave no key to offer.
  @Test(arguments: ["PubkeyAcceptedAlgorithms ssh-rsa", "PubkeyAcceptedKeyTypes -*"])
  func aListOfKeysThatLeavesNothingEndsTheRun(_ line: String) throws {
    do {
      _ = try resolve(line)
      Issue.record("\(line) is dropped")
    } catch {
      guard case .featureUnavailable(let feature) = error else { throw error }
      #expect(feature.hasPrefix(line) && feature.contains("/c:1"))
    }
  }

  @Test(arguments: [
    "PubkeyAcceptedAlgorithms +", "PubkeyAcceptedAlgorithms !ssh-ed25519", "RequiredRSASize many",
    "RSAMinSize -1",
  ])
  func aRuleOfKeysThatIsNoneEndsTheRun(_ line: String) {
    #expect(throws: AppError.self) { try resolve(line) }
  }

  /// The tag is that of an option or of a line above; the command and the kind of session are
  /// those of the command line.
  @Test(arguments: [
    ("Tag x\nMatch tagged x,y\nPort 2200", 2200), ("Match tagged x\nPort 2200", 22),
    ("Tag xy\nMatch tagged x?\nPort 2200", 2200), ("Tag x\nMatch tagged !x,*\nPort 2200", 22),
    ("Match tagged x\nPort 2200\nHost *\nTag x", 22), ("Match command sftp\nPort 2200", 22),
    ("Match command git-*\nPort 2200", 2200), ("Match sessiontype exec\nPort 2200", 2200),
    ("Match sessiontype shell,none\nPort 2200", 22),
    ("Match !sessiontype shell host web\nPort 2200", 2200),
  ])
  func aBlockMayAskForTheTagAndTheSession(_ text: String, _ port: Int) throws {
    #expect(try resolve(text, command: "git-upload-pack 'x'").port == port)
  }

  @Test func aLineAboutTheSessionIsReadWhole() throws {
    let config = try resolve(
      "RemoteCommand tmux -L '%n' \"a b\"\nLocalCommand echo %h\nPermitLocalCommand yes\n"
        + "EscapeChar ^B\nSessionType none\nStdinNull yes\nPermitRemoteOpen a:1 [::1]:* *:2")
    #expect(config.remoteCommand == "tmux -L 'web' \"a b\"")
    #expect(config.localCommand == "echo web")
    #expect(config.escape == .byte(2) && config.escape.text == "^B")
    #expect(config.sessionType == ClientConfig.SessionType.none && config.readsNothing)
    #expect(config.remoteTargets?.map(\.description) == ["a:1", "[::1]:*", "*:2"])
    #expect(config.permitsLocalCommand)
    #expect(try !resolve("LocalCommand x\nPermitLocalCommand no").permitsLocalCommand)
    #expect(try resolve("RemoteCommand none\nRemoteCommand x").remoteCommand == nil)
    #expect(try resolve("PermitRemoteOpen any").remoteTargets == nil)
    #expect(try resolve("PermitRemoteOpen none").remoteTargets == [])
  }

  @Test(arguments: [
    "EscapeChar ab", "SessionType shell", "StdinNull maybe", "PermitRemoteOpen host",
    "PermitRemoteOpen host:x", "PermitRemoteOpen any a:1", "PermitRemoteOpen :1", "RemoteCommand",
  ])
  func aWrongValueOfTheSessionIsRefused(_ line: String) {
    #expect(throws: AppError.self) { try resolve(line) }
  }

  /// As ssh does, also in the lines of another host.
  @Test(
    arguments: [
      ("StrictHostKeyCheking yes", "StrictHostKeyChecking"),
      ("Host other\nProxyJumpp a", "ProxyJump"),
      ("Match host other\nForwardAgnet yes", "ForwardAgent"), ("Bo\u{1b}gus \"x", nil),
      ("Match exec x\nCyphers y", "Ciphers"),
      ("Host other\nIgnoreUnknown Xy*\nHost web\nXyz 1", nil),
      ("IgnoreUnknown Foo\nIgnoreUnknown Xy*\nXyz 1", nil), ("UseKeychain yes", nil),
    ] as [(String, String?)])
  func aKeywordThatIsNoneEndsTheRun(_ text: String, _ near: String?) {
    do {
      _ = try resolve(text)
      Issue.record("\(text) is accepted")
    } catch {
      guard case .validationError(_, let message) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(message.contains("is not a keyword of ssh_config"))
      if let near { #expect(message.contains("Did you mean") && message.contains(near)) }
    }
  }

  @Test func ignoreUnknownHoldsForOptionsAndFiles() throws {
    #expect(try resolve("Bogus x", options: ["IgnoreUnknown=bog*"]).warnings.isEmpty)
    #expect(throws: AppError.self) { try resolve("", options: ["Bogus=1", "IgnoreUnknown=Bogus"]) }
    // What is known has its effect.
    #expect(try resolve("IgnoreUnknown Port\nPort 2200").port == 2200)
  }

  @Test func warningsAreBounded() throws {
    let text = (0..<5000).map { "Match version \($0)\n" }.joined()
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
      + "ConnectTimeout 1m30s\nMatch final !host=x,y user a*\nHostName %h\nProxyJump none\n"
      + "UserKnownHostsFile a b\nCiphers -aes*,x\nInclude [!a-z]*\nIdentityAgent $A\n"
    for bytes in Mutation.of(Array(text.utf8), count: 2000, seed: seed) {
      let text = String(decoding: bytes, as: UTF8.self)
      let config = try? resolve(text, more: ["/more": text])
      #expect((config?.warnings ?? []).allSatisfy { !$0.utf8.contains(0x1b) }, "seed \(seed)")
    }
  }

  func expectBad(_ text: String, more: [String: String] = [:], says: String) {
    let error = #expect(throws: AppError.self) { try resolve(text, more: more) }
    guard case .validationError("Include", let message) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(message.hasSuffix(says), "\(message)")
  }

  /// ssh_config(5) of OpenSSH 9.4: the networks that this machine is in.
  @Test(arguments: [
    ("10.0.0.0/8", 1), ("192.168.1.0/24", 22), ("192.168.1.0/24,10.1.2.3", 1), ("fd00::/8", 1),
    ("10.1.2.4", 22),
  ])
  func aBlockMayHoldInSomeNetworks(_ networks: String, _ port: Int) throws {
    var files = Self.files(["/c": "Match localnetwork \(networks)\n  Port 1\n"])
    files.addresses = { ["10.1.2.3", "fd00::7"].compactMap { NetworkAddress(numeric: $0) } }
    let query = ClientConfig.Query(host: "web", home: "/home/ann", localUser: "ann")
    #expect(try ClientConfig.resolve(query, sources: [.user("/c")], files: files).port == port)
    files.addresses = { [] }
    #expect(try ClientConfig.resolve(query, sources: [.user("/c")], files: files).port == 22)
  }
}
