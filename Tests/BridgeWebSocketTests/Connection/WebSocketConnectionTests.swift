import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("A WebSocket connection", .timeLimit(.minutes(5)))
struct WebSocketConnectionTests {
  @Test("carries messages both ways, as they are")
  func echo() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/chat?space=1")
    try await connection.connect()
    let iterator = connection.messages.makeAsyncIterator()
    let sent: [WebSocketMessage] = [
      .text("hello"), .text(""), .text("héllo 🌍"), .binary([]), .binary([0, 255, 128]),
      .binary([UInt8](repeating: 7, count: 300_000)),
    ]
    for message in sent {
      try await connection.send(message)
      #expect(try await iterator.next() == message)
    }
    await connection.close(code: 1000, reason: "done")
    #expect(try await iterator.next() == nil)
    #expect(await connection.lastFailure == nil)
    var events: [ConnectionEvent] = []
    for await event in connection.events { events.append(event) }
    #expect(
      events == [
        .entered(.resolve), .entered(.dial), .entered(.upgrade), .connected, .closed,
      ])
    let seen = try await peer.first { if case .close = $0.kind { true } else { false } }
    #expect(seen.kind == .close(code: 1000, reason: "done"))
    await peer.stop()
  }
}
