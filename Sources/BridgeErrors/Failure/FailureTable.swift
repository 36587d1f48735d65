extension FailureKind {
  /// The row of the failure table. The compiler requires a line here when a kind is added; the row
  /// itself is in `Rows/`. `docs/failures.md` is printed from the rows.
  package var row: FailureRow {
    switch self {
    case .nameUnknown: .nameUnknown
    case .nameTimeout: .nameTimeout
    case .offline: .offline
    case .refused: .refused
    case .unreachable: .unreachable
    case .dialTimeout: .dialTimeout
    case .localResource: .localResource
    case .silent: .silent
    case .throttled: .throttled
    case .dropped: .dropped
    case .notTheProtocol: .notTheProtocol
    case .algorithmMismatch: .algorithmMismatch
    case .corrupted: .corrupted
    case .outputLost: .outputLost
    case .versionLineTooLong: .versionLineTooLong
    case .hostKeyProof: .hostKeyProof
    case .rejected: .rejected
    case .hostKeyUnknown: .hostKeyUnknown
    case .hostKeyChanged: .hostKeyChanged
    case .hostKeyRevoked: .hostKeyRevoked
    case .hostKeyNewType: .hostKeyNewType
    case .authenticationRefused: .authenticationRefused
    case .keyUnusable: .keyUnusable
    case .agentUnavailable: .agentUnavailable
    case .channelDenied: .channelDenied
    case .targetRefused: .targetRefused
    case .outcomeUnknown: .outcomeUnknown
    case .noStatus: .noStatus
    case .linkLost: .linkLost
    case .linkSilent: .linkSilent
    case .internalFault: .internalFault
    case .tls(let cause): .tls(cause)
    case .refusedUpgrade(let status): .refusedUpgrade(status)
    case .proxyRefused(let status): .proxyRefused(status)
    case .secureOnly: .secureOnly
    case .overLimit: .overLimit
    case .closedByPeer: .closedByPeer
    case .closedByApplication: .closedByApplication
    case .cancelled: .cancelled
    }
  }

  /// What happens by itself after a connection that failed for this reason.
  ///
  /// - Parameter isFirstDial: whether this connection was never up.
  public func retryClass(isFirstDial: Bool = false) -> RetryClass {
    isFirstDial ? row.firstRetry : row.retry
  }

  /// The exit code of a program that ends with this failure.
  ///
  /// - Parameter endsSession: whether a running shell or command was lost with the connection.
  public func exitCode(endsSession: Bool = false) -> ExitCode {
    endsSession ? row.sessionExit : row.exit
  }

  /// What a dial that failed for this reason costs the retry budget of its host.
  public var dialCost: DialCost { row.cost }

  /// What stops until a person has decided, where only a person can help.
  public var stops: FailureScope { row.stops }
}

extension FailureKind: CustomStringConvertible {
  /// The name in events and logs: `dropped`, `tls.expired`, `refusedUpgrade.503`.
  public var description: String { row.name }
}
