public import BridgeErrors
public import BridgeReactor
public import BridgeTransport
import BridgeWaiting

/// One WebSocket connection: dialed once, upgraded once, carrying messages until it ends.
///
/// It is pinned to a reactor, where libwebsockets runs on the same loop. Messages go through
/// two locked queues and not through the actor, so that neither side hops for each of them. It
/// reports what ends it and never retries.
public actor WebSocketConnection: Connection {
  /// The remote endpoint.
  public nonisolated let url: WebSocketEndpoint
  /// The configuration of the connection.
  public nonisolated let configuration: WebSocketConfiguration
  /// Steps of this connection, oldest first; ends with `.closed`. One reader.
  public nonisolated let events: AsyncStream<ConnectionEvent>
  /// The failure that ended the connection; nil while it has not ended.
  public internal(set) var lastFailure: FailureContext?
  /// The subprotocol the server chose; nil where it chose none.
  public internal(set) var subprotocol: String?

  nonisolated let reactor: Reactor
  nonisolated let route: Route
  nonisolated let mailbox: MessageMailbox
  nonisolated let sendQueue: SendQueue
  nonisolated let reference: NativeWebSocketReference

  var life = ConnectionLife()
  var phase = ConnectionPhase.resolve
  var webSocket: NativeWebSocket?
  var callers = CallerTable<WebSocketFailure>()
  /// The address that libwebsockets dials, or dialed last.
  var dialed: NetworkAddress?
  /// The caller that waits for the end of the dial.
  var dialer: Int?
  var answerDial: (@Sendable () -> Void)?
  /// Whether what fails is the proxy, or the way to it.
  var isAtProxy = false
  /// The socket of another source that is being made.
  var making: Task<Void, Never>?
  /// The request for a tunnel that is under way.
  var handshake: ProxyHandshake?
  var probes = ProbeTable()
  var ending: WebSocketFailure?
  /// The code of the close handshake that this side began.
  var isClosing = false
  /// When the last ping was sent that had no answer in time.
  var unanswered: ContinuousClock.Instant?
  var whenReleased: [() -> Void] = []
  /// Messages that `send` had taken and that were not written at the end.
  var unsent = 0
  private var heard: ContinuousClock.Instant?
  private var lastTraffic = TrafficState()

  /// A connection to `url` on one of the process's reactors; nothing is dialed yet.
  public init(
    to url: WebSocketEndpoint, configuration: WebSocketConfiguration = WebSocketConfiguration(),
    on reactor: Reactor = ReactorGroup.shared.next()
  ) {
    let first = configuration.way.proxy?.endpoint ?? url.endpoint
    self.init(to: url, configuration: configuration, by: Route(first, on: reactor), on: reactor)
  }

  /// The same with its own way to the server, for tests that answer for a name server.
  package init(
    to url: WebSocketEndpoint, configuration: WebSocketConfiguration, by route: Route,
    on reactor: Reactor
  ) {
    self.url = url
    self.configuration = configuration
    self.reactor = reactor
    self.route = route
    let webSocket = NativeWebSocketReference()
    mailbox = MessageMailbox(limit: configuration.receiveBuffer) {
      reactor.execute { webSocket.allowReading() }
    }
    sendQueue = SendQueue(limit: configuration.sendBuffer)
    events = life.events
    self.reference = webSocket
  }

  // Not isolated: with an isolated one the 6.3 optimizer gives up on every client of this module
  // ("circular reference"). The native WebSocket lives on the reactor and is ended there.
  deinit {
    if let webSocket { reactor.execute { webSocket.abandon() } }
  }

  /// The reactor's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  /// Host and port.
  public nonisolated var endpoint: Endpoint { url.endpoint }

  /// The messages of the server. One reader.
  public nonisolated var messages: MessageStream { MessageStream(connection: self) }

  /// When the last byte came from the server, as the kernel saw it; nil before the first.
  public var lastHeard: ContinuousClock.Instant? { webSocket?.lastHeard ?? heard }

  /// Whether it does not read because its messages are not taken, and how much of what was sent the
  /// server's kernel has.
  public var traffic: TrafficState { webSocket?.traffic ?? lastTraffic }

  /// How many bytes of messages have come, and whether a message has begun and not ended.
  package var reception: (bytes: UInt64, isInMessage: Bool) {
    webSocket.map { ($0.assembler.received, $0.assembler.isInMessage) } ?? (0, false)
  }

  func keepTraffic() {
    heard = webSocket?.lastHeard
    lastTraffic = webSocket?.traffic ?? lastTraffic
  }

  /// Resolves, dials, identifies the server, upgrades. A proxy is resolved and dialed in place of
  /// the server, whose name it resolves.
  ///
  /// - Throws: what `AppError.init(webSocketFailure:)` makes of the failure; `fileReadError` for a
  ///   file of an authority or of the identity, `validationError` for a header field or a name;
  ///   `cancelled`.
  public nonisolated func connect() async throws(AppError) {
    do throws(ConnectionError) {
      try await open()
    } catch {
      throw error.error
    }
  }

  /// `connect()` whose failure has its context with it.
  ///
  /// - Throws: what `connect()` throws.
  public nonisolated func open() async throws(ConnectionError) {
    let trust: TrustStore?
    do throws(AppError) {
      try RequestHeaders.check(configuration)
      if let proxy = configuration.way.proxy { try ProxyRequest.check(proxy) }
      try WebSocketEndpoint.check(serverName: configuration.serverName)
      trust =
        url.isSecure
        ? try TrustStore.store(for: configuration.trust, showing: configuration.identity) : nil
    } catch {
      throw ConnectionError(error)
    }
    try await withTaskExecutorPreference(reactor) { () async throws(ConnectionError) in
      try await self.openHere(trust)
    }
  }

  private func openHere(_ trust: TrustStore?) async throws(ConnectionError) {
    do throws(AppError) {
      try await establish(trust)
    } catch {
      throw ConnectionError(error, context: lastFailure)
    }
  }

  /// `timeout` of a phase, `webSocketPingTimeout` of a silent server.
  public nonisolated func timeout(
    in phase: ConnectionPhase, after limit: Duration
  ) -> ConnectionError {
    var failure = WebSocketFailure(
      observation: phase == .stream ? .pingTimeout : .deadline, phase: phase,
      host: endpoint.host, port: endpoint.port, timeout: limit.wholeSeconds)
    failure.limit = limit
    return failure.typed
  }

  /// Sends a text message; returns when the send buffer has taken it.
  ///
  /// - Throws: what ended the connection; `cancelled`, and then nothing was sent.
  public nonisolated func send(text: String) async throws(AppError) {
    try await sendQueue.send(.init(text: text))
  }

  /// Sends a binary message; returns when the send buffer has taken it.
  ///
  /// - Throws: what ended the connection; `cancelled`, and then nothing was sent.
  public nonisolated func send(binary bytes: [UInt8]) async throws(AppError) {
    try await sendQueue.send(.init(binary: bytes))
  }

  /// Sends a message; returns when the send buffer has taken it.
  ///
  /// - Throws: what ended the connection; `cancelled`, and then nothing was sent.
  public nonisolated func send(_ message: WebSocketMessage) async throws(AppError) {
    switch message {
    case .text(let text): try await send(text: text)
    case .binary(let bytes): try await send(binary: bytes)
    }
  }

  /// One ping and its pong (RFC 6455, 5.5.2).
  ///
  /// - Throws: `webSocketPingTimeout` when the answer is not there after `deadline`; what ended the
  ///   connection.
  public nonisolated func probe(within deadline: Duration) async throws(AppError) -> Duration {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) -> Duration in
      try await self.measureRoundTrip(within: deadline)
    }
  }

  /// Waits until the server has received every message for which `send` has returned: a ping is
  /// queued behind them, and its pong proves them (RFC 6455, 5.5.3).
  ///
  /// - Throws: `webSocketPingTimeout` when that is not proven after `deadline`, and the messages
  ///   may arrive yet; what ended the connection.
  public nonisolated func confirmDelivery(within deadline: Duration) async throws(AppError) {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) in
      try await self.awaitDelivery(within: deadline)
    }
  }

  /// The same without a deadline: for as long as the connection lives.
  ///
  /// - Throws: what ended the connection; `cancelled`.
  public nonisolated func confirmDelivery() async throws(AppError) {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) in
      try await self.awaitDelivery(within: nil)
    }
  }

  /// Ends the connection in at most a second, with code 1000. Safe in every state, and again.
  public nonisolated func close() async {
    await close(code: CloseCode.normal)
  }

  /// Sends what `send` has taken, then a close frame with `code` and `reason` (cut to what fits:
  /// 123 bytes), waits for the server's answer, ends; all in at most a second. A server that has
  /// not answered the last ping is not waited for. A code that may not be sent is sent as 1000.
  ///
  /// From its beginning `send` fails, also where it waits for space.
  /// - Returns: how many messages `send` had taken that were not written, or not whole. What was
  ///   written may still be lost when the server did not answer: `confirmDelivery` proves it.
  @discardableResult
  public nonisolated func close(code: Int, reason: String = "") async -> Int {
    await withTaskExecutorPreference(reactor) {
      await self.beginClosing(
        code: CloseFrame.maySend(code) ? code : CloseCode.normal, reason: reason)
    }
  }
}
