import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSSH
import BridgeTransport
import Testing

@Suite struct ConnectSettingsTests {
  func settings(
    _ arguments: [String], config: String? = nil, system: String? = nil,
    files: Set<String> = [], environment: [String: String] = [:]
  ) throws -> ConnectSettings {
    let request = try ConnectRequest(ConnectOptions.parse(arguments))
    return try ConnectSettings.resolve(
      request,
      in: HostEnvironment(
        home: "/home/me", user: "me", userID: 1001, hostName: "desk", environment: environment,
        isThere: { files.contains($0) },
        files: ClientConfig.Files(
          read: { (path, isChecked) throws(AppError) -> String? in
            switch path {
            case "/home/me/.ssh/config": config
            case "/machine/ssh_config": system
            case "/revoked", "/named": ""
            default: nil
            }
          }, names: { _ in [] }), systemConfig: "/machine/ssh_config"))
  }

  @Test func defaults() throws {
    let settings = try settings(["h"])
    #expect(settings.endpoint.description == "h:22")
    #expect(settings.user == "me")
    #expect(settings.identities.isEmpty)
    #expect(settings.hostKeys == .standard(home: "/home/me"))
    #expect(settings.algorithms == .standard)
    #expect(settings.keepalive == .seconds(5))
    #expect(settings.deadAfter == .seconds(60))
    #expect(settings.attemptTimeout == nil)
    #expect(settings.warnings.isEmpty)
  }

  private static let config = """
    Host h
      HostName other.example
      Port 1001
      User configured
      IdentityFile ~/configured
      UserKnownHostsFile ~/kh
      StrictHostKeyChecking accept-new
      ConnectTimeout 7
      ServerAliveInterval 9
      ServerAliveCountMax 4
      RequestTTY no
      LogLevel QUIET
    """

  @Test func theTimeOfALoginIsSetForEachHost() throws {
    #expect(try settings(["h"]).timeouts.authenticate == .seconds(120))
    let settings = try settings(["--login-timeout", "5m", "-J", "gate", "h"])
    #expect(settings.timeouts.authenticate == .seconds(300))
    #expect(settings.jumps.map(\.timeouts.authenticate) == [.seconds(300)])
  }

