import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// The frame of every command that works over a link: its reporter, its settings, its exit code.
struct LinkCommand: Sendable {
  /// Whether words are JSON lines.
  var isJSON = false
  /// Where the run's end is written, as it is typed.
  var exitStatusFile: String?
  /// Whether the run is one of ssh(1).
  var isSSH = false
  /// Whether a shell may own the keyboard.
  var isInteractive: @Sendable (ConnectRequest, ConnectSettings, LocalEnvironment) -> Bool =
    { _, _, _ in false }
  /// Whether it starts what gets the user's terminal: that begins in the foreground.
  var startsTerminal: @Sendable (ConnectRequest, ConnectSettings, LocalEnvironment) -> Bool =
    { _, _, _ in false }
  /// What comes before a connection of its own.
  var begin:
    @Sendable (ConnectRequest, ConnectSettings, LocalEnvironment, Reporter) async ->
      RunBeginning = { _, _, _, _ in .own(nil) }

  /// A command with `options`.
  init(
    options: LinkArguments,
    isInteractive: @escaping @Sendable (ConnectRequest, ConnectSettings, LocalEnvironment) -> Bool =
      { _, _, _ in false },
    startsTerminal:
      @escaping @Sendable (ConnectRequest, ConnectSettings, LocalEnvironment) -> Bool = { _, _, _ in
        false
      }
  ) {
    isJSON = options.json
    exitStatusFile = options.exitStatusFile
    self.isInteractive = isInteractive
    self.startsTerminal = startsTerminal
  }

  /// A run of ssh(1).
  static var ssh: LinkCommand {
    var command = LinkCommand()
    command.isSSH = true
    command.isInteractive = { RunContext.ownsKeyboard($0, $1, $2) }
    command.startsTerminal = { RunContext.startsTerminal($0, $1, $2) }
    return command
  }

  private init() {}

  /// What the command line asks for.
  typealias Request = @Sendable () throws(AppError) -> ConnectRequest
  /// What is done over the link.
  typealias Work = @Sendable (RunContext) -> any LinkWork

  /// Ends the process with the exit code.
  func run(_ request: Request, _ work: Work) async -> Never {
    await run(request) { request, local, reporter in
      await connect(request, local, reporter, work)
    }
  }

  /// Ends the process with the exit code of what `body` does.
  func run(
    _ request: Request, as body: (ConnectRequest, LocalEnvironment, Reporter) async -> ExitReport
  ) async -> Never {
    let local = LocalEnvironment.current()
    var style = Reporter.Style()
    style.isJSON = isJSON
    style.isSSH = isSSH
    style.isTerminal = local.errorIsTerminal && !isJSON
    style.sharesTerminal = style.isTerminal && local.outputIsTerminal
    style.showsProgress = style.isTerminal && local.canMoveCursor && !isSSH
    let reporter: Reporter
    var report: ExitReport
    var statusFile: (path: String, descriptor: Int32)?
    do throws(AppError) {
      // Before all that can fail: who reads the file must not find the end of an earlier run.
      statusFile = try ConnectRequest.map(ConnectRequest.exitStatusFile(exitStatusFile)) {
        (path) throws(AppError) in (path, try LocalEnvironment.openFile(path, appends: false))
      }
      if let statusFile {
        Signals.prepareLastWords { code in
          try? Self.write(ExitReport(code: code), to: statusFile)
        }
      }
      let request = try request()
      try Self.checkDescriptors(of: request)
      style.loudness = request.loudness
      style.target = request.target
      style.usesColor = request.color.isGranted(
        isTerminal: local.errorIsTerminal, local.variables)
      let log = try ConnectRequest.map(request.logFile) { (path) throws(AppError) in
        try LocalEnvironment.openFile(path, appends: true)
      }
      reporter = Reporter(
        style, eventsDescriptor: request.eventsDescriptor, logDescriptor: log)
      report = await body(request, local, reporter)
    } catch {
      reporter = Reporter(style)
      reporter.fail(CommandFailure(error: error))
      report = ExitReport(code: error.exitCode().rawValue, caseName: error.caseName)
    }
    reporter.endRemoteError()
    // One of the two writes the file.
    if let statusFile, Signals.takeLastWords() { Self.write(&report, to: statusFile, reporter) }
    reporter.event(.exit(code: report.code))
    await reporter.drain()
    Signals.exit(isSSH ? report.codeOfSSH : report.code)
  }

  /// Who reads the file must not take its content for the end of another run: a run that cannot
  /// write it is no success.
  private static func write(
    _ report: inout ExitReport, to file: (path: String, descriptor: Int32), _ reporter: Reporter
  ) {
    do throws(AppError) {
      try write(report, to: file)
    } catch {
      guard report.code == 0 else { return reporter.warn(error.shownMessage()) }
      reporter.fail(CommandFailure(error: error))
      report.code = error.exitCode().rawValue
      report.caseName = error.caseName
    }
  }

