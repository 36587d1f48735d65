import BridgeErrors

/// The observed facts of one connection, and what its end therefore means. libwebsockets reports
/// most ends alike; the kernel, OpenSSL and our own checks tell them apart.
struct WebSocketFacts: Sendable, Equatable {
  /// How far it came.
  enum Stage: Int, Sendable, Comparable {
    case dialing
    /// TCP is there; TLS may be under way.
    case connected
    /// The upgrade request is going out.
    case requested
    /// A whole HTTP answer came.
    case answered
    case established

    static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
  }

  /// The socket at the end.
  enum Socket: Sendable, Equatable {
    /// Only this side ended it.
    case open
    /// The peer sent a FIN.
    case finished
    /// It was reset, or never established.
    case gone
  }

  /// How OpenSSL saw a handshake fail.
  enum Handshake: Sendable, Equatable {
    /// The peer said why in an alert (RFC 8446, 6.2).
    case alert(Int, requestsIdentity: Bool)
    /// The received bytes were not TLS.
    case notTLS
  }

  /// The server's answer to the upgrade request.
  struct Answer: Sendable, Equatable {
    var status: Int
    var location: String?
    var retryAfter: Int?
    /// From an error envelope in the body.
    var message: String?
    var subprotocol: String?
  }

  /// A fault of what the peer sent, for which this side ended the connection.
  enum Fault: Sendable, Equatable {
    /// It breaks the protocol: a sentence.
    case broken(String)
    /// It is right, and longer than is taken here.
    case tooLong(WebSocketFailure.Bounded, limit: Int)
  }

  /// A close frame of the peer.
  struct Close: Sendable, Equatable {
    /// 1005 for an empty frame; nil where it was none of an orderly end.
    var code: Int?
    var reason: String
  }

  var isSecure: Bool
  /// Whether this client shows a certificate where the server requests one.
  var hasIdentity = false
  var stage = Stage.dialing
  var socket = Socket.open
  /// How many bytes came.
  var bytesHeard: UInt64 = 0
  /// Whether an HTTP answer began.
  var hasStatusLine = false
  var tlsCause: FailureKind.TLSCause?
  var handshake: Handshake?
  var answer: Answer?
  var close: Close?
  /// The reason why reading was stopped.
  var fault: Fault?

  init(isSecure: Bool) { self.isSecure = isSecure }

  /// The meaning of the end; nil when only the dial failed and its errno is still to be found out.
  var observation: WebSocketFailure.Observation? {
    switch stage {
    case .dialing: nil
    case .connected: isSecure ? handshakeEnd : .dropped
    case .requested: requestEnd
    case .answered: answerEnd
    case .established: streamEnd
    }
  }

  private var handshakeEnd: WebSocketFailure.Observation {
    if let tlsCause { return .tls(tlsCause) }
    switch handshake {
    case .alert(let number, let isRequested):
      let wanted: FailureKind.TLSCause? = isRequested && !hasIdentity ? .identityRequired : nil
      return FailureKind.TLSCause(alert: number, without: wanted).map { .tls($0) }
        ?? .notWebSocket(seen: "TLS alert \(number)", location: nil)
    case .notTLS: return .tls(.notTLS)
    case nil: return .dropped
    }
  }

  private var requestEnd: WebSocketFailure.Observation {
    if tlsCause != nil || handshake != nil { return handshakeEnd }
    // A reset may have swept a good answer away; over TLS bytes came in any case. An answer that
    // breaks off is one of a server that went in the middle of it.
    let isOther = bytesHeard > Self.versionLength && !isSecure && !hasStatusLine
    if isHeaderTooLong { return .overLimit(.header, limit: Self.headerLimit) }
    let isNonsense = socket == .open || (socket == .finished && isOther)
    return isNonsense ? .notWebSocket(seen: "no HTTP answer", location: nil) : .dropped
  }

  /// The library counts names and values only, and stops at its limit without a word.
  private var isHeaderTooLong: Bool {
    if socket == .open, hasStatusLine { return bytesHeard > UInt64(Self.headerLimit / 2) }
    return bytesHeard > UInt64(Self.headerLimit) && (hasStatusLine || !isSecure)
  }

  /// The longest header of an answer that is taken, in bytes.
  static let headerLimit = 16 << 10

  /// "HTTP/1.1 " (RFC 9112, 4): so much of an answer does not tell whether it is one.
  private static let versionLength = 9

  private var answerEnd: WebSocketFailure.Observation {
    guard let answer else { return .dropped }
    guard answer.status == 101 else {
      return .refusedUpgrade(
        status: answer.status, retryAfter: answer.retryAfter, message: answer.message,
        location: answer.location)
    }
    return .notWebSocket(
      seen: answer.subprotocol.map { "an answer with the subprotocol \(PeerText.escaped($0))" }
        ?? "an answer to another handshake", location: nil)
  }

  private var streamEnd: WebSocketFailure.Observation {
    switch fault {
    case .broken(let detail): return .invalidMessage(detail: detail)
    case .tooLong(let what, let limit): return .overLimit(what, limit: limit)
    case nil: break
    }
    if let close { return .closed(code: close.code, reason: close.reason) }
    guard socket == .open else { return .closed(code: nil, reason: "") }
    return .unexplained
  }

  /// The state in the failure context's form.
  var condition: SocketCondition {
    switch socket {
    case .open: .open
    case .finished: .endOfFile
    case .gone: .failed(errno: Self.connectionReset)
    }
  }

  /// ECONNRESET (errno(3), Linux).
  private static let connectionReset: Int32 = 104
}

extension FailureKind.TLSCause {
  /// What a server's alert says of the certificate of this client; nil for what is of something
  /// else (RFC 8446, 6.2).
  ///
  /// - Parameter cause: what it says where a certificate was requested and none was shown.
  init?(alert number: Int, without cause: Self?) {
    switch number {
    // certificate_required
    case 116: self = .identityRequired
    // handshake_failure, which servers of TLS 1.2 say for it (RFC 5246, 7.4.6).
    case 40:
      guard let cause else { return nil }
      self = cause
    // From bad_certificate to certificate_unknown, unknown_ca, access_denied.
    case 42...46, 48, 49: self = cause ?? .identityRefused
    default: return nil
    }
  }
}
