import BridgeErrors

/// An error that ends the program, with all that is known about it.
struct CommandFailure: Error {
  /// The error.
  var error: AppError
  /// What is known about a connection's failure.
  var context: FailureContext?
  /// Whether a running shell or command was lost with the connection.
  var endsSession = false

  /// How the program ends.
  var exitCode: Int32 { error.exitCode(in: context, endsSession: endsSession).rawValue }
}

extension Reporter {
  /// The last words: the hint, then `bridgectl: [caseName] Title: message`.
  func fail(_ failure: CommandFailure) {
    event("error") { line in
      line.add(failure.error, failure.context)
      line.add("exitCode", Int(failure.exitCode))
    }
    let lines = TerminalBanner.lastLines(failure.error, context: failure.context)
    let end = style.showsProgress ? "\r\n" : "\n"
    show(lines.map { $0 + end }.joined())
  }
}
