package import ArgumentParser
import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport

/// `bridgectl ssh`, and this program where it is called `ssh`: the command line of ssh(1), and
/// nothing on the host but what it asks for.
package struct SSHCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "ssh",
    abstract: "Run as ssh(1) does, with its options, words and exit status.",
    discussion: """
      For what calls ssh: git, rsync, scp -S, sftp -S, ansible and scripts. The same happens where \
      bridgectl is called by the name ssh, by a link in a directory of its own:
        ln -s "$(command -v bridgectl)" ~/.local/lib/bridge/ssh
        GIT_SSH=~/.local/lib/bridge/ssh git clone build:project

      \(SSHOption.usage.joined(separator: "\n"))

      docs/cli.md lists what each option does. Nothing is started on the host but what is asked \
      for, and no durable session: `bridgectl connect` does that.
      """)

  @Argument(
    parsing: .captureForPassthrough, help: ArgumentHelp("Those of ssh(1).", valueName: "ARGUMENT"))
  package var arguments: [String] = []

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws { await Self.run(from: 2) }

  /// How many of the process's arguments stand before those of ssh; nil where it is another
  /// command.
  static func start(in arguments: [String]) -> Int? {
    let name = arguments.first?.split(separator: "/").last
    if name == "ssh" { return 1 }
    return arguments.dropFirst().first == configuration.commandName ? 2 : nil
  }

  /// Runs what the process's arguments from number `start` on say, and ends the process.
  static func run(from start: Int) async -> Never {
    let bytes = LocalEnvironment.argumentBytes.dropFirst(start)
    let texts = bytes.map { String(decoding: $0, as: UTF8.self) }
    let local = LocalEnvironment.current()
    do throws(SSHArguments.Refusal) {
      let hasDisplay = local.variables["DISPLAY", default: ""].isEmpty == false
      let arguments = try SSHArguments(texts, hasDisplay: hasDisplay)
      switch arguments.purpose {
      case .version: end(saying: [SSHAnswers.version], with: 0)
      case .query(let name):
        let names = try SSHAnswers.answer(to: name)
        StandardOutput.end(with: names.map { $0 + "\n" }.joined())
      case .session, .settings: break
      }
      let readable = bytes.prefix(arguments.commandStart ?? bytes.count)
      guard readable.allSatisfy({ String(validating: $0, as: UTF8.self) != nil }) else {
        throw .because("An option or the host is not UTF-8. Only the command may be.")
      }
      let words = arguments.commandStart.map { bytes.dropFirst($0) } ?? []
      await run(arguments, command: Array(words.joined(separator: [UInt8(ascii: " ")])), local)
    } catch {
      let usage = error.showsUsage ? SSHOption.usage : []
      end(saying: (error.reason.map { [$0] } ?? []) + usage, with: ExitReport.failureOfSSH)
    }
  }

  private static func run(
    _ arguments: SSHArguments, command: [UInt8], _ local: LocalEnvironment
  ) async -> Never {
    for line in arguments.warnings + missingFiles(arguments, local) { say(line) }
    let request: LinkCommand.Request = { () throws(AppError) in
      if let refusal = SSHLibraries.refusal { throw refusal }
      var request = try ConnectRequest(arguments, command: command, home: local.home)
      // As OpenSSH, which tries the usual ones then.
      request.identities.removeAll { LocalFile.absence(of: $0) != nil }
      return request
    }
    if arguments.purpose == .settings, let request = try? request() {
      await ConfigCommand.run(ssh: request)
    }
    let isSharedOnly = Foreground.takeSharing()
    let isBackground = arguments.goesToBackground && arguments.control == nil
    let foreground = isBackground || isSharedOnly ? Foreground.takeDescriptor() : nil
    if isBackground, foreground == nil, (try? request()) != nil { await Foreground.run() }
    // As OpenSSH, for which a directory is at its end.
    if arguments.readsNothing || isSharedOnly || LocalEnvironment.inputIsDirectory {
      LocalEnvironment.closeInput()
    }
    var run = LinkCommand.ssh
    run.begin = { await SharingPlan.begin($0, $1, $2, $3) }
    await run.run(
      { () throws(AppError) in
        var request = try request()
        request.detachDescriptor = foreground
        request.isSharedOnly = isSharedOnly
        return request
      },
      { context in
        for remark in arguments.remarks { context.reporter.detail("bridgectl: \(remark)") }
        return ConnectCommand.work(context)
      })
  }

  private static func missingFiles(
    _ arguments: SSHArguments, _ local: LocalEnvironment
  ) -> [String] {
    arguments.identities.compactMap { path in
      let full = path.hasPrefix("~/") ? local.home + path.dropFirst() : path
      return LocalFile.absence(of: full).map {
        "Warning: Identity file \(PeerText.escaped(path, limit: 1024)) not accessible: \($0)."
      }
    }
  }

  private static func say(_ line: String) {
    _ = DescriptorWriter.writeAll(Array((line + "\n").utf8), to: 2)
  }

  private static func end(saying lines: [String], with code: Int32) -> Never {
    for line in lines { say(line) }
    Signals.exit(code)
  }
}
