import BridgeErrors

extension WebSocketConfiguration {
  /// Fields of a request that hold no secrets, and tell why it was refused.
  private static let open: Set = [
    "accept", "accept-language", "cache-control", "origin", "pragma", "referer", "user-agent",
  ]

  /// What only the server or the proxy may see.
  var secrets: [Secret] {
    headers.filter { !Self.open.contains($0.name.lowercased()) }.map(\.value)
      + [bearer, way.proxy?.credentials].compactMap { $0 }
  }
}

extension WebSocketFailure.Observation {
  /// The observation without `secrets` that the peer has repeated: a server may say which token it
  /// does not accept.
  func hiding(_ secrets: [Secret]) -> Self {
    guard !secrets.isEmpty else { return self }
    func hide(_ text: String) -> String { secrets.reduce(text) { $1.hidden(in: $0) } }
    switch self {
    case .refusedUpgrade(let status, let retryAfter, let message, let location):
      return .refusedUpgrade(
        status: status, retryAfter: retryAfter, message: message.map(hide),
        location: location.map(hide))
    case .notWebSocket(let seen, let location):
      return .notWebSocket(seen: hide(seen), location: location.map(hide))
    case .refusedTunnel(let status, let reason, let retryAfter, let sentCredentials):
      return .refusedTunnel(
        status: status, reason: hide(reason), retryAfter: retryAfter,
        sentCredentials: sentCredentials)
    case .notProxy(let seen, let location):
      return .notProxy(seen: hide(seen), location: location.map(hide))
    case .closed(let code, let reason): return .closed(code: code, reason: hide(reason))
    case .invalidMessage(let detail): return .invalidMessage(detail: hide(detail))
    case .internalFault(let detail): return .internalFault(detail: hide(detail))
    case .elsewhere, .nameUnknown, .nameTimeout, .offline, .dial, .deadline, .tls, .dropped,
      .pingTimeout, .unexplained, .overLimit, .cancelled:
      return self
    }
  }
}
