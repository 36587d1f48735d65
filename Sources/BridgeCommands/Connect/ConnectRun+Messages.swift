import BridgeErrors
import BridgeRecovery
import BridgeTransport
import BridgeWebSocket

// `ws://` and `wss://`: messages instead of a shell.
extension ConnectRun {
  /// How the WebSocket server is reached.
  static func messageConfiguration(
    _ request: MessageRequest, _ settings: ConnectSettings
  ) async -> WebSocketConfiguration {
    var configuration = WebSocketConfiguration()
    configuration.headers = request.headers.map { .init($0[0], Secret($0[1])) }
    configuration.subprotocols = request.subprotocols
    if let file = request.authorityFile { configuration.trust = .authority(file: file) }
    if let pin = request.pin { configuration.trust = .pinned(sha256: pin) }
    if let descriptor = request.bearerDescriptor {
      let reader = DescriptorReader(descriptor, size: 1)
      configuration.bearer = await TerminalPrompt.line(from: reader).map { Secret($0) }
      reader.stop()
    }
    return configuration
  }

  /// A generation is in use: sends over it until it ends, and leaves what comes to `deliver`.
  func exchange(_ connection: WebSocketConnection, _ generation: Int) async {
    reporter.event("connected") { line in
      line.add("host", PeerText.escaped(settings.endpoint.host))
      line.add("port", settings.endpoint.port)
    }
    if generation == 1, local.inputIsTerminal {
      reporter.note("bridgectl: connected; each line is a message, Ctrl-D ends.")
    }
    if case .dropped = opened.yield(connection) {
      reporter.warn("standard output is so slow that the messages of a connection were lost")
    }
    if let end = await messages.send(to: connection, generation) { return finish(end) }
    await tellDoubt(about: connection, generation)
  }

  /// Tells people that messages flow again: a shell's prompt would, messages need not come.
  func tellBack(_ event: RecoveryEvent) {
    guard request.messages != nil,
      case .recovered(let time, let attempts, isFirst: false) = event.step
    else { return }
    reporter.note("bridgectl: \(LinkStatus.back(after: time, attempts))")
  }

  /// What went into a link that was lost may be lost too: nobody but the server knows. One that was
  /// closed as agreed was not lost.
  private func tellDoubt(about connection: WebSocketConnection, _ generation: Int) async {
    let count = messages.takeDoubtful(of: generation)
    let isAgreed = await connection.lastFailure?.kind == .closedByPeer
    guard count > 0, !isAgreed, !facts.withLock({ $0.isOver }) else { return }
    let subject = count == 1 ? "a message that was" : "\(count) messages that were"
    reporter.warn("\(subject) sent just before may not have arrived; not sent again")
  }

  /// Writes out the messages of all generations, one after the other and each to its last: not
  /// cancelled when a generation ends, for what has come is written even so. Then says how the run
  /// ended, where there is no more to come.
  func deliver() async {
    for await connection in links {
      if let end = await messages.receive(from: connection) { finish(end) }
    }
    if let failure = facts.withLock({ $0.outcome }) { end.yield(.failure(failure)) }
  }

  private func finish(_ ending: MessageSession.End) {
    switch ending {
    case .finished: end.yield(.success(.success))
    case .outputClosed: end.yield(.success(.outputClosed))
    case .badInput(let error): end.yield(.failure(CommandFailure(error: error)))
    }
  }
}
