/// What ended a connection: the typed error with all that is known beside it.
///
/// It travels whole, from the transport through the supervisor into events, queue and presentation;
/// public calls throw its `error`.
public struct ConnectionError: Error, Sendable, Equatable {
  /// What has happened, for callers and for people.
  public var error: AppError
  /// Where, how and why; nil where no connection failed, but an operation or a check before it.
  public var context: FailureContext?
  /// The retry class that the application chose in place of the failure table's; nil for that one.
  public var chosenClass: RetryClass?

  /// An error with what is known beside it.
  public init(_ error: AppError, context: FailureContext? = nil) {
    self.error = error
    self.context = context
  }

  /// The caller canceled.
  public static let cancelled = Self(.cancelled)

  /// The row of the failure table; nil without a context.
  public var kind: FailureKind? { context?.kind }

  /// What happens by itself.
  ///
  /// - Parameter isFirstDial: whether the connection was never up.
  public func retryClass(isFirstDial: Bool = false) -> RetryClass {
    chosenClass ?? error.retryClass(in: context, isFirstDial: isFirstDial)
  }

  /// The exit code of a program that ends with this failure.
  ///
  /// - Parameter endsSession: whether a running shell or command was lost with the connection.
  public func exitCode(endsSession: Bool = false) -> ExitCode {
    error.exitCode(in: context, endsSession: endsSession)
  }

  /// The wait that the peer requires before the next attempt, in seconds.
  public var retryAfter: Int? { error.retryAfter(in: context) }

  /// The specific cause and the next step.
  public var hint: String? { error.hint(in: context) }

  /// What to show as the message.
  public var shownMessage: String { error.shownMessage(in: context) }

  /// The remedy and a command for a person to copy, to show under `shownMessage`; nil where that
  /// says all there is to say.
  public var hintBelowMessage: String? {
    let parts = [error.hintBelowMessage(in: context), context?.command.map { "`\($0)`" }]
    let known = parts.compactMap(\.self)
    return known.isEmpty ? nil : known.joined(separator: " ")
  }
}
