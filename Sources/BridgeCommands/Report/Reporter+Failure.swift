import BridgeErrors
import BridgeTransport
import BridgeWebSocket

extension Reporter {
  /// The last words: the hint, then `bridgectl: [caseName] Title: message`.
  func fail(_ failure: CommandFailure) {
    event(.error(failure))
    let lines = TerminalBanner.lastLines(
      failure.error, context: failure.context,
      advice: CommandAdvice.text(for: failure.error, in: failure.context))
    end(with: lines)
  }

  /// Says once that the connection goes through `proxy`.
  func report(_ proxy: WebSocketProxy) {
    log("bridgectl: connecting through the proxy \(proxy)")
    event(
      .proxy(host: proxy.endpoint.host, port: proxy.endpoint.port, source: proxy.source ?? ""))
  }

  /// Likewise, where the hint was given before.
  func conclude(_ failure: CommandFailure) {
    event(.error(failure))
    end(with: TerminalBanner.lastLines(failure.error, context: failure.context).suffix(1))
  }

  private func end(with lines: some Sequence<String>) {
    let end = style.isTerminal ? "\r\n" : "\n"
    show(lines.map { $0 + end }.joined(), onLineOfItsOwn: true)
  }
}