  private static func write(
    _ report: ExitReport, to file: (path: String, descriptor: Int32)
  ) throws(AppError) {
    try LocalEnvironment.write(
      Array((report.line.text + "\n").utf8), to: file.descriptor, at: file.path)
  }

  private static func checkDescriptors(of request: ConnectRequest) throws(AppError) {
    try LocalEnvironment.check(request.eventsDescriptor, of: "--events-fd", isWritten: true)
    try LocalEnvironment.check(request.passwordDescriptor, of: "--password-fd", isWritten: false)
    try LocalEnvironment.check(
      request.messages?.bearerDescriptor, of: "--bearer-fd", isWritten: false)
  }

  static func requireDescriptors(_ request: ConnectRequest) throws(CommandFailure) {
    guard !LocalEnvironment.hasDescriptors else { return }
    let reason = "This machine has no file descriptors left."
    let host = request.host.host
    throw CommandFailure(
      error: request.messages == nil
        ? .sshConnectionFailed(host: host, reason: reason)
        : .webSocketConnectionFailed(reason: reason),
      context: FailureContext(kind: .localResource, phase: .dial, host: host))
  }

  /// Adds warnings about keys of FIDO devices; where nothing else could be offered they are
  /// refused before anything is dialed.
  static func checkSecurityKeys(
    of request: ConnectRequest, _ settings: inout ConnectSettings, _ local: LocalEnvironment
  ) throws(CommandFailure) {
    let isBatch = request.isBatch || settings.login.isBatch
    do throws(ConfigFailure) {
      try settings.host.checkSecurityKeys(typed: request.identities) { host, isLast in
        let route = PromptRoute.choose(
          isBatch: isBatch || host.login.isBatch, hasTerminal: local.hasTerminal,
          environment: local.variables)
        return route.canAsk || (isLast && request.passwordDescriptor != nil)
      }
    } catch {
      throw CommandFailure(error)
    }
  }

  /// The request with what the configuration says about what runs, and this process without its
  /// input where that is not read.
  private static func completed(
    _ request: ConnectRequest, by settings: ConnectSettings, _ local: LocalEnvironment
  ) throws(CommandFailure) -> (ConnectRequest, LocalEnvironment) {
    var (request, local) = (request, local)
    do throws(AppError) {
      try request.take(settings)
    } catch {
      throw CommandFailure(error: error, isInFile: true)
    }
    // What is asked for runs over it then.
    if request.isSharedOnly {
      (request.isIdle, request.program, request.command, request.carried) = (true, nil, nil, nil)
    }
    if request.takesSession, settings.readsNothing {
      LocalEnvironment.closeInput()
      local.inputIsTerminal = false
    }
    return (request, local)
  }

  private static func run(_ work: some LinkWork, _ context: RunContext) async -> Int32 {
    await ConnectRun(context, work, signals: Signals()).run()
  }

  private func connect(
    _ request: ConnectRequest, _ local: LocalEnvironment, _ reporter: Reporter, _ work: Work
  ) async -> ExitReport {
    do throws(CommandFailure) {
      try Self.requireDescriptors(request)
      var settings =
        if let messages = request.messages {
          try ConnectSettings(request, messages, local.variables)
        } else {
          try ConnectSettings.resolve(request, in: .current())
        }
      try Self.checkSecurityKeys(of: request, &settings, local)
      let (request, local) = try Self.completed(request, by: settings, local)
      reporter.set(settings.loudness)
      reporter.set(login: SSHWords.Login(user: settings.user, host: settings.endpoint.host))
      for warning in settings.warnings {
        // ssh would not say that ours does less.
        if isSSH {
          reporter.detail("bridgectl: warning: \(warning)")
        } else {
          reporter.warn(warning)
        }
      }
      for note in settings.notes { reporter.detail("bridgectl: \(note)") }
      if let proxy = settings.proxy { reporter.report(proxy) }
      // The remote terminal gets the modes of this one, which in the background are the shell's.
      if startsTerminal(request, settings, local) {
        _ = await JobControl.untilForeground(on: 0)
      }
      let share: (@Sendable (RunBeginning.Sharing) -> any ConnectionSharer)?
      switch await begin(request, settings, local, reporter) {
      case .ended(let report): return report
      case .own(let sharing): share = sharing
      }
      let context = RunContext(
        request: request, settings: settings, local: local, reporter: reporter,
        reactor: ReactorGroup.shared.next(), interactive: isInteractive(request, settings, local),
        share: share)
      let code = await Self.run(work(context), context)
      let facts = context.facts.withLock { $0 }
      var report = ExitReport(code: code, remote: facts.remote, caseName: facts.caseName)
      report.wasUp = facts.wasUp
      return report
    } catch {
      reporter.fail(error)
      return ExitReport(code: error.exitCode, caseName: error.error.caseName)
    }
  }
}

extension ConnectRequest.ColorWish {
  /// Whether colors are used.
  func isGranted(isTerminal: Bool, _ variables: [String: String]) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .automatic:
      TerminalBanner.usesColor(isTerminal: isTerminal, environment: variables)
    }
  }
}
