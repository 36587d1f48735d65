#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// The order of evidence: what we decided or saw ourselves, resources of this machine, the server's
// own words that it throttles, the reason of its DISCONNECT, the library's code together with the
// state of our socket. Text is looked at where nothing else tells two causes apart.
extension SSHFailure {
  /// The row of the failure table.
  public var kind: FailureKind {
    if let observation, !isThrottled { return Self.kind(of: observation, in: phase) }
    if code == .allocation || socket.lacksLocalResource { return .localResource }
    if isThrottled { return .throttled }
    if phase == .dial, case .failed(let errno) = socket { return FailureKind(dialErrno: errno) }
    if let disconnectReason, let kind = kind(ofDisconnect: disconnectReason) { return kind }
    return kindByCode
  }

  private static func kind(
    of observation: Observation, in phase: ConnectionPhase
  ) -> FailureKind {
    switch observation {
    case .nameUnknown: .nameUnknown
    case .nameTimeout: .nameTimeout
    case .offline: .offline
    case .deadline: kind(ofDeadlineIn: phase)
    case .silent: .linkSilent
    case .notSSH: .notTheProtocol
    case .algorithmMismatch: .algorithmMismatch
    case .hostKeyUnknown: .hostKeyUnknown
    case .hostKeyChanged: .hostKeyChanged
    case .hostKeyRevoked: .hostKeyRevoked
    case .hostKeyNewType: .hostKeyNewType
    case .keyUnusable: .keyUnusable
    case .agentUnavailable: .agentUnavailable
    case .channelRefused(let reason, let hasTarget): kind(ofChannel: reason, hasTarget)
    case .noExitStatus, .outputCut: .outcomeUnknown
    case .closedWithoutStatus: .noStatus
    case .outputLost: .outputLost
    case .versionLineTooLong: .versionLineTooLong
    case .cancelled: .cancelled
    }
  }

  private static func kind(ofDeadlineIn phase: ConnectionPhase) -> FailureKind {
    switch phase {
    case .resolve: .nameTimeout
    case .dial: .dialTimeout
    case .banner, .keyExchange, .hostKey, .authenticate, .openChannel, .execute, .stream,
      .upgrade, .close:
      .silent
    }
  }

  /// RFC 4254, 5.1: 1 prohibited, 2 connect failed, 3 unknown type, 4 resource shortage. sshd says
  /// "connect failed" of a session, too, when there are MaxSessions of them.
  private static func kind(ofChannel reason: Int, _ hasTarget: Bool) -> FailureKind {
    switch reason {
    case 2 where hasTarget: .targetRefused
    case 4: .throttled
    default: .channelDenied
    }
  }

  /// sshd's MaxStartups and PerSourcePenalties speak before the version line; others disconnect
  /// with reason 12 (too many connections). Neither means anything once authenticated.
  private var isThrottled: Bool {
    guard phase.isBeforeSession else { return false }
    if disconnectReason == 12 { return true }
    if case .notSSH(let seen, _) = observation { return Self.tellsThrottling(seen) }
    return observation == nil && Self.tellsThrottling(preBanner)
  }

  private static func tellsThrottling(_ text: String) -> Bool {
    !text.isEmpty
      && (text.contains("Exceeded MaxStartups") || text.contains("Not allowed at this time"))
  }

  /// RFC 4253, 11.1. OpenSSH says "Too many authentication failures" under reason 2, and most else
  /// too. After the login a reason says nothing of what had been done: a command may have run.
  private func kind(ofDisconnect reason: Int) -> FailureKind? {
    guard !phase.isAfterLogin else { return lost }
    return switch reason {
    case 13, 14, 15: .authenticationRefused
    case 2 where message.contains("Too many authentication failures"): .authenticationRefused
    // An algorithm mismatch is known to the library more exactly than to the server.
    case 2, 3, 5, 9: code == .kexFailure || message.isEmpty ? nil : .rejected
    case 1, 8: .rejected
    case 10, 11: lost
    default: nil
    }
  }