  @Test func theFileIsHonoured() throws {
    let settings = try settings(["h"], config: Self.config)
    #expect(settings.endpoint.description == "other.example:1001")
    #expect(settings.user == "configured")
    #expect(settings.identities == [.keyFile("/home/me/configured")])
    #expect(
      settings.hostKeys.files
        == ["/home/me/kh", "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"])
    #expect(settings.hostKeys.unknown == .acceptNew)
    #expect(settings.timeouts.dial == .seconds(7))
    #expect(settings.keepalive == .seconds(9))
    #expect(settings.deadAfter == .seconds(36))
    #expect(settings.terminal == .unwanted)
    #expect(settings.loudness == .quiet)
  }

  @Test func flagsOverruleTheFile() throws {
    let flags = [
      "-p", "1002", "-l", "flagged", "-i", "key", "--known-hosts", "kh", "--host-key", "strict",
      "-t", "-v", "--keepalive", "1s", "--dead-after", "3s",
    ]
    var changed = Self.config.split(separator: "\n").filter { !$0.contains("ServerAlive") }
    changed.append("")
    let settings = try settings(flags + ["h"], config: changed.joined(separator: "\n"))
    #expect(settings.endpoint.port == 1002)
    #expect(settings.user == "flagged")
    #expect(settings.identities == [.keyFile("key"), .keyFile("/home/me/configured")])
    #expect(settings.hostKeys.files == ["kh"])
    #expect(settings.hostKeys.unknown == .refuse)
    #expect(settings.terminal == .wanted)
    #expect(settings.loudness == .verbose)
    #expect(settings.keepalive == .seconds(1))
    #expect(settings.deadAfter == .seconds(3))
  }

  @Test func optionsOverruleFlags() throws {
    let settings = try settings(
      [
        "-p", "1002", "-l", "flagged", "-i", "key", "--host-key", "strict", "-t", "-v",
        "--keepalive", "1s", "-o", "Port=1003", "-o", "User=optional", "-o", "IdentityFile=/o",
        "-o", "StrictHostKeyChecking=accept-new", "-o", "RequestTTY=no", "-o", "LogLevel=QUIET",
        "-o", "ServerAliveInterval=2", "h",
      ], config: Self.config)
    #expect(settings.endpoint.port == 1003)
    #expect(settings.user == "optional")
    #expect(
      settings.identities == [
        .keyFile("key"), .keyFile("/o"), .keyFile("/home/me/configured"),
      ])
    #expect(settings.hostKeys.unknown == .acceptNew)
    #expect(settings.terminal == .unwanted)
    #expect(settings.loudness == .quiet)
    #expect(settings.keepalive == .seconds(2))
  }

  @Test func pathsOfTypedForwardsAreExpanded() throws {
    let settings = try settings(["-L", "%d/%n.sock:web:80", "-D", "~/socks", "h"])
    #expect(settings.forwards.map(\.name) == ["-L /home/me/h.sock:web:80", "-D /home/me/socks"])
  }

  @Test func whatHostSaysIsNotOverruled() throws {
    let settings = try settings(
      ["-o", "Port=1003", "-o", "User=optional", "typed@h:1004"], config: Self.config)
    #expect(settings.endpoint.port == 1004)
    #expect(settings.user == "typed")
  }

  private static let usual = ["id_ed25519", "id_ecdsa", "id_rsa"].map { "/home/me/.ssh/\($0)" }
  private static let agent = ["SSH_AUTH_SOCK": "/agent"]

  @Test func withoutANamedKeyTheAgentComesFirst() throws {
    let settings = try settings(
      ["h"], files: Set(Self.usual), environment: Self.agent)
    #expect(
      settings.identities == [
        .agent(socketPath: "/agent", preferring: Self.usual, isLimited: false),
        .keyFile(Self.usual[0]), .keyFile(Self.usual[1]), .keyFile(Self.usual[2]),
      ])
    #expect(settings.warnings.isEmpty)
  }

  /// A named key may be one that only the agent can use, and its others come after it.
  @Test(arguments: [
    ["-i", "/a", "-i", "/b.pub"], ["-o", "IdentityFile=/a", "-o", "IdentityFile=/b.pub"],
  ])
  func aNamedKeyDoesNotSwitchTheAgentOff(arguments: [String]) throws {
    let settings = try settings(arguments + ["h"], environment: Self.agent)
    #expect(
      settings.identities == [
        .keyFile("/a"), .keyFile("/b.pub"),
        .agent(socketPath: "/agent", preferring: ["/a", "/b.pub"], isLimited: false),
      ])
  }

  @Test func identitiesOnlyLimitsTheAgentToTheFiles() throws {
    let config = "IdentitiesOnly yes"
    let named = try settings(["-i", "/a", "h"], config: config, environment: Self.agent)
    #expect(
      named.identities == [
        .keyFile("/a"), .agent(socketPath: "/agent", preferring: ["/a"], isLimited: true),
      ])
    let usual = try settings(
      ["h"], config: config, files: Set(Self.usual), environment: Self.agent)
    #expect(
      usual.identities.first
        == .agent(socketPath: "/agent", preferring: Self.usual, isLimited: true))
    #expect(try settings(["h"], config: config, environment: Self.agent).identities == [])
  }

  @Test func identityAgentAndPubkeyAuthenticationAreHonored() throws {
    let files: Set = [Self.usual[0]]
    #expect(
      try settings(
        ["-o", "IdentityAgent=none", "h"], files: files, environment: Self.agent
      ).identities == [.keyFile(Self.usual[0])])
    #expect(
      try settings(["h"], config: "IdentityAgent /x", files: files).identities.first
        == .agent(socketPath: "/x", preferring: Array(files), isLimited: false))
    for arguments in [["h"], ["-i", "/a", "h"]] {
      #expect(
        try settings(
          arguments, config: "PubkeyAuthentication no", files: files, environment: Self.agent
        ).identities == [])
    }
  }

  @Test func restrictionsOfKeysAndAlgorithmsReachTheConnection() throws {
    let settings = try settings(
      ["h"], config: "Ciphers aes256-ctr\nRevokedHostKeys /revoked\nGlobalKnownHostsFile /global")
    #expect(settings.algorithms[.cipherToServer] == ["aes256-ctr"])
    #expect(settings.hostKeys.revoked == "/revoked")
    #expect(
      settings.hostKeys.files == [
        "/home/me/.ssh/known_hosts", "/home/me/.ssh/known_hosts2", "/global",
      ])
  }

  /// New keys are written to the first file.
  @Test func withoutAKnownHostsFileOfTheUsersNothingIsWrittenToTheMachines() throws {
    let settings = try settings(["-o", "UserKnownHostsFile=none", "h"])
    #expect(settings.hostKeys.files.first == "/dev/null")
    #expect(settings.hostKeys.files.count == 3)
  }

  @Test func theMachinesFileIsReadAfterTheUsers() throws {
    let system = "User machine\nPort 2200\nProxyJump none"
    let both = try settings(["h"], config: "User mine", system: system)
    #expect(both.user == "mine" && both.endpoint.port == 2200)
    for named in ["none", "/named"] {
      #expect(try settings(["-F", named, "h"], system: system).endpoint.port == 22)
    }
    #expect {
      try settings(["h"], system: "ProxyJump bastion")
    } throws: { ($0 as? CommandFailure)?.exitCode == 78 }
  }

  /// Each would go on with less than was asked for.
  @Test(arguments: [
    "Ciphers 3des-ctr", "MACs umac-64@openssh.com", "KexAlgorithms x",
    "HostKeyAlgorithms ssh-ed25519-cert-v01@openssh.com", "RevokedHostKeys /absent",
  ])
  func aRestrictionThatCannotBeKeptEndsWithTheConfigurationsExitCode(line: String) {
    #expect {
      try settings(["h"], config: line)
    } throws: { error in
      guard let failure = error as? CommandFailure else { return false }
      let text = "\(failure.error)"
      return failure.exitCode == 78 && text.contains(String(line.prefix { $0 != " " }))
        && text.contains("/home/me/.ssh/config:1")
    }
  }

  @Test func aLoneRSAKeyIsOffered() throws {
    let settings = try settings(["h"], files: ["/home/me/.ssh/id_rsa"])
    #expect(settings.identities == [.keyFile("/home/me/.ssh/id_rsa")])
    #expect(settings.warnings.isEmpty)
  }

  /// As `ssh -G` has it: the tokens are those of the host that all of it leads to.
  @Test func theTokensOfAnOptionAreThoseOfTheHostThatIsReached() throws {
    let settings = try settings(
      ["-o", "UserKnownHostsFile=/x/%h-%p-%k", "h"],
      config: "Host h\n  HostName real\n  Port 2200\n  HostKeyAlias al\n")
    #expect(settings.hostKeys.files.first == "/x/real-2200-al")
  }

  @Test func clearAllForwardingsClearsTypedOnesToo() throws {
    let typed = ["-L", "1:a:2", "-R", "3:b:4", "-D", "5", "h"]
    #expect(try settings(typed, config: "LocalForward 6 c:7").forwards.count == 4)
    let cleared = ["-o", "ClearAllForwardings=yes"] + typed
    #expect(try settings(cleared, config: "LocalForward 6 c:7").forwards.isEmpty)
    #expect(try settings(typed, config: "ClearAllForwardings yes").forwards.isEmpty)
  }

  @Test func aKeyFileThatWasTypedAndIsNotThereIsAWarning() throws {
    #expect(try settings(["-i", "/there", "h"], files: ["/there"]).warnings.isEmpty)
    let warnings = try settings(["-i", "/gone", "h"]).warnings
    #expect(warnings == ["the key file /gone of -i cannot be found"])
  }

  @Test(
    arguments: [
      ("LogLevel QUIET", .quiet), ("LogLevel FATAL", .quiet), ("LogLevel ERROR", .errors),
      ("LogLevel INFO", .normal), ("LogLevel VERBOSE", .verbose), ("LogLevel DEBUG3", .verbose),
    ] as [(String, ConnectRequest.Loudness)])
  func theLogLevelSaysHowMuchIsSaid(_ line: String, _ loudness: ConnectRequest.Loudness) throws {
    #expect(try settings(["h"], config: line).loudness == loudness)
  }

  @Test func ignoredKeywordsWarnOnce() throws {
    let settings = try settings(["h"], config: "Host h\n  CheckHostIP yes\n")
    #expect(settings.warnings.count == 1)
  }

  private static let bastions = """
    Host h
      ProxyJump b
      Port 1
    Host b
      HostName b.example
      User bee
      Port 2
      IdentityFile ~/bee
      UserKnownHostsFile ~/kb
      ProxyJump a
    Host a
      HostKeyAlias alias-of-a
    Host circle*
      ProxyJump circle2
    Host circle
      ProxyJump circle2
    Host self
      ProxyJump self
    Host none
      ProxyJump none
    """

  @Test func everyHopHasItsOwnPartOfTheFile() throws {
    let settings = try settings(
      ["-i", "key", "-p", "7", "-l", "typed", "h"], config: Self.bastions)
    #expect(settings.endpoint.description == "h:7")
    #expect(settings.jumps.map(\.endpoint.description) == ["a:22", "b.example:2"])
    #expect(settings.jumps.map(\.user) == ["me", "bee"])
    #expect(settings.jumps[1].identities == [.keyFile("/home/me/bee")])
    #expect(settings.jumps[1].hostKeys.files.first == "/home/me/kb")
    #expect(settings.jumps[0].identities.isEmpty)
    #expect(settings.jumps[0].hostKeys.alias == "alias-of-a")
    #expect(settings.jumps.allSatisfy { $0.jumps.isEmpty })
  }

  @Test func typedHopsDecide() throws {
    let settings = try settings(
      ["-J", "x@one:3,[::1]:4", "--known-hosts", "/k", "h"], config: Self.bastions)
    #expect(settings.jumps.map(\.endpoint.description) == ["one:3", "[::1]:4"])
    #expect(settings.jumps.map(\.user) == ["x", "me"])
    #expect(settings.jumps.allSatisfy { $0.hostKeys.files == ["/k"] })
    #expect(try self.settings(["-J", "none", "h"], config: Self.bastions).jumps.isEmpty)
    #expect(try self.settings(["none"], config: Self.bastions).jumps.isEmpty)
  }

  /// As with ssh: a bastion that is asked for is not left out.
  @Test func typedHopsAndAProxyCommandExcludeEachOther() throws {
    let command = ["-o", "ProxyCommand=nc %h %p"]
    #expect {
      try settings(["-J", "one"] + command + ["h"])
    } throws: { error in
      (error as? CommandFailure)?.error
        == .validationError(
          field: "-J", message: "It cannot be given together with a ProxyCommand.")
    }
    let jumps = try settings(["-J", "one", "-o", "ProxyCommand=none", "h"]).jumps
    #expect(jumps.map(\.endpoint.description) == ["one:22"])
    let none = try settings(["-J", "none"] + command + ["h"])
    #expect(none.jumps.isEmpty && none.proxyCommand == "nc h 22")
  }

  /// Of several hops only the first one's own configuration says how it is reached.
  @Test func laterHopsAreReachedThroughTheOnesBefore() throws {
    let settings = try settings(["-J", "b,none", "other"], config: Self.bastions)
    #expect(settings.jumps.map(\.endpoint.description) == ["a:22", "b.example:2", "none:22"])
    let behind = try self.settings(["-J", "none,b", "other"], config: Self.bastions)
    #expect(behind.jumps.map(\.endpoint.description) == ["none:22", "b.example:2"])
  }

  @Test(arguments: [
    (["self"], "me@self:22, me@self:22"),
    (["circle"], "me@circle:22, me@circle2:22, me@circle2:22"),
    (["-J", "a,other,a", "h"], "me@a:22, me@other:22, me@a:22, me@h:1"),
    (["-J", "me@h:1", "h"], "me@h:1, me@h:1"),
  ])
  func aWayInACircleIsRefused(_ arguments: [String], way: String) {
    #expect {
      try settings(arguments, config: Self.bastions)
    } throws: { error in
      let failure = error as? CommandFailure
      return failure?.exitCode == 78
        && failure?.error
          == .validationError(
            field: "ProxyJump", message: "The chain of jump hosts is circular: \(way).")
    }
  }

  /// Behind the hop, for instance in another private network, it is another machine.
  @Test func aHostMayHaveTheAddressOfItsHop() throws {
    let config = "Host bastion inner\n  HostName 10.0.0.1\nHost inner\n  ProxyJump bastion\n"
    let settings = try settings(["inner"], config: config)
    #expect(settings.jumps.map(\.endpoint.description) == ["10.0.0.1:22"])
    #expect(settings.endpoint.description == "10.0.0.1:22")
  }

  @Test func aWayThatIsTooLongIsRefused() {
    let config = (0..<40).map { "Host h\($0)\n  ProxyJump h\($0 + 1)\n" }.joined()
    #expect {
      try settings(["h0"], config: config)
    } throws: { ($0 as? CommandFailure)?.exitCode == 78 }
  }

  @Test func whatIsNotThereIsRefusedByName() {
    #expect(throws: AppError.featureUnavailable(feature: "-C (compression)")) {
      try ConnectRequest(ConnectOptions.parse(["-C", "h"]))
    }
  }

  /// What was typed decides; without an agent here there is none to forward.
  @Test(
    arguments: [
      ([], "ForwardAgent yes", "/agent"), (["-A"], "", "/agent"), (["-a"], "ForwardAgent yes", nil),
      (["-A"], "ForwardAgent /other", "/agent"), ([], "ForwardAgent /other", "/other"),
      (["-a", "-A"], "", "/agent"), (["-A", "-a"], "", nil), (["-A"], "IdentityAgent none", nil),
      (["-A"], "IdentityAgent /mine", "/mine"), ([], "", nil),
    ] as [([String], String, String?)])
  func theAgentIsForwardedWhereThatIsWanted(
    _ options: [String], _ line: String, _ socket: String?
  ) throws {
    let settings = try settings(options + ["h"], config: line, environment: Self.agent)
    #expect(settings.forwardedAgent == socket)
  }

  /// A typed value is named as such; a value from a file is named with its file.
  @Test(arguments: ["Port=x", "ConnectTimeout=-1", "User=\"me", "IdentityFile=${NONE}"])
  func aBadValueIsTheFaultOfWhereItStands(_ option: String) {
    #expect {
      try settings(["-o", option, "h"])
    } throws: { ($0 as? CommandFailure)?.exitCode == 64 }
    #expect {
      let pair = option.split(separator: "=", maxSplits: 1)
      return try settings(["-o", "Port=3", "h"], config: "Host h\n  \(pair[0]) \(pair[1])\n")
    } throws: { ($0 as? CommandFailure)?.exitCode == 78 }
  }

  @Test func aNamedFileMustExist() {
    #expect {
      try settings(["-F", "/missing", "h"])
    } throws: { ($0 as? CommandFailure)?.exitCode == 66 }
  }

  @Test func noneReadsNoFile() throws {
    #expect(try settings(["-F", "none", "h"], config: Self.config).endpoint.host == "h")
  }
}
