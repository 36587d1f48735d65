import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket
import Testing

@Suite("Back-pressure", .timeLimit(.minutes(5)))
struct BackPressureTests {
  @Test("a peer that stops reading holds the sender back, and loses nothing when it goes on")
  func slowPeer() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript([.stopReading]))
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    // More than any kernel buffer takes (tcp_wmem, tcp_rmem) beside our own.
    let chunk = [UInt8](repeating: 1, count: 1 << 20)
    let sender = Task {
      for _ in 0..<64 { try await connection.send(binary: chunk) }
    }
    _ = try await peer.first { $0.kind == .scriptDone }
    _ = try? await connection.probe(within: .milliseconds(200))
    #expect(await connection.lastFailure == nil)
    sender.cancel()
    await #expect(throws: AppError.cancelled) { try await sender.value }
    await connection.close()
    await peer.stop()
  }

  @Test("probes that are over do not leave as a burst of pings when the peer reads again")
  func canceledProbes() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let proxy = try await FaultProxy(to: peer.port)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(proxy.port)/")
    try await connection.connect()
    try await proxy.inject(.freeze())
    let chunk = [UInt8](repeating: 1, count: 1 << 20)
    let sender = Task { for _ in 0..<64 { try await connection.send(binary: chunk) } }
    // The first ones may leave before the socket is full.
    var (unsent, seen) = (0, UInt64?.none)
    while unsent < 20 {
      let sent = await connection.traffic.acknowledged
      unsent = sent == seen ? unsent + 1 : 0
      seen = sent
      _ = try? await connection.probe(within: .milliseconds(50))
    }
    try await proxy.inject(.lift)
    try await sender.value
    _ = try await connection.probe(within: .seconds(50))
    let pings = await peer.log.count { if case .ping = $0.kind { true } else { false } }
    #expect(pings < 20, "\(pings)")
    await connection.close()
    await proxy.stop()
    await peer.stop()
  }

  @Test("a reader that is slow stops the server, and then gets everything in order")
  func slowReader() async throws {
    var script = WebSocketScript()
    script.steps = (0..<512).map { .binary([UInt8](repeating: UInt8($0 & 0xFF), count: 40_000)) }
    let peer = try await ScriptedWebSocketPeer(script)
    var configuration = WebSocketConfiguration()
    configuration.receiveBuffer = 128 << 10
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    // A round trip that is answered behind unread messages would never end: the socket is full.
    repeat {
      await #expect(throws: AppError.webSocketPingTimeout) {
        _ = try await connection.probe(within: .milliseconds(300))
      }
    } while await !connection.traffic.isPaused
    let iterator = connection.messages.makeAsyncIterator()
    for index in 0..<512 {
      let message = try await iterator.next()
      guard message == .binary([UInt8](repeating: UInt8(index & 0xFF), count: 40_000)) else {
        Issue.record("message \(index) is \(String(describing: message?.count)) bytes")
        break
      }
    }
    #expect(await !connection.traffic.isPaused)
    _ = try await connection.probe(within: .seconds(50))
    await connection.close()
    await peer.stop()
  }

  @Test("a reader on the reactor that always finds a message does not keep it from others")
  func greedyReader() async throws {
    var script = WebSocketScript()
    script.steps = (0..<4_000).map { .text("\($0)") } + [.close(1000)]
    let peer = try await ScriptedWebSocketPeer(script)
    let reactor = Reactor(name: "ws-greedy")
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/", on: reactor)
    try await connection.connect()
    // All of it fits into the mailbox and is there.
    for await event in connection.events where event == .closed { break }
    let readBefore = Mutex(0)
    let read = Mutex(0)
    try await withTaskExecutorPreference(reactor) {
      reactor.execute { readBefore.withLock { $0 = read.withLock { $0 } } }
      for try await _ in connection.messages { read.withLock { $0 += 1 } }
    }
    #expect(read.withLock { $0 } == 4_000)
    #expect(readBefore.withLock { $0 } < 1_000)
    await reactor.stop()
    await peer.stop()
  }

  @Test("what the server's kernel has acknowledged is counted, also after the end")
  func acknowledged() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    #expect(await connection.traffic == TrafficState())
    try await connection.connect()
    let before = await connection.traffic.acknowledged
    try await connection.send(binary: [UInt8](repeating: 1, count: 1 << 20))
    try await connection.confirmDelivery(within: .seconds(50))
    let after = await connection.traffic.acknowledged
    #expect(after >= before + 1 << 20)
    await connection.close()
    #expect(await connection.traffic.acknowledged >= after)
    await peer.stop()
  }

  @Test("a message over the cap ends the connection and says 1009", arguments: [false, true])
  func cap(inFragments: Bool) async throws {
    let step = inFragments ? WebSocketStep.endlessMessage() : .bigMessage(bytes: 200 << 20)
    let peer = try await ScriptedWebSocketPeer(WebSocketScript([step]))
    var configuration = WebSocketConfiguration()
    configuration.messageLimit = 1 << 20
    // A busy server may take more than the default second to read the close frame.
    configuration.timeouts.close = .seconds(600)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    let iterator = connection.messages.makeAsyncIterator()
    await #expect(
      throws: AppError.webSocketDisconnected(
        code: nil,
        reason: "A message of the server is longer than the 1048576 bytes that are taken here.")
    ) { try await iterator.next() }
    let told = try await peer.first { if case .close = $0.kind { true } else { false } }
    #expect(told.kind == .close(code: 1009, reason: ""))
    for await _ in connection.events {}
    await peer.stop()
  }

  @Test("a stream that is discarded does not fill up")
  func discarded() async throws {
    var script = WebSocketScript()
    script.steps = (0..<64).map { .binary([UInt8](repeating: UInt8($0), count: 40_000)) }
    let peer = try await ScriptedWebSocketPeer(script)
    var configuration = WebSocketConfiguration()
    configuration.receiveBuffer = 64 << 10
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    connection.messages.discard()
    _ = try await peer.first { $0.kind == .scriptDone }
    _ = try await connection.probe(within: .seconds(50))
    #expect(await !connection.traffic.isPaused)
    await connection.close()
    await peer.stop()
  }

  @Test("5,000 pings do no harm")
  func pings() async throws {
    var script = WebSocketScript(echoes: true)
    script.steps = (0..<5_000).map { .ping([UInt8($0 & 0xFF)]) }
    let peer = try await ScriptedWebSocketPeer(script)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    let iterator = connection.messages.makeAsyncIterator()
    try await connection.send(text: "still here")
    #expect(try await iterator.next() == .text("still here"))
    await connection.close()
    await peer.stop()
  }
}
