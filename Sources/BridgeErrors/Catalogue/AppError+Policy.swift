extension AppError {
  /// The longest server-given delay that is waited for without a person, in seconds.
  static let longestWait = 300

  /// What may happen by itself: by the failure's kind where a connection failed, else by the row of
  /// the catalogue.
  ///
  /// - Parameters:
  ///   - context: what is known about a connection's failure; nil for an operation.
  ///   - isFirstDial: whether the connection was never up.
  public func retryClass(
    in context: FailureContext? = nil, isFirstDial: Bool = false
  ) -> RetryClass {
    guard let context, self != .cancelled else { return row.automatic }
    return context.kind.retryClass(isFirstDial: isFirstDial)
  }

  /// The exit code of a program that ends with this error.
  ///
  /// - Parameters:
  ///   - context: what is known about a connection's failure; nil for an operation.
  ///   - endsSession: whether a running shell or command was lost with the connection.
  public func exitCode(
    in context: FailureContext? = nil, endsSession: Bool = false
  ) -> ExitCode {
    switch self {
    // Whatever kept the outcome from us: what was started may have run.
    case .cancelled, .sshOutcomeUnknown, .durableSessionOutcomeUnknown: return row.exit
    default: return context?.kind.exitCode(endsSession: endsSession) ?? row.exit
    }
  }

  /// The wait that the peer requires before the next request, in seconds.
  public func retryAfter(in context: FailureContext? = nil) -> Int? {
    if case .apiRateLimited(let seconds?) = self { return seconds }
    if case .sshServerBusy(_, let seconds?) = self { return seconds }
    return context?.retryAfter
  }
}