  private var kindByCode: FailureKind {
    switch code {
    case .kexFailure: .algorithmMismatch
    case .hostKeyInit, .hostKeySign: .hostKeyProof
    case .timeout, .socketTimeout: timedOut
    case .socketSend, .socketReceive, .socketDisconnect, .bannerSend: lost
    case .bannerReceive: preBanner.isEmpty ? lost : .notTheProtocol
    case .authenticationFailed, .publicKeyUnverified:
      socket == .open ? credentialKind : lost
    case .passwordExpired: .authenticationRefused
    case .file, .methodNone, .keyFileAuthenticationFailed: .keyUnusable
    case .agentProtocol, .methodNotSupported: .agentUnavailable
    case .channelFailure, .channelRequestDenied, .requestDenied: .channelDenied
    case .keyExchangeFailure: socket == .open ? .corrupted : lost
    case .socketNone where socket == .open && phase == .keyExchange: .corrupted
    case .invalidMAC, .decrypt, .protocolError, .windowExceeded, .packetExceeded, .bufferTooSmall,
      .outOfBoundary, .channelOutOfOrder, .zlib, .compression:
      .corrupted
    case .invalidArgument, .badUse, .invalidPollType, .publicKeyProtocol, .channelUnknown,
      .channelClosed, .channelEOFSent, .wouldBlock, .windowFull, .encrypt, .badSocket,
      .knownHosts, .randomness:
      .internalFault
    default: lost
    }
  }

  /// A user key that could not sign reports through the library's callback, not the server.
  private var credentialKind: FailureKind {
    code == .publicKeyUnverified && message.contains("Callback returned error")
      ? .keyUnusable : .authenticationRefused
  }

  private var timedOut: FailureKind {
    phase == .stream ? .linkSilent : Self.kind(ofDeadlineIn: phase)
  }

  /// The link is gone: what that means depends on how far we had come.
  private var lost: FailureKind {
    switch phase {
    case .resolve: .nameTimeout
    case .dial, .banner, .keyExchange, .hostKey, .authenticate, .upgrade: lostBeforeSession
    case .openChannel, .stream, .close: .linkLost
    case .execute: .outcomeUnknown
    }
  }
}

extension SSHFailure {
  /// What this machine gave up by itself was not closed by the server.
  private var lostBeforeSession: FailureKind {
    guard !socket.isTimedOut else { return .silent }
    guard case .failed(let errno) = socket else { return .dropped }
    return switch errno {
    case ENETDOWN: .offline
    case EHOSTUNREACH, ENETUNREACH: .unreachable
    default: .dropped
    }
  }
}

extension ConnectionPhase {
  /// Whether no user is authenticated yet.
  package var isBeforeSession: Bool {
    switch self {
    case .resolve, .dial, .banner, .keyExchange, .hostKey, .authenticate, .upgrade: true
    case .openChannel, .execute, .stream, .close: false
    }
  }
}

extension SocketCondition {
  /// Whether this machine gave the connection up since nothing came back (tcp(7)).
  package var isTimedOut: Bool { self == .failed(errno: ETIMEDOUT) }

  /// Whether this machine ran out of something, whatever the peer did.
  var lacksLocalResource: Bool {
    guard case .failed(let errno) = self else { return false }
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EADDRNOTAVAIL
  }

}

extension FailureKind {
  /// What a dial that ended with this `errno` means.
  init(dialErrno: Int32) {
    self =
      switch dialErrno {
      case EMFILE, ENFILE, ENOMEM, EADDRNOTAVAIL: .localResource
      case ENETDOWN: .offline
      case ETIMEDOUT: .dialTimeout
      case ECONNREFUSED: .refused
      case ECONNRESET, EPIPE: .dropped
      default: .unreachable
      }
  }
}
