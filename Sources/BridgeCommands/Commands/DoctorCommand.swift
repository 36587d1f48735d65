package import ArgumentParser
import BridgeErrors

/// `bridgectl doctor`.
package struct DoctorCommand: AsyncParsableCommand, ConnectArguments {
  package static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find out step by step why a host cannot be reached, or that all is well.",
    discussion: """
      Connects as connect does and prints each step: what was tried, the result, the time, the \
      lines of ssh_config and known_hosts and the key that took part, and what to do about a step \
      that failed. Each jump host has its own steps. After the login it runs `true` and looks for \
      bridge-host. Nothing is retried, and no credential is offered twice. The options are those \
      of connect; --timeout limits all of it. The exit status is that of the first failure.

      EXAMPLES:
          bridgectl doctor build.example
          bridgectl doctor --json -J bastion build 2>steps.jsonl
      """)

  @OptionGroup package var reach: ReachOptions
  @Argument(help: LinkArguments.help, completion: .hosts) package var host: String
  @OptionGroup package var shell: ShellOptions
  @OptionGroup(visibility: .hidden) package var start: StartOptions
  @OptionGroup(title: "Other options of ssh(1)") package var tunnels: TunnelOptions
  @OptionGroup(title: "WebSocket options") package var messages: MessageOptions
  // Named, to say that it runs none.
  @Argument(parsing: .postTerminator, help: .hidden) package var command: [String] = []

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let options = options
    await LinkCommand(options: options.link).run(
      { () throws(AppError) in
        var request = try ConnectRequest(options)
        guard request.command == nil else {
          throw .validationError(field: "COMMAND", message: "doctor runs no COMMAND.")
        }
        request.forwards = nil
        return request
      },
      as: { request, local, reporter in await DoctorRun(request, local, reporter).run() })
  }
}
