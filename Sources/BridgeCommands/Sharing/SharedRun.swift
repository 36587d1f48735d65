import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// A run over the connection that another run shares: what is to be said to that one, and what
/// comes back.
struct SharedRun: Sendable {
  let request: ConnectRequest
  let settings: ConnectSettings
  let local: LocalEnvironment
  let reporter: Reporter
  private let stream: ControlStream
  /// The other process, and whether it says how each session ended: OpenSSH's does not where a
  /// signal or the user was the end.
  private let process: UInt32
  private let saysEnds: Bool

  private enum Step: Sendable {
    case ended(UInt32)
    /// The other run is gone.
    case lost
    case signal(Int32)
    case over
  }

  /// How long the other process may take for what it knows by itself.
  private static let answerLimit = Duration.seconds(5)

  /// Connects to the run that shares its connection at `path`.
  ///
  /// - Throws: `ControlStream.Refusal`, also of a process that does not answer.
  init(
    at path: String, _ request: ConnectRequest, _ settings: ConnectSettings,
    _ local: LocalEnvironment, _ reporter: Reporter
  ) async throws(ControlStream.Refusal) {
    stream = try ControlStream(path: path, longest: ControlRequest.longest)
    (self.request, self.settings) = (request, settings)
    (self.local, self.reporter) = (local, reporter)
    guard let (process, saysEnds) = await Self.greet(stream) else {
      stream.close()
      throw .silent
    }
    self.saysEnds = saysEnds
    self.process = process
  }

