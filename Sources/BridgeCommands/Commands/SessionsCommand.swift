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
      Prints one line per session, the newest last. Reads files only; no keeper is contacted. With \
      --json each line of standard output is an object (docs/events.md).

      EXAMPLES:
          bridgectl sessions build
          bridgectl sessions --json build | jq -r 'select(.state == "running").id'
      """)

  @OptionGroup package var link: LinkOptions

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    await SessionQuery.run(over: link, Self.list)
  }

  @Sendable private static func list(
    _ scope: SessionQuery.Scope
  ) async throws(AppError) -> RunContext.Ending {
    let sessions = try await scope.sessions.list()
    guard scope.context.request.isJSON else {
      return await scope.write(SessionText.table(sessions, now: WallClock.seconds))
    }
    let lines = SessionText.sorted(sessions).map { SessionText.line($0).text + "\n" }
    return await scope.write(lines.joined())
  }
}
