package import ArgumentParser
import BridgeErrors
import BridgeSession
import BridgeSessionProtocol

/// `bridgectl prune`.
package struct PruneCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Remove ended sessions, with their output and exit status.",
    discussion: """
      Without SESSION all that have ended; they are removed by themselves after 7 days. What runs \
      is left alone; one whose end a full disk did not take is removed where SESSION names it.

      EXAMPLES:
          bridgectl prune build.example
          bridgectl prune build.example nightly
      """)

  @OptionGroup package var link: LinkArguments

  @Argument(
    help: ArgumentHelp(
      "The session: its id, a unique beginning of it, or its name; all that have ended without.",
      valueName: "SESSION"))
  package var session: String?

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    guard let session else {
      await SessionQuery.run(over: link) { scope async throws(AppError) -> RunContext.Ending in
        await Self.report(try await scope.sessions.forget(), scope)
      }
    }
    await SessionArgument.run(link, session) { selector in
      let removing = OnceValue<SessionStatus>()
      return SessionQuery.Body(ask: { scope async throws(AppError) -> RunContext.Ending in
        try await Self.remove(session, try await scope.resolve(selector), removing, scope)
      })
    }
  }

  /// - Parameter removing: what an earlier request was to remove, whose answer was lost.
  private static func remove(
    _ session: String, _ id: SessionID, _ removing: OnceValue<SessionStatus>,
    _ scope: SessionQuery.Scope
  ) async throws(AppError) -> RunContext.Ending {
    let all = try await scope.sessions.list()
    if let status = all.first(where: { $0.session == id }) {
      guard !status.isRunning, status.state != .claimed else {
        throw refusal(of: session, "runs: `bridgectl kill` ends it.")
      }
      removing.set(status)
    } else if let status = removing.current {
      return await report([status], scope)
    }
    let removed = try await scope.sessions.forget(id)
    guard !removed.isEmpty else {
      throw refusal(
        of: session,
        "has ended, and a client still reads its output, or has lost its link a moment ago: end "
          + "that client, or try again.")
    }
    return await report(removed, scope)
  }

  private static func refusal(of session: String, _ reason: String) -> AppError {
    .validationError(
      field: "SESSION", message: "\(PeerText.escaped(session, limit: 64)) \(reason)")
  }

  private static func report(
    _ removed: [SessionStatus], _ scope: SessionQuery.Scope
  ) async -> RunContext.Ending {
    if scope.context.request.isJSON {
      return await scope.write(removed.map { SessionText.line($0).text + "\n" }.joined())
    }
    let bytes = removed.reduce(0) { $0 + Int(clamping: $1.newest - min($1.oldest, $1.newest)) }
    let count = Counted.text(removed.count, "ended session")
    scope.context.reporter.log("bridgectl: \(count) removed (\(CopyProgress.size(bytes))).")
    return .success(.success)
  }
}
