/// The error that an option handler throws for an option that it does not execute; the entry stays.
public struct OptionUnavailable: Error {
  /// Creates the error.
  public init() {}
}
