package import ArgumentParser
import BridgeErrors
import BridgeSession
import BridgeSessionProtocol

/// `bridgectl wait`.
package struct WaitCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait for the end of a durable session; exit with its program's status.",
    discussion: """
      The exit status is the program's (128 + n after signal n), or 74 where its keeper or its \
      machine died before the end was recorded. An ended session answers at once, for 7 days.

      EXAMPLES:
          bridgectl wait build.example build; echo $?
      """)

  @OptionGroup package var link: LinkArguments

  @Argument(help: SessionArgument.help)
  package var session: String

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let (link, session) = (link, session)
    await SessionArgument.run(link, session) { selector in
      SessionQuery.Body(ask: { scope async throws(AppError) -> RunContext.Ending in
        let id = try await scope.resolve(selector)
        let status = try await scope.sessions.wait(for: id) { scope.warnOfStall(id) }
        return scope.ending(of: status)
      })
    }
  }
}

/// SESSION of a command line.
enum SessionArgument {
  static let help = ArgumentHelp(
    "The session: its id, a unique beginning of it, or its name.", valueName: "SESSION")

  /// Asks about the session that `text` names; ends the process.
  static func run(
    _ link: LinkArguments, _ text: String,
    _ body: @escaping @Sendable (SessionSelector) -> SessionQuery.Body
  ) async -> Never {
    await run(link, text, { () throws(AppError) in }, { (selector, _) in body(selector) })
  }

  /// Asks about the session that `text` names, with `options`; ends the process. What was typed
  /// wrong is said before anything is dialed.
  static func run<Options: Sendable>(
    _ link: LinkArguments, _ text: String, _ options: () throws(AppError) -> Options,
    _ body: @escaping @Sendable (SessionSelector, Options) -> SessionQuery.Body
  ) async -> Never {
    let typed = Result { () throws(AppError) in (try SessionSelector(text), try options()) }
    await LinkCommand(options: link).run(
      { () throws(AppError) in
        _ = try typed.get()
        return try ConnectRequest(sessionsOf: link)
      },
      { context in
        switch typed {
        case .success(let (selector, options)): SessionQuery(context, body(selector, options))
        case .failure(let error): refused(context, error)
        }
      })
  }

  /// Work that fails at once.
  static func refused(_ context: RunContext, _ error: AppError) -> SessionQuery {
    SessionQuery(
      context,
      SessionQuery.Body(ask: { _ async throws(AppError) -> RunContext.Ending in throw error }))
  }
}
