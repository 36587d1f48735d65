public import BridgeErrors
public import BridgeSupervision
public import BridgeWebSocket

extension Supervisor {
  /// Keeps up a WebSocket to a peer of ours.
  ///
  /// - Throws: as `add`; `invalidURL`, which a peer's address is not.
  @discardableResult
  public func add(
    _ id: ConnectionID, toWebSocketAt port: Int, _ options: LinkOptions = LinkOptions(),
    configuration: WebSocketConfiguration = .init()
  ) throws(AppError) -> Link<WebSocketConnection> {
    let url = try WebSocketEndpoint("ws://127.0.0.1:\(port)/")
    return try add(id, to: url.endpoint, options) { _ in
      WebSocketConnection(to: url, configuration: configuration)
    }
  }
}
