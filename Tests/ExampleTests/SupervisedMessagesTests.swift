import BridgeFaults
import Testing

@Suite struct SupervisedMessagesTests {
  @Test func messagesGoOnOverTheNextConnection() async throws {
    let peer = try await ScriptedWebSocketPeer([
      WebSocketScript([.awaitMessages(1), .text("one"), .finish]),
      WebSocketScript([.awaitMessages(1), .text("two"), .close(1000, "done")]),
    ])
    let run = try Example.run("supervised-messages", ["ws://127.0.0.1:\(peer.port)/", "hello"])
    #expect(run.status == 0, "\(run.lines)")
    #expect(run.lines.filter { $0.hasPrefix("\"") } == ["\"one\"", "\"two\""])
    #expect(run.lines.contains("back, attempt 1"), "\(run.lines)")
    let greetings = await peer.log.filter { $0.kind == .text("hello") }.map(\.connection)
    #expect(greetings == [1, 2])
    await peer.stop()
  }

  @Test(arguments: [
    (WebSocketScript.refusing(401), "apiUnauthorized: "),
    (.refusing(302), "webSocketConnectionFailed: "),
  ])
  func anErrorWithoutARetryEndsIt(_ script: WebSocketScript, _ line: String) async throws {
    let peer = try await ScriptedWebSocketPeer(script)
    let run = try Example.run("supervised-messages", ["ws://127.0.0.1:\(peer.port)/", "hello"])
    #expect(run.status == 1)
    #expect(run.lines.contains { $0.hasPrefix(line) }, "\(run.lines)")
    await peer.stop()
  }

  @Test func anAddressThatIsNoneIsRefused() throws {
    let run = try Example.run("supervised-messages", ["http://127.0.0.1/", "hello"])
    #expect(run.status == 1)
    #expect(run.lines.first?.hasPrefix("invalidURL: ") == true, "\(run.lines)")
  }
}
