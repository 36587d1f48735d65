#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension AppError: UserFacingError, LocalizedError {
  /// The case without its payload, for logs and machines (S1-147).
  public var caseName: String { row.caseName }

  /// What it is, in one to four words (S1-59…S1-68).
  public var title: String { row.title }

  /// What went wrong, in words for the person it happened to (S1-69…S1-83, G-01). Secrets that a
  /// payload carries are left out.
  public var userMessage: String { row.userMessage }

  /// What the person can do (S1-84…S1-91).
  public var recoveryOptions: [ErrorRecoveryOption] { row.options() }

  /// The name of an SF Symbol (S1-92…S1-101).
  public var icon: String { row.icon }

  /// How much it hinders (S1-102…S1-105).
  public var severity: ErrorSeverity { row.severity }

  /// The part of the product it belongs to.
  public var domain: ErrorDomain { row.domain }

  /// `userMessage`.
  public var errorDescription: String? { userMessage }

  /// `hint`.
  public var recoverySuggestion: String? { hint }

  /// The log level (S1-142…S1-145); debug for cancellation, which is no failure.
  public var logLevel: ErrorLogLevel { self == .cancelled ? .debug : ErrorLogLevel(severity) }

  /// What a log line carries beside its text (S1-146…S1-155): escaped, bounded, without secrets.
  public var logMetadata: [String: String] {
    let row = row
    var metadata = ["error_type": row.caseName, "severity": row.severity.name]
    for (key, value) in row.metadata() { metadata[key] = PeerText.escaped(value) }
    return metadata
  }
}

extension CatalogueRow {
  var userMessage: String { message() ?? Self.defaultMessage }
}
