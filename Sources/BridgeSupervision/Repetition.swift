/// Whether an operation may be run again.
public enum Repetition: Sendable {
  /// It may be run again although the last run may have had its effect.
  case idempotent
  /// It is run again only after errors that prove that the last run had no effect, such as no
  /// network, an unknown name or a rate limit. The default.
  case onlyWithoutEffect
}
