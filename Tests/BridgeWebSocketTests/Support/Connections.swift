import BridgeErrors
import BridgeReactor
import BridgeWebSocket

extension WebSocketConnection {
  /// A connection to the URL `url`.
  init(
    to url: String, configuration: WebSocketConfiguration = WebSocketConfiguration(),
    on reactor: Reactor = ReactorGroup.shared.next()
  ) throws(AppError) {
    self.init(to: try WebSocketEndpoint(url), configuration: configuration, on: reactor)
  }
}
