import BridgeFaults
import Foundation
import Testing

/// `bridgectl connect ws://…` and the end of its input: exit status 0 only for messages that are
/// known to have arrived.
@Suite(.timeLimit(.minutes(5))) struct MessageDeliveryTests {
  private func run(
    _ script: WebSocketScript, _ options: [String] = [], lines: [String]
  ) async throws -> Outcome {
    let peer = try await ScriptedWebSocketPeer(script)
    let input = lines.map { $0 + "\n" }.joined()
    let outcome = try await Home().run(
      ["connect"] + options + ["ws://127.0.0.1:\(peer.port)/"], input: Array(input.utf8))
    await peer.stop()
    return outcome
  }

  @Test("a long line is delivered whole over a slow link before the program ends")
  func slowLink() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let proxy = try await FaultProxy(to: peer.port)
    try await proxy.inject(.bandwidth(3_000_000, [.toServer]), on: .next)
    let line = String(repeating: "x", count: 15 << 20)
    let outcome = try await Home().run(
      ["connect", "ws://127.0.0.1:\(proxy.port)/"], input: Array(line.utf8))
    #expect(outcome.code == 0, "\(outcome.error)")
    let lengths = await peer.log.compactMap { event in
      if case .text(let text) = event.kind { text.utf8.count } else { nil }
    }
    #expect(lengths == [15 << 20])
    await proxy.stop()
    await peer.stop()
  }

  @Test("a server that closes with 1000 in the middle of the input: a warning, and exit status 74")
  func closedInTheMiddle() async throws {
    let script = WebSocketScript([.awaitMessages(3), .close(1000)], answersPings: false)
    let outcome = try await run(script, lines: (0..<200).map { "message \($0)" })
    #expect(outcome.code == 74, "\(outcome.error)")
    #expect(outcome.error.contains("bridgectl: warning: "))
    #expect(outcome.lastLine.hasPrefix("bridgectl: [webSocketDisconnected] "), "\(outcome.error)")
    #expect(outcome.lastLine.contains("messages"))
  }

  @Test("a server that closes with 1000 before it took anything: exit status 74")
  func closedBeforeTheInput() async throws {
    let outcome = try await run(.closing(1000), lines: ["one", "two"])
    #expect(outcome.code == 74, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [webSocketDisconnected] "), "\(outcome.error)")
  }

  /// It has nothing left to send, and each link ends before an answer could come.
  @Test("a server that closes every connection with an error ends a run whose input has ended")
  func closedAgainAndAgain() async throws {
    let outcome = try await run(.closing(1011), lines: ["one"])
    #expect(outcome.code == 74, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [webSocketDisconnected] "), "\(outcome.error)")
  }

  @Test("a server that replies to each message and closes with 1000 has taken them")
  func answeredAndClosed() async throws {
    let script = WebSocketScript(
      [.awaitMessages(2), .text("first"), .text("second"), .close(1000)], answersPings: false)
    let outcome = try await run(script, lines: ["one", "two"])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.text == "first\nsecond\n")
    #expect(outcome.error.isEmpty)
  }

  @Test(
    "a server that takes messages and closes with any code, without proof: exit status 74",
    arguments: [1001, 1008, 1011, 4000])
  func closedInDoubt(code: UInt16) async throws {
    let script = WebSocketScript([.awaitMessages(1), .close(code)], answersPings: false)
    let outcome = try await run(script, ["--no-reconnect"], lines: ["one"])
    #expect(outcome.code == 74, "\(outcome.error)")
    #expect(outcome.error.contains("may not have arrived"))
    #expect(!outcome.error.contains("changed network"), "the server ended it")
  }

  @Test("a link that is lost with messages under way, and not dialed again: exit status 74")
  func lost() async throws {
    let script = WebSocketScript([.awaitMessages(3), .reset], answersPings: false)
    let outcome = try await run(script, ["--no-reconnect"], lines: ["one", "two", "three"])
    #expect(outcome.code == 74, "\(outcome.error)")
    #expect(outcome.error.contains("3 messages"))
  }
}
