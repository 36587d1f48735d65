extension FailureContext {
  /// What is known about an SSH failure beside its typed error.
  public init(sshFailure failure: SSHFailure) {
    self.init(
      kind: failure.kind, phase: failure.phase, host: failure.host, address: failure.address,
      port: failure.port, native: NativeFailure(failure),
      disconnectReason: failure.disconnectReason,
      detail: failure.contextDetail, command: failure.removal)
    acceptedMethods = failure.acceptedMethods
    limit = failure.limit
  }

  /// What is known about a WebSocket failure beside its typed error.
  public init(webSocketFailure failure: WebSocketFailure) {
    self.init(
      kind: failure.kind, phase: failure.phase, host: failure.host, port: failure.port,
      native: NativeFailure(failure), detail: failure.contextDetail,
      retryAfter: failure.retryAfter,
      proxy: failure.proxyWords == nil ? nil : failure.proxy.map { Payload.shown($0, limit: 320) })
    limit = failure.limit
  }
}

extension SSHFailure {
  /// The typed error and what is known beside it.
  public var typed: ConnectionError {
    ConnectionError(AppError(sshError: self), context: FailureContext(sshFailure: self))
  }

  fileprivate var removal: String? {
    guard case .hostKeyChanged(_, let removal?) = observation else { return nil }
    return PeerText.escaped(removal, limit: 2048)
  }

  fileprivate var contextDetail: String? {
    switch observation {
    case .notSSH(_, let location?): Payload.address(location)
    case .algorithmMismatch(let detail), .hostKeyChanged(let detail, _),
      .hostKeyRevoked(let detail), .hostKeyNewType(_, let detail), .hostKeyUnknown(_, let detail?):
      Payload.shown(detail)
    case .keyUnusable(let reason), .agentUnavailable(let reason): Payload.shown(reason)
    case .outputCut(_, let ending): Payload.shown(ending)
    case .outputLost(let detail): Payload.shown(detail)
    case .versionLineTooLong(let line): Payload.shown(line)
    case .deadline: proxyEnding.map { Payload.shown($0) }
    case .notSSH, .nameUnknown, .nameTimeout, .offline, .silent, .hostKeyUnknown,
      .channelRefused, .noExitStatus, .closedWithoutStatus, .cancelled:
      nil
    case nil where kind == .authenticationRefused: user.isEmpty ? nil : Payload.shown(user)
    case nil: proxyEnding.map { Payload.shown($0) }
    }
  }
}

extension WebSocketFailure {
  /// The typed error and what is known beside it.
  public var typed: ConnectionError {
    if case .elsewhere(let failure) = observation, failure.context != nil { return failure }
    return ConnectionError(
      AppError(webSocketFailure: self), context: FailureContext(webSocketFailure: self))
  }

  fileprivate var retryAfter: Int? {
    switch observation {
    case .refusedUpgrade(_, let retryAfter, _, _), .refusedTunnel(_, _, let retryAfter, _):
      retryAfter
    case .elsewhere(let failure): failure.retryAfter
    case .nameUnknown, .nameTimeout, .offline, .dial, .deadline, .tls, .notWebSocket, .notProxy,
      .dropped, .closed, .unexplained, .overLimit, .pingTimeout, .invalidMessage,
      .internalFault, .cancelled:
      nil
    }
  }

  fileprivate var contextDetail: String? {
    switch observation {
    case .refusedUpgrade(_, _, _, let location?), .notWebSocket(_, let location?),
      .notProxy(_, let location?):
      Payload.address(location)
    case .elsewhere(let failure): failure.context?.detail
    case .nameUnknown, .nameTimeout, .offline, .dial, .deadline, .tls, .refusedUpgrade,
      .notWebSocket, .refusedTunnel, .notProxy, .dropped, .closed, .unexplained, .overLimit,
      .pingTimeout, .invalidMessage, .internalFault, .cancelled:
      nil
    }
  }
}

extension NativeFailure {
  /// The symbol of an end for which the library names no reason.
  static let unexplained = "unexplained"

  /// The code of the close frame that came; nil where none did (RFC 6455, 7.1.5: 1006).
  var closeCode: Int? {
    library == .libwebsockets && (1000...4999).contains(code) && code != 1006 ? code : nil
  }

  fileprivate init(_ failure: SSHFailure) {
    self.init(
      library: failure.code == .none ? Self.library(in: failure.phase) : .libssh2,
      code: failure.code.rawValue, symbol: failure.code.symbol,
      text: Payload.shown(failure.message, limit: PeerText.limit), socket: failure.socket)
  }

  fileprivate init?(_ failure: WebSocketFailure) {
    switch failure.observation {
    case .dial(let errno):
      self.init(library: .system, code: Int(errno), socket: .failed(errno: errno))
    case .closed(let code, let reason):
      self.init(
        library: .libwebsockets, code: code ?? 0,
        text: Payload.shown(reason, limit: PeerText.limit),
        socket: failure.socket)
    case .nameUnknown, .nameTimeout:
      self.init(library: .resolver, code: 0, socket: failure.socket)
    case .tls:
      self.init(library: .openssl, code: 0, socket: failure.socket)
    case .unexplained:
      self.init(
        library: .libwebsockets, code: 0, symbol: Self.unexplained, socket: failure.socket)
    case .offline, .deadline, .refusedUpgrade, .notWebSocket, .dropped, .overLimit, .pingTimeout,
      .invalidMessage, .internalFault:
      self.init(library: .libwebsockets, code: 0, socket: failure.socket)
    case .elsewhere, .refusedTunnel, .notProxy, .cancelled: return nil
    }
  }

  private static func library(in phase: ConnectionPhase) -> Library {
    phase == .resolve ? .resolver : .system
  }
}
