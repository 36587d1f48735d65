package import ArgumentParser
import BridgeErrors
import BridgeSessionProtocol

/// `bridgectl attach`.
package struct AttachCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "attach",
    abstract: "Return to a durable session.",
    discussion: """
      Without SESSION it attaches to the only running one, and asks where several run. A session \
      on a terminal shows its screen again; one on pipes prints all output that is kept and \
      continues. ~d detaches: the program keeps running, and the exit status is 0. When the \
      program ends, its status is the exit status.

      One client writes. While another client does, you only read; --take takes over.

      EXAMPLES:
          bridgectl attach build.example
          bridgectl attach --take build.example 3f2a
          bridgectl attach --view build.example build
          bridgectl attach --keep-size build.example agent
      """)

  @Flag(help: "Only read; the arrow keys move the view where this terminal is smaller.")
  package var view = false

  @Flag(help: "Take over from the client that writes.")
  package var take = false

  @Flag(
    help: """
      Leave the program its size: a smaller terminal shows the part with the cursor; Alt and an \
      arrow key move it, and it follows the cursor again when something is typed.
      """)
  package var keepSize = false

  @OptionGroup package var agent: AgentOptions

  @OptionGroup package var screen: ScreenOptions

  @OptionGroup package var link: LinkArguments

  @Argument(help: SessionArgument.help)
  package var session: String?

  /// Creates the command with its defaults.
  package init() {}

  /// The session that is meant, and what to do there.
  ///
  /// - Throws: `validationError`.
  private func target() throws(AppError) -> DurableWork.Target {
    guard !(view && take) else {
      throw .validationError(field: "--view", message: "--view and --take cannot be combined.")
    }
    return .attach(try SessionSelector(session), view ? .viewer : .writer, takes: take)
  }

  /// Ends the process with the exit code.
  package func run() async throws {
    let link = link
    let target = Result { () throws(AppError) in try self.target() }
    let (keepSize, agent) = (keepSize, agent.wish)
    let screen = Result { () throws(AppError) in try ScreenRequest(self.screen) }
    let command = LinkCommand(options: link, isInteractive: { _, _, _ in true })
    await command.run(
      { () throws(AppError) in
        _ = try target.get()
        var request = try ConnectRequest(sessionsOf: link)
        request.screen = try screen.get()
        request.screen.keepsSize = keepSize
        request.forwardsAgent = agent
        return request
      },
      { context in
        switch target {
        case .success(let target): DurableWork(context, target)
        case .failure(let error): SessionArgument.refused(context, error)
        }
      })
  }
}
