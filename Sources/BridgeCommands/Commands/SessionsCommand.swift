package import ArgumentParser
import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal

/// `bridgectl sessions`.
package struct SessionsCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "List the durable sessions on a host.",
    discussion: """
      Prints one line per session: those that run first, the newest last. KEPT is the output that \
      is kept, in bytes; CLIENTS how many are attached; ENDS what ends the program. On a terminal \
      what does not fit is left out. Reads files only; no keeper is contacted. With --json each \
      line of standard output is an object (docs/events.md).

      EXAMPLES:
          bridgectl sessions build
          bridgectl sessions --running build
          bridgectl sessions --json build | jq -r 'select(.state == "running").id'
      """)

  @Flag(help: "Only those whose program runs.")
  package var running = false

  @OptionGroup package var link: LinkArguments

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let isLimited = running
    await SessionQuery.run(over: link) { scope async throws(AppError) -> RunContext.Ending in
      try await Self.list(scope, onlyRunning: isLimited)
    }
  }

  private static func list(
    _ scope: SessionQuery.Scope, onlyRunning isLimited: Bool
  ) async throws(AppError) -> RunContext.Ending {
    let sessions = try await scope.sessions.list().filter { !isLimited || $0.isRunning }
    guard scope.context.request.isJSON else {
      let reporter = scope.context.reporter
      // A person sees that there was an answer; a script reads an empty list.
      if sessions.isEmpty, reporter.style.isTerminal {
        let verb = isLimited ? "runs" : "is"
        reporter.log("bridgectl: no durable session \(verb) on \(reporter.style.target).")
      }
      let width =
        scope.context.local.outputIsTerminal ? TerminalModes.size(of: 1)?.columns : nil
      return await scope.write(SessionTable.text(sessions, now: WallClock.seconds, width: width))
    }
    let lines = SessionText.sorted(sessions).map { SessionText.line($0).text + "\n" }
    return await scope.write(lines.joined())
  }
}
