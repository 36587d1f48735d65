import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

@Suite("A real sshd of our own", .timeLimit(.minutes(5)))
struct SSHServerTests {
  @Test func refusesAKeyItWasToldToRevoke() async throws {
    let server = try await SSHServer()
    try await server.revokeIdentities()
    let refused = try await OpenSSHClient(server).run("true")
    #expect(refused.status == 255)
    #expect(refused.errors.contains("Permission denied (publickey)"))
    #expect(await server.log.contains("Failed publickey for \(server.user)"))

    try await server.authorizeIdentity()
    #expect(try await OpenSSHClient(server).run("true").status == 0)
    await server.stop()
  }

  @Test func aClientThatPinnedItsKeyNoticesTheSwap() async throws {
    let server = try await SSHServer()
    let folder = (server.identityFile as NSString).deletingLastPathComponent
    let pinned = "\(folder)/pinned"
    try await server.knownHosts.write(toFile: pinned, atomically: true, encoding: .utf8)
    #expect(try await OpenSSHClient(server, knownHosts: pinned).run("true").status == 0)

    try await server.swapHostKeys()
    let answer = try await OpenSSHClient(server, knownHosts: pinned).run("true")
    #expect(answer.status == 255)
    #expect(answer.errors.contains("REMOTE HOST IDENTIFICATION HAS CHANGED"))
    await server.stop()
  }

  @Test func holdsNoSocketOfOursOpen() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    let server = try await SSHServer()
    try await bench.proxy.inject(.reset)
    #expect(await client.receiveToEnd().end == .reset)
    await server.stop()
    try await bench.stop()
  }

  @Test func isGoneWhenStopped() async throws {
    let server = try await SSHServer()
    await server.stop()
    let answer = try await OpenSSHClient(server).run("true")
    #expect(answer.errors.contains("Connection refused"))
    let folder = (server.identityFile as NSString).deletingLastPathComponent
    #expect(!FileManager.default.fileExists(atPath: folder))
    await #expect(throws: FaultError.stopped) { try await server.restart() }
  }

  @Test func saysWhySshdWouldNotStart() async throws {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["NoSuchKeyword yes"]
    do {
      let server = try await SSHServer(configuration)
      await server.stop()
      Issue.record("sshd accepted an unknown keyword")
    } catch {
      guard case .notReady(_, let log) = error else { throw error }
      #expect(log.contains("NoSuchKeyword"))
    }
  }

  @Test func runsACommandAndReturnsItsStatus() async throws {
    let server = try await SSHServer()
    let answer = try await OpenSSHClient(server).run("echo out; echo err >&2; exit 7")
    #expect(answer.status == 7)
    #expect(answer.output == "out\n")
    await server.stop()
  }

  @Test func sessionsHaveAHomeOfTheirOwn() async throws {
    let server = try await SSHServer()
    let home = (server.identityFile as NSString).deletingLastPathComponent
    #expect(try await OpenSSHClient(server).run("echo $HOME").output == "\(home)\n")
    await server.stop()
  }

  @Test func comesBackOnTheSamePort() async throws {
    let server = try await SSHServer()
    await server.kill()
    #expect(try await OpenSSHClient(server).run("true").errors.contains("Connection refused"))
    try await server.restart()
    #expect(try await OpenSSHClient(server).run("true").status == 0)
    await server.stop()
  }

  @Test func endsALiveSessionButNotItself() async throws {
    let server = try await SSHServer()
    let marker = "\(server.identityFile).up"
    async let session = OpenSSHClient(server).run("touch \(marker); exec sleep 60")
    try await eventually { FileManager.default.fileExists(atPath: marker) }
    #expect(await server.sessionProcesses > 0)
    await server.killSessions()
    #expect(try await session.status == 255)
    #expect(try await OpenSSHClient(server).run("true").status == 0)
    await server.stop()
  }

  @Test func freezesWithItsSessionsAndThaws() async throws {
    let server = try await SSHServer()
    await server.freeze()
    let client = try await LoopbackClient(port: server.port)
    await server.thaw()
    #expect(await client.receive(4).bytes.prefix(4) == "SSH-".bytes[...])
    await client.close()
    await server.stop()
  }

  @Test func turnsAwayWhoIsTooMany() async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxStartups = "1:100:1"
    let server = try await SSHServer(configuration)
    let first = try await LoopbackClient(port: server.port)
    _ = await first.receive(4)
    let second = try await LoopbackClient(port: server.port)
    let turnedAway = await second.receiveToEnd().bytes
    // The second is what OpenSSH 9.8 and later say.
    let words = ["Exceeded MaxStartups\r\n", "Not allowed at this time\r\n"]
    #expect(words.contains { turnedAway == $0.bytes })
    await first.close()
    await server.stop()
  }

  @Test func obeysItsConfiguration() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "echo forced"
    configuration.banner = "mind the gap\n"
    configuration.hostKeys = [.ecdsa]
    let server = try await SSHServer(configuration)
    let answer = try await OpenSSHClient(server).run("echo chosen")
    #expect(answer.output == "forced\n")
    #expect(answer.errors.contains("mind the gap"))
    #expect(await server.knownHosts.contains("ecdsa-sha2-nistp256"))
    await server.stop()
  }

  @Test(arguments: ["true", "exit 3"])
  func withholdsTheExitStatusOfWhatRan(_ ending: String) async throws {
    var configuration = SSHServerConfiguration()
    configuration.withholdsExitStatus = true
    let server = try await SSHServer(configuration)
    let marker = "\(server.identityFile).ran"
    // ssh(1), EXIT STATUS: the status of the command, or 255 where there is none.
    #expect(try await OpenSSHClient(server).run("touch \(marker); \(ending)").status == 255)
    #expect(FileManager.default.fileExists(atPath: marker))
    await server.stop()
  }

  @Test(arguments: [true, false])
  func furtherIdentitiesAreAcceptedOnlyWhenAuthorized(isAuthorized: Bool) async throws {
    let server = try await SSHServer()
    let identity = try await server.makeIdentity(
      .ecdsa, name: "other", isAuthorized: isAuthorized)
    var client = OpenSSHClient(server)
    client.identityFile = identity
    #expect(try await client.run("true").status == (isAuthorized ? 0 : 255))
    await server.stop()
  }
}
