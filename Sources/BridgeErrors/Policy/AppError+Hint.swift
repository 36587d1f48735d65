extension AppError {
  /// The specific cause and the next step, without secrets, safe to print. Never nil today; optional
  /// because a case may come that needs none.
  public var hint: String? { row.hint }

  /// The hint, sharpened by what is known about a connection's failure.
  public func hint(in context: FailureContext?) -> String? { row.hint }

  /// The message to show: `userMessage`, or where that is the default text, the hint.
  public func shownMessage(in context: FailureContext? = nil) -> String {
    let row = row
    return row.message() ?? hint(in: context) ?? row.hint
  }
}
