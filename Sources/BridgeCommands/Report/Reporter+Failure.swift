import BridgeErrors
import BridgeTransport
import BridgeWebSocket

extension Reporter {
  /// The last words: `bridgectl: [caseName] Title: message`, then what can be done.
  func fail(_ failure: CommandFailure) {
    event(.error(failure))
    if style.isSSH {
      guard style.loudness != .quiet else { return }
      return show(lines: SSHWords.lines(failure, login: style.login))
    }
    let remedy = failure.remedy ?? CommandAdvice.remedy(for: failure.error)
    let advice =
      remedy
      ?? CommandAdvice.row(
        for: failure.error, in: failure.context, ofJumpHost: failure.jumpHost != nil)
    let row = advice?.of(style.target)
    show(
      lines: TerminalBanner.lastLines(
        failure.error, context: failure.context, advice: row?.words, command: row?.command,
        replacesHint: remedy != nil))
  }

  /// Says once that the connection goes through `proxy`.
  func report(_ proxy: WebSocketProxy) {
    log("bridgectl: connecting through the proxy \(proxy)")
    event(
      .proxy(host: proxy.endpoint.host, port: proxy.endpoint.port, source: proxy.source ?? ""))
  }

  /// Likewise, where the cause and the remedy were given before: what kind it was.
  func conclude(_ failure: CommandFailure) {
    event(.error(failure))
    var context = failure.context
    context?.detail = nil
    show(lines: Array(TerminalBanner.lastLines(failure.error, context: context).prefix(1)))
  }
}
