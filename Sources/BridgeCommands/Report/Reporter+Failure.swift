package import BridgeErrors

/// An error that ends the program, with all that is known about it.
package struct CommandFailure: Error {
  /// The error.
  package var error: AppError
  /// The context of a connection's failure.
  var context: FailureContext?
  /// Whether a running shell or command was lost with the connection.
  var endsSession = false
  /// Whether a configuration file is at fault, and not who typed the command.
  var isInFile = false
  /// The exit code of the signal that ended it, where one did.
  var signal: Int32?

  /// How the program ends.
  package var exitCode: Int32 {
    if let signal { return signal }
    let code = error.exitCode(in: context, endsSession: endsSession)
    return (isInFile && code == .usage ? .configuration : code).rawValue
  }
}

extension Reporter {
  /// The last words: the hint, then `bridgectl: [caseName] Title: message`.
  func fail(_ failure: CommandFailure) {
    event("error", isFinal: true) { line in
      line.add(failure.error, failure.context)
      line.add("exitCode", Int(failure.exitCode))
    }
    let lines = TerminalBanner.lastLines(
      failure.error, context: failure.context,
      advice: CommandAdvice.text(for: failure.error, in: failure.context))
    let end = style.isTerminal ? "\r\n" : "\n"
    show(lines.map { $0 + end }.joined())
  }
}
