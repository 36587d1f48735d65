import BridgeErrors
import BridgeReactor
import BridgeTransport

extension WebSocketConnection {
  /// Connects: from the name to the upgraded connection.
  func establish(_ trust: TrustStore?) async throws(AppError) {
    guard life.state == .idle else {
      throw ending.map { AppError(webSocketFailure: $0) }
        ?? .internalError(detail: "A connection connects once; make a new one.")
    }
    step(.connect)
    do throws(WebSocketFailure) {
      switch configuration.way {
      case .direct:
        let addresses = try await resolve()
        try await dial(addresses, trust)
      case .proxy(let proxy): try await goOn(over: openTunnel(by: proxy), trust)
      case .unixSocket(let path): try await goOn(over: socket(at: path), trust)
      case .socket(let source): try await goOn(over: socket(from: source), trust)
      }
    } catch {
      end(error)
      throw AppError(webSocketFailure: ending ?? error)
    }
  }

  func enter(_ next: ConnectionPhase) {
    phase = next
    configuration.observer?(.entered(next))
    step(.enter(next))
  }

  private func resolve() async throws(WebSocketFailure) -> [NetworkAddress] {
    enter(.resolve)
    let answer: Result<[NetworkAddress], DialFailure>
    do throws(DialFailure) {
      answer = .success(
        try await route.resolve(within: configuration.timeouts.resolve))
    } catch {
      answer = .failure(error)
    }
    if let ending { throw ending }
    switch answer {
    case .success(let addresses):
      configuration.observer?(.dial(.resolved(addresses)))
      return addresses
    case .failure(let failure): throw self.failure(dialing: failure)
    }
  }

  /// Dials the address that answers: the only one, or the winner of a race, which libwebsockets
  /// cannot run.
  private func dial(
    _ addresses: [NetworkAddress], _ trust: TrustStore?
  ) async throws(WebSocketFailure) {
    enter(.dial)
    let begun = ContinuousClock.now
    var address = addresses[0]
    if addresses.hasTwoFamilies { address = try await race(addresses, since: begun) }
    let first = await attempt(.address(address), trust, since: begun)
    guard case .failure(let failure) = first else { return }
    guard case .dial = failure.observation, ending == nil else { throw failure }
    // Nothing but "no": our own connect says why, or finds an address that answers after all.
    address = try await race(addresses, since: begun)
    let second = await attempt(.address(address), trust, since: begun)
    guard case .failure(let failure) = second else { return }
    guard case .dial = failure.observation else { throw failure }
    throw self.failure(.dropped, in: .dial)
  }

  /// Goes on over a socket that leads to the server, and is taken over.
  private func goOn(over socket: Socket, _ trust: TrustStore?) async throws(WebSocketFailure) {
    let result = await attempt(.socket(socket), trust, since: ContinuousClock.now)
    guard case .failure(let failure) = result else { return }
    guard case .dial = failure.observation, ending == nil else { throw failure }
    // No address is left to try: the socket is gone, or there was no descriptor for it.
    throw Socket.shortage().map { self.failure(.dial(errno: $0), in: .dial) }
      ?? self.failure(.dropped, in: .upgrade)
  }

  private func race(
    _ addresses: [NetworkAddress], since begun: ContinuousClock.Instant
  ) async throws(WebSocketFailure) -> NetworkAddress {
    let left = max(.milliseconds(1), configuration.timeouts.dial - (ContinuousClock.now - begun))
    let winner: Result<NetworkAddress, DialFailure>
    do throws(DialFailure) {
      winner = .success(
        try await route.probe(addresses, within: left) { [observer = configuration.observer] in
          observer?(.dial($0))
        })
    } catch {
      winner = .failure(error)
    }
    if let ending { throw ending }
    switch winner {
    case .success(let address): return address
    case .failure(let failure): throw self.failure(dialing: failure)
    }
  }

  /// What leads to the server.
  private enum Way {
    case address(NetworkAddress)
    /// A socket that is connected to it.
    case socket(Socket)
  }

  /// One dial of the library's, to its end: upgraded, or failed. A failure to reach the address at
  /// all is `.dial(0)`, and does not end this connection yet.
  private func attempt(
    _ way: Way, _ trust: TrustStore?, since begun: ContinuousClock.Instant
  ) async -> Result<Void, WebSocketFailure> {
    if case .address(let address) = way {
      dialed = address
      configuration.observer?(.dial(.began(address)))
    }
    return await wait(phase: .dial, within: nil) { connection, id, answer in
      connection.dialer = id
      connection.answerDial = { answer(.success(())) }
      connection.startLink(
        way, trust, within: configuration.timeouts.dial - (ContinuousClock.now - begun))
    }
  }

  private func startLink(
    _ way: Way, _ trust: TrustStore?, within time: Duration
  ) {
    let webSocket = NativeWebSocket(
      to: url, configuration: configuration, on: reactor, mailbox: mailbox, sendQueue: sendQueue
    ) { [weak self] step in
      self?.assumeIsolated { $0.take(step) }
    }
    self.webSocket = webSocket
    reference.webSocket = webSocket
    limitDial(time, of: .dial)
    guard let context = WebSocketContext.of(reactor) else {
      webSocket.deadline = nil
      self.webSocket = nil
      return end(failure(.internalFault(detail: Self.noContext), in: .dial))
    }
    let isStarted =
      switch way {
      case .address(let address):
        webSocket.start(address.description, in: context, trust: trust)
      case .socket(let socket): webSocket.start(over: socket, in: context, trust: trust)
      }
    guard !isStarted else { return }
    // Its own end may still come, when another native WebSocket has taken its place.
    webSocket.detach()
    take(.gone)
  }

  private static let noContext =
    "libwebsockets could not start; is its libuv plug-in (libwebsockets-evlib-uv) installed?"

  /// The phase must be over in `time`.
  func limitDial(_ time: Duration, of phase: ConnectionPhase) {
    webSocket?.deadline = LoopTimer(deadline: max(.zero, time), on: reactor) { [weak self] in
      self?.assumeIsolated { $0.end($0.failure(.deadline, in: phase)) }
    }
  }

  func take(_ step: NativeWebSocketStep) {
    switch step {
    case .connected:
      guard ending == nil else { return }
      if let dialed { configuration.observer?(.dial(.ended(dialed, .connected))) }
      enter(.upgrade)
      limitDial(configuration.timeouts.upgrade, of: .upgrade)
    case .established(let chosen):
      guard ending == nil else { return }
      subprotocol = chosen
      begin()
    case .pinged(let id):
      probes.wrote(id)
    case .pong(let payload):
      guard let last = ProbeTable.id(payload) else { return }
      for id in probes.answered(by: last) {
        guard let answer = probes.take(id), callers.take(id) != nil else { continue }
        answer()
      }
    case .refused:
      if let observation = webSocket?.facts.observation { end(failure(observation, in: .stream)) }
    case .gone:
      lose()
    }
  }

  private func begin() {
    webSocket?.deadline = nil
    phase = .stream
    sendQueue.open { [reactor, reference] in
      guard !reactor.isCurrent else { return reference.flush() }
      reactor.execute { reference.flush() }
    }
    self.step(.ready)
    let answer = answerDial
    answerDial = nil
    if let dialer, callers.take(dialer) != nil { answer?() }
    dialer = nil
  }
}
