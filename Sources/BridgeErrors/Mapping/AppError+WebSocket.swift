import Foundation

extension WebSocketFailure {
  /// The row of the failure table.
  public var kind: FailureKind {
    switch observation {
    case .nameUnknown: .nameUnknown
    case .nameTimeout: .nameTimeout
    case .offline: .offline
    case .dial(let errno): FailureKind(dialErrno: errno)
    case .deadline: phase == .resolve ? .nameTimeout : .silent
    case .tls(let cause): .tls(cause)
    case .refusedUpgrade(let status, _, _, _):
      status >= 400
        ? .refusedUpgrade(status: status) : requiresTLS ? .secureOnly : .notTheProtocol
    case .refusedTunnel(let status, _, _, _): .proxyRefused(status: status)
    case .notWebSocket, .notProxy: .notTheProtocol
    case .dropped: .dropped
    case .closed(let code, _): Self.kind(ofCloseCode: code)
    case .unexplained: .linkLost
    case .overLimit: .overLimit
    case .pingTimeout: .linkSilent
    case .invalidMessage: .corrupted
    case .internalFault: .internalFault
    case .cancelled: .cancelled
    }
  }

  /// Whether it redirects from plain text to a secure address of the same host.
  var requiresTLS: Bool {
    guard !isSecure, case .refusedUpgrade(_, _, _, let location?) = observation,
      let target = URLComponents(string: location), let scheme = target.scheme?.lowercased(),
      ["https", "wss"].contains(scheme), let named = target.host?.lowercased()
    else { return false }
    let own = host.lowercased()
    return named == own || named == "[\(own)]" || named == "www.\(own)"
  }

  /// RFC 6455, 7.4.1.
  private static func kind(ofCloseCode code: Int?) -> FailureKind {
    switch code {
    case 1000: .closedByPeer
    case 1003, 1007, 1008, 1009, 1010: .rejected
    case .some(3000...4999): .closedByApplication
    default: .linkLost
    }
  }
}

extension AppError {
  /// The typed error of a WebSocket failure. Name, timeout and offline failures go through
  /// `URLError`, so that a host sees the same errors from URLSession and from here.
  public init(webSocketFailure failure: WebSocketFailure) {
    if let reason = failure.proxyWords {
      self = .webSocketConnectionFailed(reason: reason)
      return
    }
    switch failure.observation {
    case .nameUnknown: self.init(urlCode: .cannotFindHost, failure)
    case .nameTimeout: self.init(urlCode: .dnsLookupFailed, failure)
    case .offline, .dial(ENETDOWN): self.init(urlCode: .notConnectedToInternet, failure)
    case .deadline:
      self.init(urlCode: failure.phase == .resolve ? .dnsLookupFailed : .timedOut, failure)
    case .dial(ETIMEDOUT): self.init(urlCode: .timedOut, failure)
    case .dial(let errno): self = .webSocketConnectionFailed(reason: failure.words(errno: errno))
    case .tls(let cause): self = .sslError(description: cause.words)
    case .refusedUpgrade(let status, let retryAfter, let message, let location):
      self.init(
        upgradeStatus: status, failure, retryAfter: retryAfter, message: message,
        location: location)
    case .notWebSocket(let seen, let location):
      self = .webSocketConnectionFailed(
        reason: WebSocketFailure.notWebSocket(seen: seen, location: location))
    case .dropped, .refusedTunnel, .notProxy:
      self = .webSocketConnectionFailed(
        reason: "The server closed the connection \(failure.phase.during).")
    case .closed(let code, let reason):
      self = .webSocketDisconnected(
        // 1006 is what a library says when no close frame came (RFC 6455, 7.1.5).
        code: code == 1006 ? nil : code,
        reason: Payload.shown(reason, limit: PeerText.limit).trimmed.orNil)
    case .unexplained:
      self = .webSocketDisconnected(
        code: nil,
        reason: "It was ended on this side without a reason, as after a frame that is not allowed.")
    case .overLimit(.header, let limit):
      self = .webSocketConnectionFailed(
        reason: "The header of its answer is longer than the \(limit) bytes that are taken here.")
    case .overLimit(.message, let limit):
      self = .webSocketDisconnected(
        code: nil,
        reason: "A message of the server is longer than the \(limit) bytes that are taken here.")
    case .pingTimeout: self = .webSocketPingTimeout
    case .invalidMessage(let detail):
      self = .webSocketMessageInvalid(detail: Payload.shown(detail, limit: PeerText.limit))
    case .internalFault(let detail):
      self = .internalError(detail: Payload.shown(detail, limit: PeerText.limit))
    case .cancelled: self = .cancelled
    }
  }

  private init(urlCode: URLError.Code, _ failure: WebSocketFailure) {
    var address = URLComponents()
    address.scheme = "wss"
    address.host = failure.host
    guard let url = address.url, url.host != nil else {
      // Not a name that fits into a URL.
      self.init(urlError: URLError(urlCode), timeout: failure.timeout)
      if case .dnsError = self { self = .dnsError(host: PeerText.escaped(failure.host)) }
      return
    }
    self.init(
      urlError: URLError(urlCode, userInfo: [NSURLErrorFailingURLErrorKey: url]),
      timeout: failure.timeout)
  }

  private init(
    upgradeStatus status: Int, _ failure: WebSocketFailure, retryAfter: Int?, message: String?,
    location: String?
  ) {
    switch status {
    case 401, 407: self = .apiUnauthorized
    case 404: self = .apiNotFound(endpoint: failure.host)
    case 429: self = .apiRateLimited(retryAfter: retryAfter)
    case 400...:
      self = .serverError(
        status: status,
        message: message.map { Payload.shown($0, limit: PeerText.limit) }?.trimmed.orNil)
    default:
      self = .webSocketConnectionFailed(
        reason: WebSocketFailure.notWebSocket(seen: "HTTP status \(status)", location: location))
    }
  }
}

extension WebSocketFailure {
  fileprivate static func notWebSocket(seen: String, location: String?) -> String {
    if let location {
      return "It answered with a redirect to \(Payload.address(location))."
    }
    return "It did not answer as a WebSocket server (\(Payload.shown(seen, limit: 256)))."
  }

  fileprivate func words(errno: Int32) -> String {
    switch errno {
    case ECONNREFUSED: "Connection refused: nothing listens on port \(port ?? 443)."
    case EMFILE, ENFILE, ENOMEM, EADDRNOTAVAIL: SocketCondition.failed(errno: errno).shortage
    case ECONNRESET, EPIPE: "The server closed the connection while connecting."
    default: "No route to the host."
    }
  }
}

extension FailureKind.TLSCause {
  /// The cause as a clause that ends with a full stop.
  var words: String {
    switch self {
    case .unknownIssuer: "The certificate was issued by an authority this machine does not know."
    case .selfSigned: "The certificate is self-signed."
    case .expired: "The certificate has expired."
    case .notYetValid: "The certificate is not valid yet."
    case .wrongName: "The certificate is for another name."
    case .notTLS: "The server does not speak TLS on this port."
    case .pinMismatch: "The certificate is not the pinned one."
    case .badSignature: "The certificate's signature is wrong: it was forged or damaged."
    case .weakKey: "The certificate's key is too short to be secure."
    case .weakDigest: "The certificate is signed with a digest that is not secure any more."
    case .revoked: "The certificate was revoked by its issuer."
    case .invalidCertificate: "The certificate, or one of its chain, is not valid for a server."
    }
  }
}

extension String {
  var orNil: String? { isEmpty ? nil : self }
}
