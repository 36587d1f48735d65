package import ArgumentParser
import BridgeErrors
import BridgeSSH
import BridgeTerminal

/// `bridgectl config`.
package struct ConfigCommand: AsyncParsableCommand, ConnectArguments {
  package static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Print the settings for a host, each with the file and line it comes from.",
    discussion: """
      Nothing is dialed. The options are those of connect and have the same effect; with --json \
      each line is an object.
      """)

  @OptionGroup package var reach: ReachOptions
  @Argument(help: LinkArguments.help, completion: .hosts) package var host: String
  @OptionGroup package var shell: ShellOptions
  @OptionGroup(title: "Durable session options") package var start: StartOptions
  @OptionGroup(title: "Other options of ssh(1)") package var tunnels: TunnelOptions
  @OptionGroup(title: "WebSocket options") package var messages: MessageOptions
  @Argument(parsing: .postTerminator, help: ConnectOptions.help) package var command: [String] = []

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws { await Self.run(options, withSources: true) }

  /// Prints what `options` lead to, and ends the process.
  static func run(_ options: ConnectOptions, withSources: Bool) async -> Never {
    let format = options.json ? Format.json : .text(withSources: withSources)
    await end(format, isSSH: false) { () throws(CommandFailure) in try request(options) }
  }

  /// Prints what a request of ssh(1) leads to, as `ssh -G`, and ends the process.
  static func run(ssh request: ConnectRequest) async -> Never {
    await end(.text(withSources: false), isSSH: true) { () throws(CommandFailure) in request }
  }

  private enum Format: Equatable {
    case json
    case text(withSources: Bool)
  }

  private static func end(
    _ format: Format, isSSH: Bool, _ request: () throws(CommandFailure) -> ConnectRequest
  ) async -> Never {
    var style = Reporter.Style()
    style.isTerminal = TerminalModes.isTerminal(2)
    style.isJSON = format == .json
    style.isSSH = isSSH
    let reporter = Reporter(style)
    do throws(CommandFailure) {
      let report = try ConfigReport(try request(), in: .current())
      for warning in report.warnings {
        if isSSH { reporter.detail(warning) } else { reporter.warn(warning) }
      }
      for note in report.notes { reporter.log("bridgectl: \(note)") }
      await reporter.drain()
      switch format {
      case .json: StandardOutput.end(with: report.json)
      case .text(let withSources): StandardOutput.end(with: report.text(withSources: withSources))
      }
    } catch {
      reporter.fail(error)
      await reporter.drain()
      Signals.exit(isSSH ? ExitReport.failureOfSSH : error.exitCode)
    }
  }

  private static func request(_ options: ConnectOptions) throws(CommandFailure) -> ConnectRequest {
    do throws(AppError) {
      let request = try ConnectRequest(options)
      guard request.messages == nil else {
        throw .validationError(field: "HOST", message: "ssh_config is for SSH only.")
      }
      return request
    } catch {
      throw CommandFailure(error: error)
    }
  }
}
