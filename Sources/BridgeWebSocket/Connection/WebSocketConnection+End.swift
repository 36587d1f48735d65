import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

extension WebSocketConnection {
  /// How an operation ends for its caller.
  typealias Outcome<Value> = Result<Value, WebSocketFailure>

  /// Takes `input` into the connection's life and does what follows from it.
  func step(_ input: ConnectionStateMachine.Input) {
    if life.step(input) { tearDown() }
  }

  /// Ends the connection because of `failure`. The first cause counts.
  func end(_ failure: WebSocketFailure) {
    guard ending == nil else { return }
    ending = failure
    let failed = failure.typed
    lastFailure = failed.context
    step(.fail(failed))
  }

  /// Closes the connection at the owner's request; returns how many messages were not sent.
  func beginClosing(code: Int, reason: String) async -> Int {
    if life.state == .connected, !isClosing {
      isClosing = true
      sendQueue.close(Self.closedHere)
      webSocket?.close(code: code, reason: CloseFrame.fit(reason))
      if isDeaf {
        finishClosing()
      } else {
        webSocket?.deadline = LoopTimer(deadline: closeTimeout, on: reactor) { [weak self] in
          self?.assumeIsolated { $0.finishClosing() }
        }
      }
    } else if ending == nil, !isClosing {
      ending = failure(.cancelled, in: .close)
      step(.close)
    }
    guard life.state != .closed else { return unsent }
    let released = Promise<Void>()
    whenReleased.append { released.fulfill() }
    await released.value()
    return unsent
  }

  /// Whether the last probe of the server failed: then its close frame is not awaited.
  private var isDeaf: Bool {
    guard let unanswered else { return false }
    return lastHeard.map { $0 < unanswered } ?? true
  }

  /// How long the answer to a close frame is awaited: the rest is left for the end of the socket.
  private var closeTimeout: Duration { configuration.timeouts.close * 3 / 4 }

  /// The close frame was answered, or the answer took too long.
  private func finishClosing() {
    guard ending == nil else { return }
    ending = failure(.cancelled, in: .close)
    step(.close)
  }

  /// Resumes all callers and starts the end in the library; the rest is done when it comes.
  private func tearDown() {
    guard let ending else { return }
    if let handshake { reactor.execute { handshake.assumeIsolated { $0.cancel() } } }
    webSocket?.deadline = nil
    keepTraffic()
    let error = AppError(webSocketFailure: ending)
    unsent =
      sendQueue.end(isClosing ? Self.closedHere : error) + (webSocket?.isMessageCut == true ? 1 : 0)
    mailbox.finish(isEndOfMessages(ending) ? .success(()) : .failure(error))
    answerDial = nil
    dialer = nil
    probes.removeAll()
    for caller in callers.takeAll() { caller.fail(ending) }
    guard let webSocket, !webSocket.isGone else { return release() }
    guard webSocket.facts.fault != nil else { return webSocket.kill() }
    // The server shall receive the close frame, which a reset would discard.
    webSocket.deadline = LoopTimer(deadline: closeTimeout, on: reactor) { [weak webSocket] in
      webSocket?.kill()
    }
  }

  private static let closedHere = AppError.webSocketDisconnected(
    code: nil, reason: "The connection was closed here.")

  /// Whether the stream ends without an error: we left, or the server was done.
  private func isEndOfMessages(_ ending: WebSocketFailure) -> Bool {
    if isClosing || ending.observation == .cancelled { return true }
    if case .closed(CloseCode.normal, _) = ending.observation { return true }
    return false
  }

  /// The library has released the connection.
  func lose() {
    guard let webSocket else { return }
    if life.state == .closing { return release() }
    if isClosing { return finishClosing() }
    if let observation = webSocket.facts.observation {
      return end(failure(cause(of: observation), in: phase))
    }
    // Not even reached: the one who dials finds out why.
    webSocket.deadline = nil
    self.webSocket = nil
    answerDial = nil
    if let dialer, let caller = callers.take(dialer) {
      caller.fail(failure(.dial(errno: 0), in: .dial))
    }
    dialer = nil
  }

