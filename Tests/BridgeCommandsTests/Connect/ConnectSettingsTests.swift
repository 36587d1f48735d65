import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSSH
import BridgeTransport
import Testing

@Suite struct ConnectSettingsTests {
  private func settings(
    _ arguments: [String], config: String? = nil, files: Set<String> = [],
    environment: [String: String] = [:]
  ) throws -> ConnectSettings {
    let request = try ConnectRequest(ConnectOptions.parse(arguments))
    return try ConnectSettings.resolve(
      request,
      in: ConnectSettings.Surroundings(
        home: "/home/me", user: "me", environment: environment,
        isReadable: { files.contains($0) },
        files: { _ in
          ClientConfig.Files(
            read: { (path) throws(AppError) -> String? in
              path == "/home/me/.ssh/config" ? config : nil
            }, names: { _ in [] })
        }))
  }

  @Test func defaults() throws {
    let settings = try settings(["h"])
    #expect(settings.endpoint.description == "h:22")
    #expect(settings.user == "me")
    #expect(settings.identities.isEmpty)
    #expect(settings.hostKeys == .standard(home: "/home/me"))
    #expect(settings.keepalive == .seconds(5))
    #expect(settings.verdict == .seconds(60))
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
    #expect(settings.verdict == .seconds(36))
    #expect(settings.terminal == .unwanted)
    #expect(settings.loudness == .quiet)
  }

  @Test func flagsOverruleTheFile() throws {
    let flags = [
      "-p", "1002", "-l", "flagged", "-i", "key", "--known-hosts", "kh", "--host-key", "strict",
      "-t", "-v", "--keepalive", "1s", "--verdict", "3s",
    ]
    var changed = Self.config.split(separator: "\n").filter { !$0.contains("ServerAlive") }
    changed.append("")
    let settings = try settings(flags + ["h"], config: changed.joined(separator: "\n"))
    #expect(settings.endpoint.port == 1002)
    #expect(settings.user == "flagged")
    #expect(settings.identities == [.keyFile("key")])
    #expect(settings.hostKeys.files == ["kh"])
    #expect(settings.hostKeys.unknown == .refuse)
    #expect(settings.terminal == .wanted)
    #expect(settings.loudness == .verbose)
    #expect(settings.keepalive == .seconds(1))
    #expect(settings.verdict == .seconds(3))
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
    #expect(settings.identities == [.keyFile("/o")])
    #expect(settings.hostKeys.unknown == .acceptNew)
    #expect(settings.terminal == .unwanted)
    #expect(settings.loudness == .quiet)
    #expect(settings.keepalive == .seconds(2))
  }

  @Test func whatHostSaysIsNotOverruled() throws {
    let settings = try settings(
      ["-o", "Port=1003", "-o", "User=optional", "typed@h:1004"], config: Self.config)
    #expect(settings.endpoint.port == 1004)
    #expect(settings.user == "typed")
  }

  @Test func withoutANamedKeyTheAgentComesFirst() throws {
    let files: Set = ["id_ed25519", "id_ecdsa", "id_rsa"]
    let settings = try settings(
      ["h"], files: Set(files.map { "/home/me/.ssh/\($0)" }),
      environment: ["SSH_AUTH_SOCK": "/agent"])
    #expect(
      settings.identities == [
        .agent(socketPath: "/agent"), .keyFile("/home/me/.ssh/id_ed25519"),
        .keyFile("/home/me/.ssh/id_ecdsa"),
      ])
    #expect(settings.warnings.isEmpty)
  }

  @Test func aLoneRSAKeyIsExplained() throws {
    let settings = try settings(["h"], files: ["/home/me/.ssh/id_rsa"])
    #expect(settings.identities.isEmpty)
    #expect(settings.warnings.count == 1)
    #expect(settings.warnings[0].contains("id_rsa"))
  }

  @Test func ignoredKeywordsWarnOnce() throws {
    let settings = try settings(["h"], config: "Host h\n  ForwardAgent yes\n")
    #expect(settings.warnings.count == 1)
  }

  @Test(arguments: ["ProxyJump=j", "ProxyCommand=c %h"])
  func proxiesAreRefused(_ option: String) {
    #expect {
      try settings(["-o", option, "h"])
    } throws: { ($0 as? CommandFailure)?.exitCode == 78 }
    #expect {
      let pair = option.split(separator: "=", maxSplits: 1)
      return try settings(["h"], config: "Host h\n  \(pair[0]) \(pair[1])\n")
    } throws: { ($0 as? CommandFailure)?.exitCode == 78 }
  }

  /// Who typed it is told so; who did not is told to look into the file.
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
