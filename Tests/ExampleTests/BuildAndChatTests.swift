import BridgeFaults
import Foundation
import Testing

@Suite struct BuildAndChatTests {
  /// The key is missing at first; the person chooses to reconnect, and the app's commands are run.
  @Test func aPersonMendsTheLinkAndTheCommandsOfTheAppAreRun() async throws {
    let server = try await SSHServer()
    let home = try Home(identity: server.identityFile, knownHosts: await server.knownHosts)
    defer { home.remove() }
    let app = try await ScriptedWebSocketPeer(
      WebSocketScript([
        .text("echo one"), .awaitMessages(1), .text("echo two"), .awaitMessages(1),
        .close(1000, "done"),
      ]))
    let run = try Example.run(
      "build-and-chat",
      [server.user, "127.0.0.1", "\(server.port)", "ws://127.0.0.1:\(app.port)/"],
      home: home.path)
    #expect(run.status == 0, "\(run.lines)")
    #expect(run.lines.first == "build: sshKeyInvalid", "\(run.lines)")
    let replies = await app.log.compactMap { event -> String? in
      if case .text(let text) = event.kind { text } else { nil }
    }
    #expect(replies == ["one\n", "two\n"])
    await app.stop()
    await server.stop()
  }
}
