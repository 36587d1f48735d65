import BridgeErrors
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

  /// A generation is in use: carries messages over it until it ends.
  func exchange(_ connection: WebSocketConnection, _ generation: Int) async {
    reporter.event("connected") { line in
      line.add("host", PeerText.escaped(settings.endpoint.host))
      line.add("port", settings.endpoint.port)
    }
    if generation > 1, let back = facts.withLock({ $0.back }) {
      reporter.note("bridgectl: \(back)")
    } else if local.inputIsTerminal {
      reporter.note("bridgectl: connected; each line is a message, Ctrl-D ends.")
    }
    switch await messages.run(connection) {
    case .finished: end.yield(.success(.success))
    case .outputClosed: end.yield(.success(.outputClosed))
    case .badInput(let error): end.yield(.failure(CommandFailure(error: error)))
    // The supervisor knows what ended it, and what follows.
    case .failed: break
    }
  }
}
