package import ArgumentParser
import BridgeErrors
import BridgeSSH
import BridgeSession

/// `bridgectl rename`.
package struct RenameCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Give a durable session a name, or another one.",
    discussion: """
      Its program and its clients go on. A name that another session has that runs is refused.

      EXAMPLES:
          bridgectl rename build.example 3f2a nightly
          bridgectl rename build.example nightly weekly
      """)

  @OptionGroup package var link: LinkArguments

  @Argument(help: SessionArgument.help)
  package var session: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "NAME"))
  package var name: String

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let (link, session, name) = (link, session, name)
    let options = { () throws(AppError) in try StartRequest.check(name, field: "NAME") }
    await SessionArgument.run(link, session, options) { (selector, _) in
      SessionQuery.Body(ask: { scope async throws(AppError) -> RunContext.Ending in
        let id = try await scope.resolve(selector)
        do throws(AppError) {
          _ = try await scope.sessions.rename(id, to: Array(name.utf8))
        } catch {
          throw scope.context.naming("NAME", in: error)
        }
        return .success(.success)
      })
    }
  }
}
