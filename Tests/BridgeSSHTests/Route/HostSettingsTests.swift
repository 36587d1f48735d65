import BridgeErrors
import BridgeSSH
import BridgeTransport
import Testing

/// A host that a program names; what a command line changes of it: ConnectSettingsTests.
@Suite struct HostSettingsTests {
  private func settings(
    _ name: String, _ config: String, _ change: (inout HostRequest) -> Void = { _ in }
  ) throws -> HostSettings {
    var request = try HostRequest(named: name)
    change(&request)
    return try HostSettings.resolve(
      request,
      in: HostEnvironment(
        home: "/home/me", user: "me", userID: 1001, hostName: "desk",
        environment: ["SSH_AUTH_SOCK": "/agent"], isThere: { _ in false },
        files: ClientConfig.Files(
          read: { (path, _) throws(AppError) -> String? in
            ["/home/me/.ssh/config": config, "/other": "Host build\n  Port 7\n"][path]
          }, names: { _ in [] })))
  }

  @Test(arguments: ["", "-oProxyCommand=x", "a b", "@h", "-x@h", "h:0", "h:http", "[::1]x"])
  func aNameThatNoHostCanHaveIsRefused(_ name: String) {
    #expect(throws: AppError.self) { _ = try HostRequest(named: name) }
  }

  @Test func whatStandsInTheNameIsNotOverruled() throws {
    let config = "Host build\n  HostName 10.0.0.7\n  Port 2200\n  User builder\n"
    let plain = try settings("build", config)
    #expect(plain.endpoint.description == "10.0.0.7:2200" && plain.user == "builder")
    for name in ["root@build:22", "ssh://root@build:22/"] {
      let settings = try settings(name, config) { $0.options = ["Port=1", "User=x"] }
      #expect(settings.endpoint.description == "10.0.0.7:22" && settings.user == "root")
      #expect(settings.givenHost == "build")
    }
  }

  @Test func theFileThatIsNamedIsTheOnlyOne() throws {
    let config = "Host build\n  User builder\n"
    let other = try settings("build", config) { $0.files = .file("/other") }
    #expect(other.endpoint.port == 7 && other.user == "me")
    let none = try settings("build", config) { $0.files = .nothing }
    #expect(none.endpoint.port == 22 && none.user == "me")
    #expect {
      try settings("build", config) { $0.files = .file("/missing") }
    } throws: { ($0 as? ConfigFailure)?.error == .fileNotFound(path: "/missing") }
  }

  @Test func aFaultIsReportedWithFileAndLine() {
    #expect {
      try settings("build", "Host build\n  Port http\n")
    } throws: { error in
      let failure = error as? ConfigFailure
      return failure?.isInFile == true
        && failure?.error.shownMessage().contains("(/home/me/.ssh/config:2)") == true
    }
  }

  /// What the caller brings holds where the files are silent.
  @Test func theFilesDecideHowSilenceIsEvaluated() throws {
    func times(_ config: String) throws -> [Duration] {
      let settings = try settings("build", config) {
        ($0.usualKeepalive, $0.usualDeadAfter) = (.seconds(3), .seconds(20))
      }
      return [settings.keepalive, settings.deadAfter]
    }
    #expect(try times("") == [.seconds(3), .seconds(20)])
    #expect(try times("ServerAliveInterval 9\n") == [.seconds(9), .seconds(20)])
    #expect(
      try times("ServerAliveInterval 9\nServerAliveCountMax 2\n") == [.seconds(9), .seconds(18)])
    #expect(try times("ServerAliveInterval 0\n")[0] == .zero)
  }

  @Test func eachHopIsAHostOfItsOwn() throws {
    let config = """
      Host build
        ProxyJump gate,ann@inner:2
        User builder
      Host gate
        ServerAliveInterval 9
        IdentityFile ~/gate
      """
    let settings = try settings("root@build", config) { $0.options = ["IdentityFile=/own"] }
    #expect(settings.jumps.map(\.givenHost) == ["gate", "inner"])
    #expect(settings.jumps.map(\.user) == ["me", "ann"])
    #expect(settings.jumps.map(\.keepalive) == [.seconds(9), .seconds(5)])
    #expect(settings.jumps[0].identities.contains(.keyFile("/home/me/gate")))
    #expect(!settings.jumps.flatMap(\.identities).contains(.keyFile("/own")))
  }

  @Test(arguments: [
    "DynamicForward 1080", "EscapeChar ^x", "ForwardAgent yes", "LocalCommand true",
    "LocalForward 1 h:1", "LogLevel DEBUG", "PermitLocalCommand yes", "RemoteCommand top",
    "RemoteForward 1 h:1", "RequestTTY yes", "SendEnv LANG", "SessionType subsystem", "SetEnv A=1",
    "StdinNull yes", "StreamLocalBindUnlink yes", "GatewayPorts yes", "ExitOnForwardFailure yes",
    "PermitRemoteOpen h:1", "ClearAllForwardings yes",
  ])
  func whatAProgramDecidesIsReported(_ line: String) throws {
    let keyword = line.prefix { $0 != " " }
    #expect(
      try settings("build", "Host build\n  \(line)\n").withoutEffect
        == ["/home/me/.ssh/config:2: \(keyword) has no effect on the links of a program"])
  }

  @Test(arguments: [
    "ForwardAgent no", "RemoteCommand none", "LocalCommand none", "RequestTTY no", "Port 2200",
    "PermitRemoteOpen any", "SessionType default", "IdentityFile ~/key", "ProxyCommand nc %h %p",
    "ControlMaster auto", "ControlPath ~/.ssh/%C",
  ])
  func whatIsDoneAsWrittenIsNot(_ line: String) throws {
    #expect(try settings("build", line).withoutEffect.isEmpty)
  }

  /// A keyword that is added is obeyed by the links of a program, or reported, or of no matter.
  @Test func everyKeywordIsOneOrTheOther() throws {
    let obeyed: Set = [
      "AddressFamily", "BatchMode", "BindAddress", "BindInterface", "CertificateFile", "Ciphers",
      "ConnectTimeout", "GlobalKnownHostsFile", "HashKnownHosts", "HostKeyAlgorithms",
      "HostKeyAlias", "HostName", "IdentitiesOnly", "IdentityAgent", "IdentityFile",
      "KbdInteractiveAuthentication", "KexAlgorithms", "KnownHostsCommand", "MACs",
      "NumberOfPasswordPrompts", "PasswordAuthentication", "Port", "PreferredAuthentications",
      "ProxyCommand", "ProxyJump", "PubkeyAcceptedAlgorithms", "PubkeyAuthentication",
      "RequiredRSASize", "RevokedHostKeys", "ServerAliveCountMax", "ServerAliveInterval",
      "StrictHostKeyChecking", "Tag", "User", "UserKnownHostsFile",
    ]
    let names = Set(ConfigKeyword.table.map(\.name))
    let others = HostSettings.ofARun.union(HostSettings.ofSharing)
    #expect(obeyed.intersection(others).isEmpty)
    #expect(obeyed.union(others) == names)
  }
}
