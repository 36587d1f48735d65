package import BridgeErrors

/// How a run ends: its exit code, and what is said at the end.
package struct RunEnding: Sendable, Equatable {
  /// The last words.
  package enum Words: Sendable, Equatable {
    /// Nothing is said.
    case none
    /// That the user disconnected.
    case disconnected
    /// What went wrong.
    case failure(CommandFailure)
  }

  /// What the ending depends on besides its cause.
  package struct Circumstances: Sendable, Equatable {
    /// Whether it would have gone on forever: a signal is the way out.
    package var isOpenEnded = false
    /// Whether the link was ever up.
    package var wasUp = false
    /// Whether a remote shell had the keyboard.
    package var hadKeyboard = false
    /// Whether standard error is a terminal.
    package var isTerminal = false

    /// None of it holds.
    package init() {}
  }

  /// The exit code.
  package var code: Int32
  /// The last words.
  package var words: Words
  /// Whether the cursor is to leave its line first.
  package var leavesLine: Bool

  /// Whether the last words are those of a failure.
  package var isFailure: Bool { if case .failure = words { true } else { false } }

  /// The ending of a run that came to `result`, or that a signal ended, with its exit code.
  package init(
    _ result: Result<ExitCode, CommandFailure>, signal: Int32?, _ circumstances: Circumstances
  ) {
    (code, words) = Self.outcome(result, signal, circumstances)
    // The cursor stands behind a prompt of the remote side, or behind "^C".
    let isMidLine = circumstances.hadKeyboard || (signal == 130 && circumstances.isTerminal)
    let isSuccess = if case .success = result { true } else { false }
    leavesLine = isMidLine && (signal != nil || !isSuccess)
  }

  private static func outcome(
    _ result: Result<ExitCode, CommandFailure>, _ signal: Int32?, _ circumstances: Circumstances
  ) -> (Int32, Words) {
    if let signal {
      guard circumstances.isOpenEnded, circumstances.wasUp else {
        return (signal, .failure(CommandFailure(error: .cancelled, signal: signal)))
      }
      // SIGTERM ends a service, and SIGHUP what a program was started for: nothing went wrong.
      return (signal, signal == 130 ? .disconnected : .none)
    }
    switch result {
    case .success(let code): return (code.rawValue, .none)
    case .failure(let failure):
      // A peer that has closed as agreed is no failure.
      let code = failure.exitCode
      return (code, code == 0 ? .none : .failure(failure))
    }
  }
}