  /// What the other process is; nil where it does not answer.
  private static func greet(_ stream: ControlStream) async -> (UInt32, Bool)? {
    await withTaskGroup(of: (UInt32, Bool)?.self) { group in
      group.addTask {
        stream.send(ControlRequest.hello(version: ControlRequest.version).packet)
        guard case .hello(ControlRequest.version, let saysEnds) = await reply(stream) else {
          return nil
        }
        stream.send(ControlRequest.alive(0).packet)
        guard case .alive(0, let process) = await reply(stream) else { return nil }
        return (process, saysEnds)
      }
      group.addTask {
        try? await ContinuousClock().sleep(for: answerLimit)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  private static func reply(_ stream: ControlStream) async -> ControlReply? {
    for await packet in stream.packets { return ControlReply(packet.bytes) }
    return nil
  }

  private func ask(_ request: ControlRequest, _ descriptors: [Int32] = []) async -> ControlReply? {
    guard stream.send(request.packet, descriptors) else { return nil }
    return await Self.reply(stream)
  }

  /// Closes the connection to the other process.
  func close() { stream.close() }

  /// Does what `-O` says, where that is no run.
  func obey(_ command: SharingCommand) async -> ExitReport {
    defer { stream.close() }
    let words: String?
    switch command {
    case .check: words = "Master running (pid=\(process))"
    case .exit: words = await says(.exit(1), "Exit request sent.")
    case .stop: words = await says(.stop(1), "Stop listening request sent.")
    case .forward, .cancel:
      guard !settings.forwards.isEmpty else {
        reporter.log("No forwardings specified.")
        return ExitReport(code: ExitReport.failureOfSSH)
      }
      for rule in settings.forwards {
        let request: ControlRequest = command == .forward ? .forward(1, rule) : .cancel(1, rule)
        guard await isDone(request, rule) else {
          return ExitReport(code: ExitReport.failureOfSSH)
        }
      }
      return ExitReport(code: 0)
    case .proxy: words = nil
    }
    guard let words else { return ExitReport(code: ExitReport.failureOfSSH) }
    say(words)
    return ExitReport(code: 0)
  }

  /// A line as ssh(1) ends it, with a carriage return, which a line on a terminal has already.
  private func say(_ line: String) {
    reporter.log(reporter.style.isTerminal ? line : line + "\r")
  }

  private func says(_ request: ControlRequest, _ words: String) async -> String? {
    switch await ask(request) {
    case .done: return words
    // OpenSSH's ends before it has said so.
    case nil where request == .exit(1): return words
    case nil, .hello, .denied, .failed, .ended, .alive, .opened, .port, .withoutTerminal: break
    }
    reporter.log("The process that shares the connection (\(process)) has refused that.")
    return nil
  }

  private func isDone(_ request: ControlRequest, _ rule: ForwardRule) async -> Bool {
    let name = PeerText.escaped(rule.name, limit: 256)
    switch await ask(request) {
    case .done: return true
    case .port(_, let port):
      // As ssh, for scripts.
      _ = DescriptorWriter.writeAll(Array("\(port)\n".utf8), to: 1)
      return true
    case .failed(_, let reason), .denied(_, let reason):
      reporter.log("\(name): \(PeerText.escaped(reason, limit: 1024))")
    case nil, .hello, .ended, .alive, .opened, .withoutTerminal:
      reporter.log("\(name): the process that shares the connection (\(process)) is gone.")
    }
    return false
  }

  /// Runs what is asked for; nil where that cannot be over this connection: nothing has run.
  ///
  /// - Parameter asksForwards: whether the ports of this run are not open there yet.
  func run(asksForwards: Bool = true) async -> ExitReport? {
    for rule in asksForwards ? settings.forwards : [] {
      guard await isDone(.forward(1, rule), rule) else {
        stream.close()
        return nil
      }
    }
    if let target = request.carried { return await carry(to: target) }
    var session: ControlRequest.Session
    do throws(AppError) {
      session = ControlRequest.Session(try request.startedProgram())
    } catch {
      stream.close()
      return nil
    }
    let hasTerminal = RunContext.wantsTerminal(request, settings, local)
    if hasTerminal { session.terminal = RunContext.terminalType(settings, local) }
    session.escape = if case .byte(let byte) = settings.escape { byte } else { nil }
    session.environment = settings.environment
    // One that has no terminal there is edited here, and read as a job may.
    let relay = local.inputIsTerminal && !hasTerminal ? InputRelay() : nil
    let reply = await ask(.session(2, session), [relay?.descriptor ?? 0, 1, 2])
    relay?.close()
    switch reply {
    case .opened:
      reporter.detail("bridgectl: over the connection that process \(process) shares")
      return await carry(relay, hasTerminal: hasTerminal && local.inputIsTerminal)
    case .failed(_, let reason), .denied(_, let reason):
      let shown = PeerText.escaped(reason, limit: 1024)
      reporter.detail("bridgectl: not over the shared connection: \(shown)")
      stream.close()
      return nil
    // It may run all the same.
    case nil, .hello, .done, .ended, .alive, .port, .withoutTerminal:
      stream.close()
      return report(.lost, wasStarted: false)
    }
  }

  /// Standard input and output to a target behind the host (`-W`); nil where nothing was carried.
  private func carry(to target: TunnelTarget) async -> ExitReport? {
    guard case .opened = await ask(.carry(2, target), [0, 1]) else {
      stream.close()
      return nil
    }
    let end = await untilEnd(hasTerminal: false)
    stream.close()
    guard case .ended = end else { return ExitReport(code: 0) }
    return report(.lost)
  }

  private func carry(_ relay: InputRelay?, hasTerminal: Bool) async -> ExitReport {
    request.detachDescriptor.map { descriptor in
      Detachment(to: descriptor, isIdle: false, waitsForForwards: false).loggedIn(reporter)
    }
    let signals = Signals()
    if hasTerminal { TerminalModes.set(.raw, on: 0) }
    let end = await withTaskGroup(of: Step.self) { group in
      group.addTask { await untilEnd(hasTerminal: hasTerminal) }
      group.addTask { await watch(signals) }
      if let relay {
        group.addTask {
          await relay.run()
          return .over
        }
      }
      defer { group.cancelAll() }
      for await step in group {
        if case .over = step { continue }
        stream.close()
        return step
      }
      return .lost
    }
    TerminalModes.restore()
    let isEnded =
      switch end {
      case .ended: true
      case .lost: !saysEnds
      case .signal, .over: false
      }
    if hasTerminal, case .lost = end { reporter.leaveLine() }
    if hasTerminal, isEnded {
      let host = PeerText.escaped(settings.endpoint.host, limit: 128)
      say("Shared connection to \(host) closed.")
    }
    return report(end)
  }

  /// The last of the output may come behind the status: the other process closes the connection
  /// when it has written that.
  private func untilEnd(hasTerminal: Bool) async -> Step {
    var end = Step.lost
    for await packet in stream.packets {
      switch ControlReply(packet.bytes) {
      case .ended(_, let status): end = .ended(status)
      case .withoutTerminal:
        if hasTerminal { TerminalModes.restore() }
        reporter.log("PTY allocation request failed on channel 0")
      case nil, .hello, .done, .denied, .failed, .alive, .opened, .port: continue
      }
    }
    return end
  }

  private func watch(_ signals: Signals) async -> Step {
    for await event in signals.events {
      switch event {
      case .end(let code): return .signal(code)
      case .resized, .resumed: Foreground.sendResize(to: Int32(bitPattern: process))
      case .stopping: signals.stopNow()
      }
    }
    return .over
  }

  private func report(_ end: Step, wasStarted: Bool = true) -> ExitReport {
    var report: ExitReport
    switch end {
    case .ended(let status):
      report = ExitReport(code: Int32(status & 0xFF), remote: .status(Int(status)))
    case .signal(let code): report = ExitReport(code: code)
    // As ssh(1), which cannot know more either.
    case .lost where !saysEnds: report = ExitReport(code: ExitReport.failureOfSSH)
    case .lost, .over:
      let failure = loss(wasStarted: wasStarted)
      reporter.fail(failure)
      report = ExitReport(code: failure.exitCode, caseName: failure.error.caseName)
    }
    report.wasUp = true
    return report
  }

  private func loss(wasStarted: Bool) -> CommandFailure {
    let reason = "The shared connection ended, or the process that shares it, without a status."
    let host = PeerText.escaped(settings.givenHost)
    var failure = FailureContext(kind: .outcomeUnknown, phase: .stream, host: host)
    failure.wasStarted = wasStarted
    return CommandFailure(
      error: request.command.map { .sshOutcomeUnknown(command: $0) }
        ?? .sshConnectionFailed(host: host, reason: reason), context: failure, endsSession: true)
  }
}
