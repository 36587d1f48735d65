import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSession
import BridgeStore
import BridgeSessionProtocol
import BridgeTestKit
import BridgeWebSocket
import Testing

/// The output of an agent on its way to an application.
@Suite(.timeLimit(.minutes(1))) struct OutboxLinesTests {
  private static let count = 200

  /// A session that prints numbered lines, and ends.
  private func session() -> DurableSession {
    let text = (0..<Self.count).map { "line \($0)\n" }.joined()
    return ScriptedHost { channel in
      channel.greet()
      channel.send(.output(offset: 0, stream: .standardOutput, bytes: Array(text.utf8)))
      channel.send(.ended(at: UInt64(text.utf8.count), .exited(status: 0)))
    }.session()
  }

  @Test func eachLineArrivesAndIsCommittedWhenItHas() async throws {
    // Two connections end among the lines, and prove what they can until then.
    let peer = try await ScriptedWebSocketPeer([
      WebSocketScript([.awaitMessages(30), .reset]), WebSocketScript([.awaitMessages(50), .reset]),
      WebSocketScript(),
    ])
    let outbox = MessageOutbox(proof: .pong, limit: 200)
    let url = try WebSocketEndpoint("ws://127.0.0.1:\(peer.port)/")
    let carrying = Task {
      while !Task.isCancelled {
        let connection = WebSocketConnection(to: url)
        guard (try? await connection.connect()) != nil else { continue }
        await outbox.carry(over: connection)
        await connection.close()
      }
    }
    let session = session()
    let lines = session.lines(commits: .whenCalled)
    try await outbox.deliver(lines) { line in line.text == "line 7" ? nil : line.text }
    #expect(
      await lines.point?.output.received == UInt64((await session.resumePoint)?.received ?? 0))
    var seen: [String] = []
    for event in await peer.log {
      guard case .text(let text) = event.kind, !seen.contains(text) else { continue }
      seen.append(text)
    }
    #expect(seen == (0..<Self.count).filter { $0 != 7 }.map { "line \($0)" })
    #expect(await outbox.undelivered.isEmpty)
    carrying.cancel()
    await carrying.value
    await session.detach()
    await peer.stop()
  }

  @Test func aClosedOutboxCommitsNothingThatHasNotArrived() async throws {
    let outbox = MessageOutbox(limit: 100)
    let session = session()
    let lines = session.lines(commits: .whenCalled)
    let delivering = Task { await failure { try await outbox.deliver(lines) { $0.text } } }
    try await eventually { await !outbox.undelivered.isEmpty }
    let left = await outbox.close()
    #expect(left.first?.text == "line 0" && left.first?.id == "\(ScriptedHost.id)-1-7")
    #expect(await delivering.value == .cancelled)
    #expect(await lines.point?.output.received == 0)
    await session.detach()
  }

  @Test func linesThatCommitByThemselvesAreRefused() async throws {
    let lines = session().lines()
    let error = await failure { try await MessageOutbox().deliver(lines) { $0.text } }
    #expect(
      error
        == .validationError(
          field: "lines", message: "Lines that an outbox delivers are committed by it."))
  }
}
