public import ArgumentParser
import BridgeErrors

/// `bridgectl`: links that stay up, from a command line.
public struct BridgeCommand: AsyncParsableCommand {
  /// Its name and what it can do.
  public static let configuration = CommandConfiguration(
    commandName: "bridgectl", abstract: "Links that stay up.",
    subcommands: [ConnectCommand.self])

  /// Nothing chosen yet.
  public init() {}

  /// Runs what the command line says and ends the process with its exit code.
  public static func start() async {
    Signals.hold()
    TerminalModes.restoreOnCrash()
    let arguments = normalized(Array(CommandLine.arguments.dropFirst()))
    do {
      var command = try parseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      await end(with: error, isJSON: arguments.prefix { $0 != "--" }.contains("--json"))
    }
  }

  /// `--wait` alone means for ever; the parser knows only options with a value.
  package static func normalized(_ arguments: [String]) -> [String] {
    let own = arguments.prefix { $0 != "--" }
    return own.map { $0 == "--wait" ? "--wait=forever" : $0 } + arguments[own.endIndex...]
  }

  private static func end(with error: any Error, isJSON: Bool) async -> Never {
    let text = PeerText.escaped(fullMessage(for: error), limit: 16 << 10, layout: .paragraph)
    guard exitCode(for: error) != .success else {
      let isWritten = DescriptorWriter.writeAll(Array((text + "\n").utf8), to: 1)
      Signals.leave(isWritten ? 0 : BridgeErrors.ExitCode.outputClosed.rawValue)
    }
    let usage = AppError.validationError(
      field: "command line", message: PeerText.escaped(message(for: error), limit: 1024))
    let failure = CommandFailure(error: usage)
    var style = Reporter.Style()
    style.isJSON = isJSON
    let reporter = Reporter(style)
    reporter.show(text + "\n")
    reporter.fail(failure)
    await reporter.drain()
    Signals.leave(failure.exitCode)
  }
}