  /// What ended the way to the server, where that is why the server was not heard any more.
  private func cause(
    of observation: WebSocketFailure.Observation
  ) -> WebSocketFailure.Observation {
    switch observation {
    case .dropped, .closed(code: nil, _):
      configuration.way.loss.map { .elsewhere($0) } ?? observation
    case .nameUnknown, .nameTimeout, .offline, .dial, .deadline, .tls, .refusedUpgrade,
      .notWebSocket, .refusedTunnel, .notProxy, .elsewhere, .closed, .pingTimeout, .unexplained,
      .overLimit, .invalidMessage, .internalFault, .cancelled:
      observation
    }
  }

  private func release() {
    webSocket?.deadline = nil
    webSocket = nil
    step(.tornDown)
    let waiters = whenReleased
    whenReleased = []
    for waiter in waiters { waiter() }
  }

  /// Waits until the caller is removed from the table and resumed: a success through the
  /// closure given to `start`, a failure through the table.
  func wait<Value: Sendable>(
    phase: ConnectionPhase, within deadline: Duration?,
    start: (isolated WebSocketConnection, Int, @escaping @Sendable (Outcome<Value>) -> Void) -> Void
  ) async -> Outcome<Value> {
    if let ending { return .failure(ending) }
    let id = callers.nextID()
    if Task.isCancelled { return .failure(failure(.cancelled, in: phase)) }
    let outcome = Promise<Outcome<Value>>()
    let timer = deadline.map { deadline in
      LoopTimer(deadline: deadline, on: reactor) { [weak self] in
        self?.assumeIsolated { $0.answer(id, with: .deadline, in: phase) }
      }
    }
    callers.insert(.init(deadline: timer) { outcome.fulfill(.failure($0)) }, as: id)
    start(self, id) { outcome.fulfill($0) }
    return await outcome.value { [weak self, reactor] in
      reactor.execute { [weak self] in
        self?.assumeIsolated { $0.answer(id, with: .cancelled, in: phase) }
      }
    }
  }

  func answer(
    _ id: Int, with observation: WebSocketFailure.Observation, in phase: ConnectionPhase
  ) {
    _ = probes.take(id)
    // A socket that took nothing would take a burst of pings without a caller later.
    webSocket?.drop(ping: id)
    callers.take(id)?.fail(failure(observation, in: phase))
  }

  /// A failure with all that this connection knows.
  func failure(
    _ observation: WebSocketFailure.Observation, in phase: ConnectionPhase
  ) -> WebSocketFailure {
    let limit = timeout(of: phase)
    var failure = WebSocketFailure(
      observation: observation.hiding(configuration.secrets), phase: phase, host: endpoint.host,
      port: endpoint.port, path: url.path, timeout: limit.wholeSeconds,
      socket: webSocket?.facts.condition ?? .open, isSecure: url.isSecure,
      proxy: isAtProxy ? configuration.way.proxy?.description : nil)
    failure.socketPath = configuration.way.socketPath
    if observation == .deadline { failure.limit = limit }
    return failure
  }

  func failure(dialing dial: DialFailure) -> WebSocketFailure {
    switch dial.cause {
    case .nameUnknown: failure(.nameUnknown, in: dial.phase)
    case .nameTimeout: failure(.nameTimeout, in: dial.phase)
    case .offline: failure(.offline, in: dial.phase)
    case .failed(let errno): failure(.dial(errno: errno), in: dial.phase)
    case .deadline: failure(.deadline, in: dial.phase)
    case .cancelled: failure(.cancelled, in: dial.phase)
    }
  }

  private func timeout(of phase: ConnectionPhase) -> Duration {
    let timeouts = configuration.timeouts
    return switch phase {
    case .resolve: timeouts.resolve
    case .dial: timeouts.dial
    case .close: timeouts.close
    case .banner, .keyExchange, .hostKey, .authenticate, .openChannel, .execute, .stream, .upgrade:
      timeouts.upgrade
    }
  }
}
