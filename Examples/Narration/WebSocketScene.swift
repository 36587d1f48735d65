public import BridgeErrors
public import BridgeSupervision
public import BridgeTransport
public import BridgeWebSocket

extension SupervisedConnection {
  /// A WebSocket link to a peer of ours, tried again from the first dial on.
  ///
  /// - Throws: `invalidURL`, which a peer's address is not.
  public static func webSocket(
    _ id: ConnectionID, to port: Int, configuration: WebSocketConfiguration = .init()
  ) throws(AppError) -> SupervisedConnection {
    let url = try WebSocketEndpoint("ws://127.0.0.1:\(port)/")
    return SupervisedConnection(
      id: id, endpoint: url.endpoint, retriesFirstDial: true,
      make: { _ in WebSocketConnection(to: url, configuration: configuration) })
  }
}

extension Connection {
  /// Sends a text message.
  ///
  /// - Throws: what ended the connection; `internalError` when it is no WebSocket.
  public func say(_ text: String) async throws(AppError) {
    guard let socket = self as? WebSocketConnection else {
      throw .internalError(detail: "\(endpoint) is no WebSocket connection")
    }
    try await socket.send(text: text)
  }
}
