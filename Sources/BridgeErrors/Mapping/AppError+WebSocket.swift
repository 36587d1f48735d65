#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

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
    case .elsewhere(let failure): failure.kind ?? .linkLost
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
      let named = Self.secureHost(of: location)
    else { return false }
    let own = host.lowercased()
    return named == own || named == "[\(own)]" || named == "www.\(own)"
  }

  /// The host of a `https` or `wss` URL, in lower case; nil for any other text.
  private static func secureHost(of url: String) -> String? {
    let (scheme, rest) = (url.prefix { $0 != ":" }.lowercased(), url.drop { $0 != ":" })
    guard ["https", "wss"].contains(scheme), rest.hasPrefix("://") else { return nil }
    let authority = rest.dropFirst(3).prefix { !"/?#".contains($0) }
    let site = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let end = site.hasPrefix("[") ? site.firstIndex(of: "]") ?? site.endIndex : site.startIndex
    let port = site[end...].drop { $0 != ":" }
    guard port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return site.dropLast(port.count).lowercased()
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
  /// The typed error of a WebSocket failure. Name, timeout and offline failures become the same
  /// errors as those of URLSession.
  public init(webSocketFailure failure: WebSocketFailure) {
    if let reason = failure.proxyWords {
      self = .webSocketConnectionFailed(reason: reason)
      return
    }
    switch failure.observation {
    case .nameUnknown, .nameTimeout: self = .dnsError(host: failure.shownHost)
    case .offline, .dial(ENETDOWN): self = .networkUnavailable
    case .deadline where failure.phase == .resolve: self = .dnsError(host: failure.shownHost)
    case .deadline, .dial(ETIMEDOUT): self = .timeout(seconds: failure.timeout)
    case .dial(let errno): self = .webSocketConnectionFailed(reason: failure.words(errno: errno))
    case .tls(let cause): self = .sslError(description: cause.words)
    case .refusedUpgrade(let status, let retryAfter, let message, let location):
      self.init(
        upgradeStatus: status, failure, retryAfter: retryAfter, message: message,
        location: location)
    case .notWebSocket(let seen, let location):
      self = .webSocketConnectionFailed(
        reason: WebSocketFailure.notWebSocket(seen: seen, location: location))
    case .elsewhere(let failure): self = failure.error
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

  private init(
    upgradeStatus status: Int, _ failure: WebSocketFailure, retryAfter: Int?, message: String?,
    location: String?
  ) {
    switch status {
    case 401, 407: self = .apiUnauthorized
    case 404: self = .apiNotFound(endpoint: failure.path)
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
  fileprivate var shownHost: String { PeerText.escaped(host) }

  fileprivate static func notWebSocket(seen: String, location: String?) -> String {
    if let location {
      return "It answered with a redirect to \(Payload.address(location))."
    }
    return "It did not answer as a WebSocket server (\(Payload.shown(seen, limit: 256)))."
  }

  fileprivate func words(errno: Int32) -> String {
    switch errno {
    case ECONNREFUSED where socketPath == nil:
      "Connection refused: nothing listens on port \(port ?? 443)."
    case EMFILE, ENFILE, ENOMEM, EADDRNOTAVAIL: SocketCondition.failed(errno: errno).shortage
    case ECONNRESET, EPIPE: "The server closed the connection while connecting."
    default: socketWords(errno: errno) ?? SocketCondition.failed(errno: errno).missingWay
    }
  }

  /// Why the unix socket cannot be connected to (connect(2)); nil where none is dialed.
  private func socketWords(errno: Int32) -> String? {
    socketPath.map { path in
      let cause =
        switch errno {
        case ECONNREFUSED: "nothing listens there"
        case ENOENT: "there is no such file"
        case EACCES, EPERM: "this user may not open it"
        case EAGAIN: "more connections wait there than its server takes"
        case ENAMETOOLONG: "its path is longer than one may be"
        case ENOTSOCK: "it is no socket"
        default: "error \(errno)"
        }
      return "The socket \(Payload.shown(path, limit: 256)) cannot be connected to: \(cause)."
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
    case .identityRequired: "The server wants a certificate of this client, and none is set."
    case .identityRefused: "The server refuses the certificate of this client."
    }
  }
}

extension String {
  var orNil: String? { isEmpty ? nil : self }
}
