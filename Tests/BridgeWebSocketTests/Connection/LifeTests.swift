import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("The life of a WebSocket connection", .timeLimit(.minutes(5)))
struct LifeTests {
  @Test("it connects once")
  func once() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    await #expect(throws: AppError.self) { try await connection.send(text: "too early") }
    await #expect(throws: AppError.self) { _ = try await connection.probe(within: .seconds(1)) }
    try await connection.connect()
    await #expect(throws: AppError.self) { try await connection.connect() }
    await connection.close()
    await connection.close()
    await #expect(
      throws: AppError.webSocketDisconnected(code: nil, reason: "The connection was closed here.")
    ) { try await connection.send(text: "too late") }
    await peer.stop()
  }

  /// libwebsockets hangs up by itself on a peer whose pongs it has not read, 310 s after the last:
  /// its default is turned down to seconds here.
  @Test("a server that sends and answers no ping is not cut by the library")
  func unansweredPings() async throws {
    var script = WebSocketScript()
    script.answersPings = false
    script.steps = (0..<30).flatMap { [.text("\($0)"), .wait(.milliseconds(150))] }
    let peer = try await ScriptedWebSocketPeer(script)
    let reactor = Reactor(name: "ws-validity")
    reactor.execute { ValidityDefault.set(ping: 1, hangUp: 2, on: reactor) }
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/", on: reactor)
    try await connection.connect()
    let messages = connection.messages.makeAsyncIterator()
    for number in 0..<30 { #expect(try await messages.next() == .text("\(number)")) }
    await connection.close()
    await reactor.stop()
    await peer.stop()
  }

  @Test("closed before it was used, it is closed")
  func closeIdle() async throws {
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:1/")
    await connection.close()
    var events: [ConnectionEvent] = []
    for await event in connection.events { events.append(event) }
    #expect(events == [.closed])
    await #expect(throws: AppError.self) { try await connection.connect() }
  }

  @Test("a close while it connects ends the connect", arguments: [true, false])
  func closeWhileConnecting(byCancellation: Bool) async throws {
    let peer = try await ScriptedWebSocketPeer(.stalledHandshake)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    let connecting = Task { try await connection.connect() }
    _ = try await peer.first { if case .requested = $0.kind { true } else { false } }
    if byCancellation { connecting.cancel() } else { await connection.close() }
    await #expect(throws: AppError.cancelled) { try await connecting.value }
    for await _ in connection.events {}
    _ = try await peer.first { $0.kind == .closed }
    await peer.stop()
  }

  @Test(
    "a close at the first sign of a phase is not forgotten by the library",
    arguments: ["ws", "wss"], [ConnectionPhase.resolve, .dial, .upgrade])
  func closeInPhase(scheme: String, phase: ConnectionPhase) async throws {
    let peer = try await ScriptedTCPPeer([])
    let reactor = Reactor(name: "ws-phase")
    for _ in 0..<20 {
      let connection = try WebSocketConnection(
        to: "\(scheme)://127.0.0.1:\(peer.port)/", on: reactor)
      let connecting = Task { try await connection.connect() }
      // On the reactor the answer to the event comes in the turn of the event.
      await withTaskExecutorPreference(reactor) {
        for await event in connection.events where event == .entered(phase) {
          await connection.close()
        }
      }
      await #expect(throws: AppError.cancelled) { try await connecting.value }
    }
    await reactor.stop()
    await peer.stop()
  }

  @Test("a server that does not answer the close frame is dropped after the close timeout")
  func deafServer() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript(answersClose: false))
    var configuration = WebSocketConfiguration()
    configuration.timeouts.close = .milliseconds(100)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    await connection.close()
    for await _ in connection.events {}
    _ = try await peer.first { $0.kind == .closed }
    await peer.stop()
  }

  @Test("a server that left a ping unanswered gets a close frame, and its answer is not awaited")
  func silentServer() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript(answersPings: false, answersClose: false))
    var configuration = WebSocketConfiguration()
    configuration.timeouts.close = .seconds(600)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    await #expect(throws: AppError.webSocketPingTimeout) {
      _ = try await connection.probe(within: .milliseconds(50))
    }
    await connection.close()
    _ = try await peer.first { $0.kind == .close(code: 1000, reason: "") }
    _ = try await peer.first { $0.kind == .closed }
    await peer.stop()
  }

  @Test("a message is refused once the close handshake has begun")
  func sendWhileClosing() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript(answersClose: false))
    var configuration = WebSocketConfiguration()
    configuration.timeouts.close = .seconds(600)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    try await connection.send(text: "in time")
    let closing = Task { await connection.close() }
    _ = try await peer.first { $0.kind == .close(code: 1000, reason: "") }
    await #expect(
      throws: AppError.webSocketDisconnected(code: nil, reason: "The connection was closed here.")
    ) { try await connection.send(text: "too late") }
    await peer.send(.close(1000))
    await closing.value
    #expect(await peer.log.contains { $0.kind == .text("in time") })
    await peer.stop()
  }

  @Test("what was sent before the close frame arrives")
  func flush() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    var configuration = WebSocketConfiguration()
    // The default second may pass on a busy machine before the server has read it all.
    configuration.timeouts.close = .seconds(600)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    try await connection.connect()
    for index in 0..<200 { try await connection.send(text: "\(index)") }
    await connection.close()
    let texts = await peer.log.compactMap { event in
      if case .text(let text) = event.kind { text } else { nil }
    }
    #expect(texts == (0..<200).map(String.init))
    await peer.stop()
  }

  @Test("a ping is answered, or runs into its deadline; both leave the connection as it is")
  func probe() async throws {
    for answers in [true, false] {
      let peer = try await ScriptedWebSocketPeer(
        WebSocketScript(echoes: true, answersPings: answers))
      let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
      try await connection.connect()
      if answers {
        #expect(try await connection.probe(within: .seconds(50)) > .zero)
        #expect(await connection.lastHeard != nil)
      } else {
        await #expect(throws: AppError.webSocketPingTimeout) {
          _ = try await connection.probe(within: .milliseconds(50))
        }
      }
      let iterator = connection.messages.makeAsyncIterator()
      try await connection.send(text: "alive")
      #expect(try await iterator.next() == .text("alive"))
      await connection.close()
      await peer.stop()
    }
  }

  @Test("what is asked for while the loop is busy is all done: pings, a message, the close frame")
  func oneTurn() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let reactor = Reactor(name: "ws-turn")
    var configuration = WebSocketConfiguration()
    configuration.timeouts.close = .seconds(600)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration, on: reactor)
    try await connection.connect()
    try await withTaskExecutorPreference(reactor) {
      // On the reactor these three begin in one turn.
      async let first = connection.probe(within: .seconds(600))
      async let second = connection.probe(within: .seconds(600))
      try await connection.send(text: "last words")
      #expect(try await first > .zero)
      #expect(try await second > .zero)
      try await connection.send(text: "really")
      await connection.close()
    }
    let texts = await peer.log.compactMap { event in
      if case .text(let text) = event.kind { text } else { nil }
    }
    #expect(texts == ["last words", "really"])
    await reactor.stop()
    await peer.stop()
  }

  @Test("who waits for a message is told of a cancellation")
  func cancelReader() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    let reader = Task {
      let iterator = connection.messages.makeAsyncIterator()
      return try await iterator.next()
    }
    _ = try await connection.probe(within: .seconds(50))
    reader.cancel()
    await #expect(throws: AppError.cancelled) { try await reader.value }
    await connection.close()
    await peer.stop()
  }

  @Test("a subprotocol that was offered is chosen, headers arrive, and none can be smuggled in")
  func headers() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript(upgrade: .accept(subprotocol: "chat.v2")))
    var configuration = WebSocketConfiguration()
    configuration.subprotocols = ["chat.v3", "chat.v2"]
    configuration.headers = [.init("X-Trace", Secret("abc def"))]
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/room?x=1", configuration: configuration)
    try await connection.connect()
    #expect(await connection.subprotocol == "chat.v2")
    let event = try await peer.first { if case .requested = $0.kind { true } else { false } }
    guard case .requested(let request) = event.kind else { return }
    #expect(request.target == "/room?x=1")
    #expect(request.headers["x-trace"] == "abc def")
    #expect(request.headers["host"] == "127.0.0.1:\(peer.port)")
    #expect(request.headers["sec-websocket-protocol"] == "chat.v3, chat.v2")
    #expect(request.headers["sec-websocket-extensions"] == nil)
    #expect(request.headers["origin"] == nil)
    await connection.close()
    await peer.stop()
    for (name, value) in [("X", "a\r\nY: b"), ("Host", "x"), ("A b", "c"), ("", "c"), ("X", "\0")] {
      configuration.headers = [.init(name, Secret(value))]
      let bad = try WebSocketConnection(to: "ws://127.0.0.1:1/", configuration: configuration)
      let error = await #expect(throws: AppError.self) { try await bad.connect() }
      guard case .validationError = error else {
        Issue.record("\(name): \(String(describing: error))")
        continue
      }
    }
  }

  @Test("a reactor of its own can be stopped when its connections are closed")
  func stop() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let reactor = Reactor(name: "ws-stop")
    for _ in 0..<3 {
      let connection = try WebSocketConnection(
        to: "ws://127.0.0.1:\(peer.port)/", on: reactor)
      try await connection.connect()
      await connection.close()
    }
    await reactor.stop()
    await peer.stop()
  }

  @Test("the end of a reactor closes no descriptor that is not its own")
  func stopTouchesNoConnection() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    for _ in 0..<20 {
      let reactor = Reactor(name: "ws-stop")
      let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/", on: reactor)
      try await connection.connect()
      await connection.close()
      let taker = DescriptorTaker()
      await reactor.stop()
      #expect(taker.end() == 0)
    }
    await peer.stop()
  }
}
