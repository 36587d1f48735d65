/// What a failure stops until a person has decided.
public enum FailureScope: String, Sendable, CaseIterable {
  /// The connection that failed.
  case connection
  /// Every dial to the same host and port.
  case host
}
