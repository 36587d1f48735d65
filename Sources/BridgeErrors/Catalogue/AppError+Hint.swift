extension AppError {
  /// The specific cause and the next step: escaped, without secrets, safe to print (G-57).
  public var hint: String? { row.hint }

  /// The hint, sharpened by what is known about a connection's failure.
  public func hint(in context: FailureContext?) -> String? {
    advice(in: context)
  }

  /// The cause, to show as the message: `userMessage`, or the fact where that is the default text,
  /// which does not help and would advise to retry a changed host key, or where it promises to
  /// reconnect: only the plan decides that.
  public func shownMessage(in context: FailureContext? = nil) -> String {
    let row = row
    return context?.fact(of: self) ?? refusal(in: context) ?? row.shown() ?? row.message()
      ?? row.fact() ?? row.remedy
  }

  /// What the host has not done after the login, to lead on to another one for instance: it was
  /// connected to. Likewise of a port of this machine that cannot be had: nothing was connected to.
  private func refusal(in context: FailureContext?) -> String? {
    guard case .sshConnectionFailed(let host, let reason) = self, let context,
      context.phase.isAfterLogin || context.kind == .channelDenied || context.isOfOwnPort
    else { return nil }
    return "\(Payload.exact(host)): \(Payload.exact(reason))"
  }

  /// The remedy, to show under `shownMessage`; nil where that says all there is to say.
  public func hintBelowMessage(in context: FailureContext? = nil) -> String? {
    let row = row
    return row.messageSaysAll ? nil : context?.remedy ?? row.remedy
  }

  private func advice(in context: FailureContext?) -> String {
    let row = row
    guard self != .cancelled, let context else { return row.hint }
    let fact = row.message() == nil ? context.fact(of: self) ?? row.fact() : nil
    let command = context.command.map { "`\($0)`" }
    return [fact, context.remedy ?? row.remedy, command].compactMap(\.self).joined(separator: " ")
  }
}
