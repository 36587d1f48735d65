public import ArgumentParser
import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport

/// `bridgectl`: links that stay up, from a command line.
public struct BridgeCommand: AsyncParsableCommand {
  /// Its name and what it can do.
  public static let configuration = CommandConfiguration(
    commandName: "bridgectl", abstract: "Connections that stay up.",
    discussion: "`bridgectl HOST` is `bridgectl connect HOST`.",
    version: VersionCommand.summary,
    subcommands: [
      ConnectCommand.self, SSHCommand.self, CopyCommand.self, AttachCommand.self, RunCommand.self,
      SessionsCommand.self,
      LogsCommand.self,
      WaitCommand.self, KillCommand.self, RenameCommand.self, PruneCommand.self,
      InstallCommand.self, UninstallCommand.self,
      DoctorCommand.self, ConfigCommand.self, ErrorsCommand.self, VersionCommand.self,
    ])

  /// Creates the command with its defaults.
  public init() {}

  /// Runs what the command line says and ends the process with its exit code.
  public static func start() async {
    AddressSpace.spare()
    LocalEnvironment.openStandardDescriptors()
    let start = SSHCommand.start(in: LocalEnvironment.arguments)
    require(
      LocalEnvironment.canRunTasks,
      orSay: "no file descriptors left, not even to wait for an answer: raise `ulimit -n`",
      with: start == nil ? BridgeErrors.ExitCode.busy.rawValue : ExitReport.failureOfSSH)
    Signals.ignoreWriteSignals()
    TerminalModes.restoreOnFatalSignals()
    if let start {
      requireThreads(or: ExitReport.failureOfSSH)
      await SSHCommand.run(from: start)
    }
    var arguments = Array(LocalEnvironment.arguments.dropFirst())
    do {
      if let number = LocalEnvironment.unreadableArgument {
        arguments = try readable(from: number)
      }
      arguments = normalized(try impliedConnect(arguments))
      try requireValues(in: arguments)
      var command = try parseAsRoot(arguments)
      if let refusal = refusal(of: command) {
        await fail(with: CommandFailure(error: refusal), isJSON: isJSON(arguments))
      }
      if var asynchronous = command as? any AsyncParsableCommand {
        requireThreads()
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      await end(with: error, isJSON: isJSON(arguments))
    }
  }

  /// Ends the process where it cannot even say so in the way that was asked for.
  private static func require(
    _ isThere: Bool, orSay words: String, with code: Int32 = BridgeErrors.ExitCode.busy.rawValue
  ) {
    guard !isThere else { return }
    _ = DescriptorWriter.writeAll(Array("bridgectl: \(words).\n".utf8), to: 2)
    Signals.exit(code)
  }

  private static func requireThreads(or code: Int32 = BridgeErrors.ExitCode.busy.rawValue) {
    require(
      LocalEnvironment.hasThreads(),
      orSay:
        "this machine lets the process have no more threads: raise `ulimit -u` or `ulimit -v`, "
        + "or end other programs", with: code)
  }

  /// The arguments as texts, for the command that takes names of files as they are.
  ///
  /// - Parameter number: that of one that is not UTF-8.
  private static func readable(from number: Int) throws -> [String] {
    let texts = LocalEnvironment.argumentBytes.dropFirst().compactMap { ArgumentBytes.text(of: $0) }
    guard texts.first == CopyCommand.configuration.commandName,
      texts.count == LocalEnvironment.arguments.count - 1
    else {
      throw ValidationError(
        "Argument \(number) is not UTF-8: its bytes would be changed. Text in UTF-8, or a script "
          + "on standard input (`bridgectl connect HOST sh < SCRIPT`), can be sent.")
    }
    return texts
  }

  private static func isJSON(_ arguments: [String]) -> Bool {
    arguments.prefix { $0 != "--" }.contains("--json")
  }

  /// Why `command` is not run with the libssh2 that is linked; nil where it may be, and for one
  /// that only looks something up.
  private static func refusal(of command: any ParsableCommand) -> AppError? {
    let lookups = [ErrorsCommand.self, VersionCommand.self] as [any ParsableCommand.Type]
    let connecting = configuration.subcommands.filter { one in !lookups.contains { $0 == one } }
    return connecting.contains { $0 == type(of: command) } ? SSHLibraries.refusal : nil
  }

  /// `arguments` with `connect` before a host that is their first word.
  ///
  /// - Throws: `ValidationError` for a first word that is rather a command with a typo.
  package static func impliedConnect(_ arguments: [String]) throws -> [String] {
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    guard let first = arguments.first, !names.contains(first) else { return arguments }
    guard first != "help" else {
      if let topic = arguments.dropFirst().first, !topic.hasPrefix("-"), !names.contains(topic) {
        throw unknown(topic, among: names)
      }
      return arguments
    }
    guard !first.hasPrefix("-") else {
      // As typed for ssh.
      guard !ownOptions.contains(where: first.hasPrefix), first != "-" else { return arguments }
      guard let name = arguments.prefix(while: { $0 != "--" }).first(where: names.contains) else {
        return ["connect"] + arguments
      }
      // It is no host, and what is meant by the option only the command knows.
      throw ValidationError(
        "\"\(PeerText.escaped(first, limit: 64))\" stands before the command: options come behind "
          + "it, as in `bridgectl \(name) \(PeerText.escaped(first, limit: 64)) …`.")
    }
    let near = NearNames.of(first, among: names)
    guard !near.isEmpty, !first.contains(where: "@.:[".contains) else {
      return ["connect"] + arguments
    }
    throw unknown(first, among: names, isHost: true)
  }

  /// - Parameter isHost: whether it may have been meant as a host.
  private static func unknown(
    _ word: String, among names: [String], isHost: Bool = false
  ) -> ValidationError {
    let shown = PeerText.escaped(word, limit: 64)
    let near = NearNames.of(word, among: names)
    var message = "\"\(shown)\" is not a command."
    if !near.isEmpty { message += " Did you mean \(near.joined(separator: ", "))?" }
    if isHost { message += " `bridgectl connect \(shown)` dials a host of that name." }
    return ValidationError(message)
  }

  /// What is of no command; `---completion` is of the scripts for shells.
  private static let ownOptions = [
    "-h", "-V", "--help", "--version", "--generate-completion-script", "--experimental-dump-help",
    "---completion",
  ]

  /// The parser does not know that `--wait` alone means forever, that `-oKEY=VALUE` is
  /// `-o KEY=VALUE`, that `-V` is `--version`, and where COMMAND begins without `--`.
  package static func normalized(_ arguments: [String]) -> [String] {
    if arguments == ["-V"] { return ["--version"] }
    let arguments = ConnectOptions.markingCommand(in: arguments)
    let own = arguments.prefix { $0 != "--" }
    return own.flatMap { argument -> [String] in
      if argument == "--wait" { return ["--wait=forever"] }
      let isJoined = argument.contains("=") && joined.contains { argument.hasPrefix($0) }
      return isJoined ? [String(argument.prefix(2)), String(argument.dropFirst(2))] : [argument]
    } + arguments[own.endIndex...]
  }

  private static let joined = ["-o", "-i", "-F", "-l"]

  /// Refuses `--name=`: the parser would take the next word for its value.
  ///
  /// - Throws: `ValidationError`.
  package static func requireValues(in arguments: [String]) throws {
    let own = arguments.prefix { $0 != "--" }
    guard let empty = own.first(where: { $0.wholeMatch(of: /--[a-z][a-z-]*=/) != nil }) else {
      return
    }
    throw ValidationError("\(empty) has no value.")
  }

  private static func end(with parsing: any Error, isJSON: Bool) async -> Never {
    let whole = fullMessage(for: parsing)
    // Help, and scripts for shells: our own text, which must not be cut.
    guard exitCode(for: parsing) != .success else { StandardOutput.end(with: whole + "\n") }
    let text = PeerText.escaped(whole, limit: 16 << 10, layout: .paragraph)
    let error = AppError.validationError(
      field: "command line", message: PeerText.escaped(message(for: parsing), limit: 1024))
    // The last line repeats the first.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let usage = lines.drop { !$0.hasPrefix("Usage:") }
    await fail(with: CommandFailure(error: error), usage: usage, isJSON: isJSON)
  }

  private static func fail(
    with failure: CommandFailure, usage: ArraySlice<Substring> = [], isJSON: Bool
  ) async -> Never {
    var style = Reporter.Style()
    style.isJSON = isJSON
    style.isTerminal = TerminalModes.isTerminal(2) && !isJSON
    let reporter = Reporter(style)
    reporter.fail(failure)
    reporter.show(lines: usage.filter { !$0.isEmpty }.map { "  " + $0 })
    reporter.event(.exit(code: failure.exitCode))
    await reporter.drain()
    Signals.exit(failure.exitCode)
  }
}
