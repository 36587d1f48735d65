import BridgeFaults
import Foundation

extension FieldClient {
  /// A shell with a prompt, a flood that Ctrl-C ends, and a status.
  func shell() async throws -> Finding {
    let (seen, outcome, time) = try await flood(["connect"] + link + [target])
    let expected = Seen(code: 5, output: "ready alive", runs: 0)
    let finding = try await Finding(outcome, seen, expected: expected) {
      try await flood(["-tt"] + options + [target], program: "/usr/bin/ssh").0
    }
    return finding == .right() ? .right(time) : finding
  }

  private func flood(
    _ arguments: [String], program: String = Self.program
  ) async throws -> (Seen, Outcome, time: String) {
    let (terminal, start, child) = try screen(arguments, program: program)
    var screen = start
    return try await withTaskCancellationHandler {
      var words: [String] = []
      var time = ""
      if await greets(&screen, terminal, #"echo rea""dy"#) {
        words.append("ready")
        terminal.type("yes\r")
        _ = await screen.shows("y\r\ny\r\ny\r\n")
        let pressed = ContinuousClock.now
        terminal.type("\u{3}")
        terminal.type(#"echo al""ive"# + "\r")
        if await screen.shows("alive") {
          words.append("alive")
          let tenths = (ContinuousClock.now - pressed) / .milliseconds(100)
          time = "Ctrl-C \(tenths.rounded() / 10) s"
        }
        terminal.type("exit 5\r")
      }
      let code = await screen.end()
      guard !Task.isCancelled else { throw GivenUp(last: screen.tail) }
      return (
        Seen(code: code, output: words.joined(separator: " "), runs: 0),
        Outcome(code: code, output: [], error: screen.plainTranscript), time
      )
    } onCancel: {
      child.signal(SIGKILL)
    }
  }

  /// A shell whose link breaks.
  func shellThroughOutage() async throws -> Finding {
    let (terminal, start, child) = try screen(["connect"] + link + [target])
    var screen = start
    return try await withTaskCancellationHandler {
      var leaving: Task<Void, any Error>?
      let isReady = await greets(&screen, terminal, #"cd /; echo rea""dy"#)
      if isReady {
        try await world.breakLinks()
        // What was typed into a broken link may be lost, and the user types it again.
        let typing = typing("echo dir=$PWD=", into: terminal)
        _ = await screen.shows("dir=/")
        typing.cancel()
        _ = await typing.result
        terminal.type("exit 5")
        // The first Enter may be the one that sends what was typed blindly.
        leaving = self.typing("", into: terminal)
      }
      defer { leaving?.cancel() }
      let code = await screen.end()
      guard !Task.isCancelled else { throw GivenUp(last: screen.tail) }
      let outcome = Outcome(code: code, output: [], error: screen.plainTranscript)
      let isSame = screen.transcript.contains("dir=/=")
      let isNew = screen.words.contains("new shell")
      switch (isReady, code) {
      case (true, 5) where isSame && !isNew: return .right()
      case (true, 5) where isNew && !isSame: return .right("a new shell, and says so")
      default:
        return try await Finding(
          outcome, Seen(code: code, output: isReady ? "ready" : "", runs: 0),
          expected: Seen(code: 5, output: "ready dir", runs: 0)
        ) {
          guard !isReady else { return nil }
          let (seen, _, _) = try await flood(["-tt"] + options + [target], program: "/usr/bin/ssh")
          return seen
        }
      }
    } onCancel: {
      child.signal(SIGKILL)
    }
  }
}

extension FieldClient {
  /// Where a story was when its time was over.
  struct GivenUp: Error, CustomStringConvertible {
    let last: String
    var description: String { "the screen: \(last.debugDescription)" }
  }

  /// Types a line every 2 s, until it is canceled.
  private func typing(_ line: String, into terminal: Terminal, times: Int = .max) -> Task<
    Void, any Error
  > {
    Task {
      for _ in 0..<times {
        terminal.type(line + "\r")
        try await ContinuousClock().sleep(for: .seconds(2))
      }
      // No answer to any: the user goes.
      terminal.type("exit 5\r")
    }
  }

  /// Types a line until it is answered with "ready": a start-up file may read the first one.
  private func greets(_ screen: inout Screen, _ terminal: Terminal, _ line: String) async -> Bool {
    let typing = typing(line, into: terminal, times: slowness)
    let isReady = await screen.shows("ready")
    // A key that comes later may be one of the banner's.
    typing.cancel()
    _ = await typing.result
    return isReady
  }

  /// How many lines a user types before the shell is given up: some servers think for 20 s, twice.
  private var slowness: Int { world.world.name == "slow-login" ? 30 : 12 }
}

extension Screen {
  /// What was written last.
  fileprivate var tail: String { String(transcript.suffix(300)) }

  /// The transcript in lines as on pipes.
  fileprivate var plainTranscript: String { transcript.replacing("\r\n", with: "\n") }
}
