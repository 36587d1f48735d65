import BridgeErrors
import BridgeFaults
import BridgeWaiting
import BridgeWebSocket
import Testing

@Suite("Delivery of messages", .timeLimit(.minutes(5)))
struct DeliveryTests {
  @Test("is confirmed by a ping that is behind all of them")
  func confirmed() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    try await connection.send(binary: [UInt8](repeating: 1, count: 8 << 20))
    let sending = Task {
      for index in 0..<20 { try await connection.send(text: "\(index)") }
      try await connection.confirmDelivery(within: .seconds(50))
    }
    try await sending.value
    let log = await peer.log
    let ping = try #require(log.firstIndex { if case .ping = $0.kind { true } else { false } })
    let last = try #require(log.firstIndex { $0.kind == .text("19") })
    #expect(last < ping)
    await connection.close()
    await peer.stop()
  }

  @Test("is not confirmed by a server that answers no ping, which ends nothing")
  func unconfirmed() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript(echoes: true, answersPings: false))
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    try await connection.send(text: "hello")
    await #expect(throws: AppError.webSocketPingTimeout) {
      try await connection.confirmDelivery(within: .milliseconds(50))
    }
    #expect(try await connection.messages.makeAsyncIterator().next() == .text("hello"))
    #expect(await connection.close(code: 1000) == 0)
    await #expect(throws: AppError.self) {
      try await connection.confirmDelivery(within: .seconds(50))
    }
    await peer.stop()
  }

  @Test("is not confirmed when the connection ends before")
  func ended() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript([.awaitMessages(1), .reset], answersPings: false))
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    try await connection.send(text: "hello")
    await #expect(throws: AppError.webSocketDisconnected(code: nil, reason: nil)) {
      try await connection.confirmDelivery(within: .seconds(50))
    }
    await peer.stop()
  }

  @Test("is given up by a close, which counts what was not written and fails senders that wait")
  func closed() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript([.stopReading], answersClose: false))
    var configuration = WebSocketConfiguration()
    configuration.timeouts.close = .milliseconds(100)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    let taken = Mutex(0)
    // More than the kernels of both sides take: the queue is full in the end.
    let chunk = [UInt8](repeating: 1, count: 1 << 20)
    let sender = Task {
      for _ in 0..<64 {
        try await connection.send(binary: chunk)
        taken.withLock { $0 += 1 }
      }
    }
    var seen = -1
    while seen < 1 || seen != taken.withLock({ $0 }) {
      seen = taken.withLock { $0 }
      _ = try? await connection.probe(within: .milliseconds(200))
    }
    let left = await connection.close(code: 1000)
    #expect(left >= 1)
    #expect(left <= taken.withLock { $0 })
    await #expect(
      throws: AppError.webSocketDisconnected(code: nil, reason: "The connection was closed here.")
    ) { try await sender.value }
    #expect(await connection.close(code: 1000) == left)
    await peer.stop()
  }
}
