import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket

/// A diagnosis from the command line to the exit code: connects once to each host on the way and to
/// the host, and prints a step as soon as it is over.
struct DoctorRun: Sendable {
  /// What is shared with the observers of connections.
  struct State {
    var report = DoctorReport()
    /// Oldest first.
    var connections: [any Connection] = []
    var isLate = false
  }

  /// How a part of the run ends.
  private enum Part: Sendable {
    case over
    case late
    case signal(Int32)
  }

  let request: ConnectRequest
  let local: LocalEnvironment
  let reporter: Reporter
  let reactor = ReactorGroup.shared.next()
  private let output = DescriptorWriter(1)
  private let state = Mutex(State())
  private let clock = ContinuousClock()
  private let begun = ContinuousClock.now

  init(_ request: ConnectRequest, _ local: LocalEnvironment, _ reporter: Reporter) {
    self.request = request
    self.local = local
    self.reporter = reporter
  }

  /// The report of a run that is over; everything is closed then.
  func run() async -> ExitReport {
    var signal: Int32?
    let signals = Signals()
    await withTaskGroup(of: Part.self) { group in
      group.addTask {
        await diagnose()
        return .over
      }
      group.addTask {
        for await case .end(let code) in signals.events { return .signal(code) }
        return .over
      }
      if let limit = request.timeout {
        group.addTask { await watchTime(limit) }
      }
      for await part in group {
        switch part {
        case .over: break
        case .late: state.withLock { $0.isLate = true }
        case .signal(let code): signal = code
        }
        group.cancelAll()
      }
    }
    for connection in state.withLock({ $0.connections }).reversed() { await connection.close() }
    return await finish(signal)
  }

  private func finish(_ signal: Int32?) async -> ExitReport {
    let report = state.withLock { $0.report }
    if signal == nil { show("\n\(report.summary(after: ContinuousClock.now - begun))\n") }
    let written = await output.drain()
    TerminalModes.restore()
    if let signal { return ExitReport(code: signal) }
    if let failure = report.failure {
      reporter.conclude(failure)
      return ExitReport(code: failure.exitCode, caseName: failure.error.caseName)
    }
    guard written == .failed else { return ExitReport(code: report.exitCode) }
    let error = StandardOutput.error(output.failure, isTerminal: local.outputIsTerminal)
    guard let error else { return ExitReport(code: ExitCode.outputClosed.rawValue) }
    reporter.fail(CommandFailure(error: error))
    return ExitReport(code: error.exitCode().rawValue, caseName: error.caseName)
  }

  /// Ends when `limit` is over; the time of a person's answers is not counted.
  private func watchTime(_ limit: Duration) async -> Part {
    var counted = Duration.zero
    while true {
      var asked = Duration.zero
      for connection in state.withLock({ $0.connections }) { asked += await connection.timeAsked }
      let left = limit + asked - counted
      guard left > .zero else { return .late }
      do {
        try await clock.sleep(whileRunning: left)
      } catch {
        return .over
      }
      counted += left
    }
  }

  /// Connects from host to host, up to the first failure.
  private func diagnose() async {
    do throws(CommandFailure) {
      try LinkCommand.requireDescriptors(request)
      if let messages = request.messages {
        try await open(messages)
      } else {
        let settings = try configure()
        try await DoctorHosts(self, settings).open()
      }
    } catch {
      fail(error)
    }
  }

  /// Reads the configuration.
  private func configure() throws(CommandFailure) -> ConnectSettings {
    var environment = HostEnvironment.current()
    let files = Mutex([String]())
    let read = environment.files.read
    environment.files.read = { (path, isChecked) throws(AppError) -> String? in
      let text = try read(path, isChecked)
      if text != nil { files.withLock { if !$0.contains(path) { $0.append(path) } } }
      return text
    }
    var settings = try ConnectSettings.resolve(request, in: environment)
    try LinkCommand.checkSecurityKeys(of: request, &settings, local)
    let names = files.withLock { $0 }
    record { $0.configured(from: names, warnings: settings.warnings, in: $1) }
    return settings
  }

  /// A WebSocket, opened and closed.
  private func open(_ messages: MessageRequest) async throws(CommandFailure) {
    var site = DoctorSite(name: "\(messages.url.endpoint)", port: messages.url.endpoint.port)
    site.isSecure = messages.url.isSecure
    let proxy = try ConnectSettings(request, messages, local.variables).proxy
    if let proxy {
      site.through = "the proxy \(proxy)"
      site.port = proxy.endpoint.port
    }
    var configuration: WebSocketConfiguration
    do throws(AppError) {
      configuration = try await WebSocketConfiguration(messages, proxy: proxy)
    } catch {
      throw CommandFailure(error: error)
    }
    configuration.observer = { fact in record { $0.take(fact, at: $1) } }
    begin(site)
    try await open(
      WebSocketConnection(to: messages.url, configuration: configuration, on: reactor))
  }
}

// What the parts of a diagnosis use.
extension DoctorRun {
  /// Waits until the steps so far are printed: a question comes after them.
  func flush() async { await output.drain() }

  /// Begins with a host.
  func begin(_ site: DoctorSite) {
    show("\n\(site.heading)\n")
    record { $0.begin(site, at: $1) }
  }

  /// Connects; the connection stays open to the end of the run.
  func open(_ connection: some Connection) async throws(CommandFailure) {
    state.withLock { $0.connections.append(connection) }
    do throws(ConnectionError) {
      try await connection.open()
    } catch {
      throw failure(CommandFailure(error), of: connection)
    }
    record { $0.connected(at: $1) }
  }

  /// `failure`, or that the time is over where that is why `connection` was given up.
  func failure(_ failure: CommandFailure, of connection: some Connection) -> CommandFailure {
    guard failure.error == .cancelled, state.withLock({ $0.isLate }) else { return failure }
    let phase = state.withLock { $0.report.phase }
    return CommandFailure(connection.timeout(in: phase, after: request.timeout ?? .zero))
  }

  /// Changes the report and prints the steps that follow, in order.
  func record(_ change: (inout DoctorReport, Duration) -> [DoctorStep]) {
    let now = ContinuousClock.now - begun
    state.withLock { state in
      for step in change(&state.report, now) { print(step) }
    }
  }

  private func fail(_ failure: CommandFailure) {
    // A signal ends it without a word.
    guard failure.error != .cancelled else { return }
    record { [$0.fail(failure, at: $1)] }
  }

  private func print(_ step: DoctorStep) {
    reporter.event(.step(step))
    let isProblem = [.warning, .failed].contains(step.outcome)
    guard reporter.style.loudness != .quiet || isProblem else { return }
    let color = request.color.isGranted(isTerminal: local.outputIsTerminal, local.variables)
    let size = local.outputIsTerminal ? TerminalSize(of: 1) : nil
    show(size.map { step.text(color: color, columns: $0.columns) } ?? step.text(color: color))
  }

  private func show(_ text: String) {
    guard !reporter.style.isJSON else { return }
    output.post(text, isUnbounded: true)
  }
}
