package import BridgeErrors
package import BridgeSessionProtocol

/// What goes wrong with a durable session, as errors for people: the one place where they are made.
package enum SessionFailure {
  /// The host declined or ended an attachment.
  package static func error(
    _ refusal: Refusal, host: String, session: SessionID
  ) -> AppError {
    switch refusal.code {
    case .unknownSession, .notStarted: .durableSessionNotFound(host: host, id: "\(session)")
    case .limit: .durableSessionFull(host: host)
    case .replaced: .durableSessionReplaced(host: host, by: client(in: refusal.text))
    case .conflict, .nameTaken: .durableSessionConflict(host: host, id: "\(session)")
    case .violation: .sshProtocolError(host: host, detail: refusal.text)
    case .storage:
      .fileWriteError(path: "\(host): the session's directory", reason: refusal.text)
    case .outcomeUnknown: .durableSessionOutcomeUnknown(host: host, reason: refusal.text)
    case .version:
      .durableSessionHostUnusable(host: host, reason: "\(otherVersion) of the protocol")
    case _: .durableSessionHostUnusable(host: host, reason: refusal.text)
    }
  }

  /// Refuses a program that no host could start.
  ///
  /// - Throws: `validationError`.
  package static func requireFit(_ spec: SessionSpec) throws(AppError) {
    let problem: String
    if let command = spec.command, command.count > longestArgument {
      let limit = (longestArgument + 1) >> 10
      problem = "The command is longer than \(limit) KiB, which no shell takes"
    } else if spec.payload.count > Int(Limits.start) {
      problem = "The command and its environment are longer than \(Limits.start >> 10) KiB"
    } else {
      return
    }
    throw .validationError(field: "command", message: "\(problem); send what is long as input.")
  }

  /// What Linux gives a program as one argument, without its end (execve(2), MAX_ARG_STRLEN).
  private static let longestArgument = 131_071

  /// Another host than the one of the program answers, or one that does not have what it had.
  package static func otherPlace(host: String) -> AppError {
    .durableSessionOutcomeUnknown(
      host: host,
      reason: "the program is on another machine than the one that answers now, or in a home "
        + "directory that is not there now; it may run")
  }

  /// The client that a text of the host names, and where it came from; empty where it names none.
  private static func client(in text: String) -> String {
    let words = text.split(separator: " ").map { $0.filter { $0 != "," } }
    guard let index = words.firstIndex(where: { Identifier(text: $0) != nil }) else { return "" }
    let place = words.dropFirst(index + 1).prefix(2)
    let isNamed = place.count == 2 && place.first == "from"
    return ([words[index]] + (isNamed ? place : [])).joined(separator: " ")
  }

  /// The answer broke the protocol.
  package static func error(_ failure: AnswerReader.Failure, host: String) -> AppError {
    switch failure {
    case .noMarker:
      .durableSessionHostUnusable(
        host: host,
        reason: "its start-up files printed more than 1 MiB before the answer; \(damaged)")
    case .violation(let violation) where violation.isText:
      .durableSessionHostUnusable(host: host, reason: foreignText)
    case .violation(let violation):
      .sshProtocolError(host: host, detail: "bridge-host: \(violation)")
    }
  }

  /// What starts a program was sent, and the answer to it is none: it may run.
  package static func unknownStart(_ error: AppError, host: String) -> AppError {
    switch error {
    case .durableSessionHostUnusable(_, let reason), .sshProtocolError(_, let reason):
      .durableSessionOutcomeUnknown(
        host: host, reason: "the program may have been started, but \(reason)")
    case _: error
    }
  }

  /// What a start-up file does to an answer.
  static let foreignText =
    "a program printed between what bridge-host sends. A start-up file (such as ~/.bashrc) runs "
    + "one in the background: send its output to /dev/null"

  /// The command ended before it answered.
  ///
  /// - Parameters:
  ///   - status: its exit status; nil after a signal.
  ///   - printed: the end of what it printed.
  package static func unanswered(
    status: Int?, printed: [UInt8], hasBegun: Bool, host: String
  ) -> AppError {
    if saysMissing(printed) {
      return .durableSessionHostUnusable(host: host, reason: notInstalled)
    }
    let text = String(decoding: printed, as: UTF8.self).trimmedLines
    let end = status.map { "with status \($0)" } ?? "without a status"
    let said = text.isEmpty || hasBegun ? "" : ": \(text)"
    // What `HostCommand` asks for says that there is none, or ends with a status of its own. Where
    // it ends well, it did not run.
    let reason: String
    if hasBegun {
      // It has said all, and what is behind that is not its own.
      reason = status == 0 ? foreignText : "bridge-host ended \(end)"
    } else {
      let subject =
        status == 0
        ? "\(otherProgram), which"
        : "the command that runs bridge-host"
      let mayBeDamaged = status == 0 ? text.isEmpty : status == nil || saysBroken(status)
      let cause = saysBroken(status) || !text.isEmpty ? damaged : redirected
      reason = "\(subject) ended \(end)\(said)" + (mayBeDamaged ? "; \(cause)" : "")
    }
    return .durableSessionHostUnusable(host: host, reason: reason)
  }

  private static let otherProgram = "its account runs another program than it is asked for"

  /// Whether the command that runs `bridge-host` ended well, without an answer.
  package static func isOfAnother(_ error: AppError) -> Bool {
    guard case .durableSessionHostUnusable(_, let reason) = error else { return false }
    return reason.hasPrefix(otherProgram)
  }

  /// A cause that looks like several others.
  private static let damaged = "its bridge-host may be damaged: `bridgectl install` replaces it"
  private static let redirected =
    "a start-up file of the login may redirect the output of all that follows, or \(damaged)"

  /// Whether a command that did not answer ended as one whose program cannot be executed: it is
  /// there (126, sh(1)), or was killed for what it did (SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV).
  static func saysBroken(_ status: Int?) -> Bool {
    status.map { $0 == 126 || [4, 5, 7, 8, 11].contains($0 - 128) } ?? false
  }

  /// Nothing answered within so many milliseconds.
  static func silent(host: String, _ time: Milliseconds) -> AppError {
    .durableSessionHostUnusable(
      host: host,
      reason: """
        \(nothingAnswered) \(time / 1000) s; a start-up file of the login may start another shell \
        or read standard input, its account may run another program than it is asked for, or a \
        bridge-host that is installed there may be damaged: `bridgectl install` replaces it
        """)
  }

  /// Whether an error says that nothing answered in time.
  package static func isOfSilence(_ error: AppError) -> Bool {
    guard case .durableSessionHostUnusable(_, let reason) = error else { return false }
    return reason.hasPrefix(nothingAnswered)
  }

  private static let nothingAnswered = "nothing answered within"

  /// Whether installing `bridge-host` mends what an error tells of.
  package static func isMendedByInstalling(_ error: AppError) -> Bool {
    guard case .durableSessionHostUnusable(_, let reason) = error else { return false }
    return isOfNoHostProgram(error) || reason.hasPrefix(otherVersion)
  }

  /// Whether an error says that there is no `bridge-host`.
  package static func isOfNoHostProgram(_ error: AppError) -> Bool {
    if case .durableSessionHostUnusable(_, notInstalled) = error { true } else { false }
  }

  /// Whether an error quotes a shell that could start no program: that is over once the account has
  /// processes or memory again, and says nothing of what is installed.
  package static func isOfAShortage(_ error: AppError) -> Bool {
    guard case .durableSessionHostUnusable(_, let reason) = error else { return false }
    let text = reason.lowercased()
    return shortages.contains { text.contains($0) }
  }

  /// The words of bash, dash and zsh, of tcsh, and of the C library (EAGAIN, ENOMEM).
  private static let shortages = [
    "fork", "no more processes", "resource temporarily unavailable", "cannot allocate memory",
  ]

  /// Whether the error is about one session whose keeper is stopped: others may be used.
  package static func isOfAStoppedKeeper(_ error: AppError) -> Bool {
    guard case .durableSessionHostUnusable(_, let reason) = error else { return false }
    return reason.hasPrefix("The keeper of ") && reason.hasSuffix("does not answer.")
  }

  /// Whether the account runs nothing, as nologin(8) says: nothing that is installed there would.
  package static func isOfAnAccountWithoutShell(_ error: AppError) -> Bool {
    guard case .durableSessionHostUnusable(_, let reason) = error else { return false }
    return reason.contains("This account is currently not available")
  }

  /// Whether a command printed that there is no `bridge-host`.
  package static func saysMissing(_ printed: [UInt8]) -> Bool {
    String(decoding: printed, as: UTF8.self).trimmedLines.hasSuffix(HostCommand.missing)
  }

  /// There is no `bridge-host` where it is looked for.
  package static let notInstalled = "bridge-host is not installed"

  /// The error of a session that was attached: `bridge-host` was there then, and installing another
  /// one would not be its own. Its program has run, whatever is left of it.
  package static func ofAttached(_ error: AppError) -> AppError {
    switch error {
    case .durableSessionHostUnusable(let host, let reason):
      .durableSessionOutcomeUnknown(
        host: host, reason: reason == notInstalled ? gone : "\(reason). The session may still run")
    case .durableSessionNotFound(let host, _):
      .durableSessionOutcomeUnknown(host: host, reason: removed)
    case _: error
    }
  }

  /// Only what has ended is removed, or goes with its home directory.
  private static let removed =
    "the session is not kept there any more: it ended and was pruned meanwhile, or its home "
    + "directory is not what it was"

  private static let gone =
    "bridge-host, which keeps this session, is not found there any more: is its home directory on "
    + "a disk that is away? The session may still run"

  /// The one that is there is of another time.
  static let otherVersion = "its bridge-host speaks another version"

  /// The exit status of an attaching `bridge-host` whose keeper died before it said how it ended
  /// (its `ExitStatus.unknownOutcome`).
  package static let lostKeeper = 74

  /// Why no end is recorded; nil where one is.
  package static func unknownEnd(_ end: ProgramEnd, host: String) -> AppError? {
    switch end {
    case .exited, .signaled: nil
    case .unknownKeeperDied:
      .durableSessionOutcomeUnknown(host: host, reason: "the keeper of the session died")
    case .orphaned:
      .durableSessionOutcomeUnknown(
        host: host,
        reason: "the keeper of the session was killed, and the program still runs, out of reach")
    case .unknownRebooted:
      .durableSessionOutcomeUnknown(host: host, reason: "the session was lost by a reboot")
    }
  }
}

extension String {
  /// Without white space at both ends.
  var trimmedLines: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(self[first...last])
  }
}
