/// An error that can be shown to a person (S1-53).
public protocol UserFacingError: Error {
  /// What it is, in one to four words.
  var title: String { get }
  /// What went wrong, in words for the person it happened to.
  var userMessage: String { get }
  /// The options of the person, the recommended one first where the source has one.
  var recoveryOptions: [ErrorRecoveryOption] { get }
  /// The name of an SF Symbol.
  var icon: String { get }
  /// How much it hinders.
  var severity: ErrorSeverity { get }
}
