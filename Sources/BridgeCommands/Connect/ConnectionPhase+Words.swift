import BridgeErrors
import BridgeSSH
import BridgeTransport
import BridgeWebSocket

extension ConnectionPhase {
  /// A description of the current phase of a link to the host of `settings`, for display.
  func words(_ settings: HostSettings, through proxy: WebSocketProxy? = nil) -> String {
    if let proxy {
      switch self {
      case .resolve: return "resolving the proxy \(proxy)"
      case .dial: return "dialing through the proxy \(proxy)"
      case .banner, .keyExchange, .hostKey, .authenticate, .openChannel, .execute, .stream,
        .upgrade, .close:
        break
      }
    }
    let host = PeerText.escaped(settings.givenHost, limit: 128)
    switch self {
    case .resolve: return "resolving \(host)"
    case .dial: return "dialing \(PeerText.escaped(settings.endpoint.description, limit: 160))"
    case .banner: return "waiting for the server's banner"
    case .keyExchange: return "exchanging keys"
    case .hostKey: return "verifying the host key"
    case .authenticate:
      return "logging in as \(PeerText.escaped(settings.user, limit: 128))"
    case .openChannel, .execute: return "starting"
    case .stream: return "connected"
    case .upgrade: return "upgrading"
    case .close: return "closing"
    }
  }
}
