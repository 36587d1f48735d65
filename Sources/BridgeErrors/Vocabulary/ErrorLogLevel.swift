/// A log level without a logging library (S1-142…S1-145).
public enum ErrorLogLevel: String, Sendable, CaseIterable {
  /// Only for cancellation, which is no failure.
  case debug
  /// Worth knowing.
  case info
  /// Worth attention.
  case warning
  /// An operation failed.
  case error
  /// The most severe: "fault" in Apple's unified log, "critical" in swift-log.
  case fault

  /// The level of a severity.
  public init(_ severity: ErrorSeverity) {
    switch severity {
    case .info: self = .info
    case .warning: self = .warning
    case .error: self = .error
    case .critical: self = .fault
    }
  }
}
