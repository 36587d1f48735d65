extension AppError {
  /// The specific cause and the next step: escaped, without secrets, safe to print (G-57).
  public var hint: String? { row.hint }

  /// The hint, sharpened by what is known about a connection's failure.
  public func hint(in context: FailureContext?) -> String? {
    advice(in: context)
  }

  /// What to show as the message: `userMessage`, or the hint where that is the default text, which
  /// does not help and would advise to retry a changed host key, and the plain fact where it
  /// promises to reconnect: only the plan decides that.
  public func shownMessage(in context: FailureContext? = nil) -> String {
    context?.fact(of: self) ?? row.shown() ?? row.message() ?? advice(in: context)
  }

  /// The hint to show under `shownMessage`; nil where it is in there already.
  public func hintBelowMessage(in context: FailureContext? = nil) -> String? {
    row.message() == nil ? nil : advice(in: context)
  }

  private func advice(in context: FailureContext?) -> String {
    let row = row
    guard self != .cancelled, let remedy = context?.remedy else { return row.hint }
    return row.fact().map { $0 + " " + remedy } ?? remedy
  }
}
