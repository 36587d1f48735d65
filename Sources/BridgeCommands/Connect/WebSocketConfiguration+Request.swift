import BridgeErrors
import BridgeTerminal
import BridgeWebSocket

extension WebSocketConfiguration {
  /// How the WebSocket server of `request` is reached, through `proxy` where there is one.
  ///
  /// - Throws: `validationError` of `--bearer-fd`.
  init(_ request: MessageRequest, proxy: WebSocketProxy?) async throws(AppError) {
    self.init()
    if let proxy { way = .proxy(proxy) }
    headers = request.headers.map { .init($0[0], Secret($0[1])) }
    subprotocols = request.subprotocols
    if let file = request.authorityFile { trust = .authority(file: file) }
    if let pin = request.pin { trust = .pinned(sha256: pin) }
    if let descriptor = request.bearerDescriptor {
      bearer = try await SecretLine.read(descriptor, option: "--bearer-fd")
    }
  }
}
