package import BridgeErrors

/// An error that ends the program, with all that is known about it.
package struct CommandFailure: Error, Equatable {
  /// The host on the way that a failure is about.
  package struct JumpHost: Sendable, Equatable {
    /// Who logs in where, as ssh says it.
    package var login: SSHWords.Login
    /// A sentence with its place on the way.
    package var words: String

    package init(login: SSHWords.Login, words: String) {
      self.login = login
      self.words = words
    }
  }

  /// The error.
  package var error: AppError
  /// The context of a connection's failure.
  package var context: FailureContext?
  /// Whether a running shell or command was lost with the connection.
  var endsSession = false
  /// Whether messages were sent and may not have arrived, whatever ended the link.
  var hasDoubtfulMessages = false
  /// Whether a configuration file is at fault, and not who typed the command.
  var isInFile = false
  /// What can be done, where that is known better than by the error and its context.
  package var remedy: CommandAdvice.Row?
  /// The jump host that it is about; nil where it is about the host itself.
  package var jumpHost: JumpHost?
  /// The exit code of the signal that ended it, where one did.
  var signal: Int32?

  /// Creates a failure.
  package init(
    error: AppError, context: FailureContext? = nil, endsSession: Bool = false,
    isInFile: Bool = false, signal: Int32? = nil
  ) {
    self.error = error
    self.context = context
    self.endsSession = endsSession
    self.isInFile = isInFile
    self.signal = signal
  }

  /// The failure of a link.
  package init(_ failure: ConnectionError) {
    self.init(error: failure.error, context: failure.context)
  }

  /// How the program ends.
  package var exitCode: Int32 {
    if let signal { return signal }
    if hasDoubtfulMessages, error != .cancelled { return ExitCode.outcomeUnknown.rawValue }
    let code = error.exitCode(in: context, endsSession: endsSession)
    return (isInFile && code == .usage ? .configuration : code).rawValue
  }
}
