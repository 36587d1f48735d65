package import ArgumentParser
import BridgeErrors
import BridgeReactor
import BridgeSSH

/// `bridgectl connect`.
package struct ConnectCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "connect",
    abstract:
      "Run a command or a shell on a host, over a connection that is restored when it breaks.",
    discussion: """
      Standard output is what the remote side wrote and nothing else. The exit status is the \
      remote one (128 + n after signal n), or says why there is none; `bridgectl errors` has them.

      EXAMPLES:
        A shell; ~. disconnects, ~? lists the other escapes:
          bridgectl connect me@build.example
        One command, with its output and exit status:
          bridgectl connect build -- make test
        One that may run again when the link breaks meanwhile:
          bridgectl connect --idempotent build -- ./sync.sh
        A host that is still booting, with events for a script:
          bridgectl connect --wait=10m --json build -- uptime
        A line of input is a message, and a message a line of output:
          bridgectl connect --ca ca.pem wss://agent.example/chat

      DURATION is a number and its unit: 300ms, 5s, 2m, 1h.
      """)

  @OptionGroup package var options: ConnectOptions

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let local = LocalEnvironment.current()
    var style = Reporter.Style()
    style.isJSON = options.json
    style.isTerminal = local.errorIsTerminal && !options.json
    style.sharesTerminal = style.isTerminal && local.outputIsTerminal
    style.showsProgress = style.isTerminal && local.canMoveCursor
    let reporter: Reporter
    let code: Int32
    do throws(AppError) {
      let request = try ConnectRequest(options)
      try Self.checkDescriptors(of: request)
      style.loudness = request.loudness
      style.usesColor = request.color.isGranted(by: local)
      reporter = Reporter(style, eventsDescriptor: request.eventsDescriptor)
      code = await Self.connect(request, local, reporter)
    } catch {
      reporter = Reporter(style)
      reporter.fail(CommandFailure(error: error))
      code = error.exitCode().rawValue
    }
    reporter.event("exit", isFinal: true) { $0.add("code", Int(code)) }
    await reporter.drain()
    Signals.exit(code)
  }

  private static func checkDescriptors(of request: ConnectRequest) throws(AppError) {
    try LocalEnvironment.check(request.eventsDescriptor, of: "--events-fd", isWritten: true)
    try LocalEnvironment.check(request.passwordDescriptor, of: "--password-fd", isWritten: false)
    try LocalEnvironment.check(
      request.messages?.bearerDescriptor, of: "--bearer-fd", isWritten: false)
  }

  private static func requireDescriptors(_ request: ConnectRequest) throws(CommandFailure) {
    guard !LocalEnvironment.hasDescriptors else { return }
    let reason = "This machine has no file descriptors left."
    let host = request.host.host
    throw CommandFailure(
      error: request.messages == nil
        ? .sshConnectionFailed(host: host, reason: reason)
        : .webSocketConnectionFailed(reason: reason),
      context: FailureContext(kind: .localResource, phase: .dial, host: host))
  }

  private static func connect(
    _ request: ConnectRequest, _ local: LocalEnvironment, _ reporter: Reporter
  ) async -> Int32 {
    do throws(CommandFailure) {
      try requireDescriptors(request)
      let settings =
        if let messages = request.messages {
          ConnectSettings(request, messages)
        } else {
          try ConnectSettings.resolve(
            request,
            in: ConnectSettings.Environment(
              home: local.home, user: local.user, userID: local.userID,
              hostName: local.hostName, environment: local.variables,
              isReadable: { LocalEnvironment.isReadable($0) }, files: .local))
        }
      reporter.set(settings.loudness)
      for warning in settings.warnings { reporter.warn(warning) }
      let run = ConnectRun(
        request: request, settings: settings, local: local, reporter: reporter,
        signals: Signals(), reactor: ReactorGroup.shared.next())
      return await run.run()
    } catch {
      reporter.fail(error)
      return error.exitCode
    }
  }
}

extension ConnectRequest.ColorWish {
  fileprivate func isGranted(by local: LocalEnvironment) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .automatic:
      TerminalBanner.usesColor(isTerminal: local.errorIsTerminal, environment: local.variables)
    }
  }
}
