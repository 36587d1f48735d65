/// What an option handler throws for an option that it does not carry out: the error stays.
public struct OptionUnavailable: Error {
  /// An option that is not carried out.
  public init() {}
}
