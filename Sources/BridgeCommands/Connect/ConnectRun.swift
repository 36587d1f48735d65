import BridgeDiagnostics
import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWebSocket

/// One `bridgectl connect`, from the resolved settings to the exit code.
struct ConnectRun: Sendable {
  /// How it ends.
  typealias Ending = Result<ExitCode, CommandFailure>

  let request: ConnectRequest
  let settings: ConnectSettings
  let local: LocalEnvironment
  let reporter: Reporter
  let signals: Signals
  let reactor: Reactor
  let output = DescriptorWriter(1)
  let input = DescriptorReader(0)
  let commandInput: CommandInput
  let clock = ContinuousClock()
  let keyboard: Keyboard?
  let view: LinkView
  let prompter: Prompter
  let supervisor: Supervisor<ContinuousClock>
  let id: ConnectionID
  /// The first word about the end counts.
  let endings: AsyncStream<Ending>
  let end: AsyncStream<Ending>.Continuation
  let resizes: Resizes
  /// The sessions on new generations.
  let sessions: AsyncStream<Started>
  let started: AsyncStream<Started>.Continuation
  let facts = Mutex(Facts())
  let counters = Counters()
  let messages: MessageSession
  /// WebSocket connections whose messages are to be written out, oldest first.
  let links: AsyncStream<Opened>
  let opened: AsyncStream<Opened>.Continuation
  /// Asked for by `~s`.
  let statusRequests: AsyncStream<Void>
  let requestStatus: AsyncStream<Void>.Continuation

  /// The facts known so far.
  struct Facts: Sendable {
    var wasUp = false
    /// A command was sent or is being sent: the code that loses it reports whether it ran.
    var isRunning = false
    /// A shell or a command was started before, or may have been.
    var wasStarted = false
    /// How the run ends if the command just being sent turns out not to have been.
    var unlessSent: CommandFailure?
    /// The newest failures of the link in use and of one dialed beside it, in the order they came.
    private(set) var failures: [CommandFailure] = []
    /// The result of the newest reconnect, for display.
    var back: String?
    /// Whether the run is ending at the user's request, or has nothing left to do.
    var isOver = false
    /// How a run over messages ends once all that came is written.
    var outcome: CommandFailure?

    mutating func record(_ failure: CommandFailure) { failures = failures.suffix(1) + [failure] }
  }

  /// A shell or a command that has started.
  struct Started: Sendable {
    let channel: SSHChannel
    let connection: SSHConnection
    let generation: Int
  }

  /// A WebSocket connection that is in use.
  struct Opened: Sendable {
    let connection: WebSocketConnection
    let generation: Int
  }

  init(
    request: ConnectRequest, settings: ConnectSettings, local: LocalEnvironment,
    reporter: Reporter, signals: Signals, reactor: Reactor
  ) {
    self.request = request
    self.settings = settings
    self.local = local
    self.reporter = reporter
    self.signals = signals
    self.reactor = reactor
    let ownsKeyboard = Self.ownsKeyboard(request, settings, local)
    let keyboard = ownsKeyboard ? Keyboard() : nil
    self.keyboard = keyboard
    if keyboard == nil, local.inputIsTerminal { reporter.makeRoomForTyping() }
    let host = PeerText.escaped(settings.endpoint.host, limit: 128)
    view = LinkView(
      host: host, reporter: reporter, keyboard: keyboard, reactor: reactor, clock: clock,
      isUnicode: local.isUnicode, retriesFirstDial: request.recovery.wait != nil)
    prompter = Prompter(
      route: PromptRoute.choose(
        isBatch: request.isBatch, hasTerminal: local.hasTerminal, environment: local.variables),
      hasTerminal: local.hasTerminal && !request.isBatch, reporter: reporter, input: input)
    commandInput = CommandInput(
      input, isKept: request.command != nil && request.recovery.isIdempotent)
    supervisor = Supervisor(clock: clock, executor: reactor, callbackExecutor: reactor)
    id = ConnectionID("\(request.host.scheme.rawValue):\(settings.endpoint)#1")
    (endings, end) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    resizes = Resizes()
    let framing = MessageFraming(
      isBinary: request.messages?.isBinary ?? false, isForTerminal: local.outputIsTerminal)
    messages = MessageSession(
      framing: framing, input: input, output: output, reporter: reporter, clock: clock,
      on: reactor)
    (sessions, started) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4))
    (links, opened) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(16))
    (statusRequests, requestStatus) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The result of a part of the run.
  enum Step: Sendable {
    case ended(Ending)
    case signal(Int32)
    case closed
    case over
  }

  /// Connects, runs what is to run, reconnects, closes. A signal ends all of it, in order.
  func run() async -> Int32 {
    let supervised: SupervisedConnection
    do throws(AppError) {
      supervised = try await self.supervised()
    } catch {
      return await finish(.failure(CommandFailure(error: error)), signal: nil)
    }
    let events = supervisor.events()
    var ending: Ending?
    var signal: Int32?
    await withTaskGroup(of: Step.self) { group in
      group.addTask(executorPreference: reactor) { await watchSignals() }
      group.addTask(executorPreference: reactor) { await watchEnd() }
      group.addTask(executorPreference: reactor) {
        await watch(events)
        return .closed
      }
      group.addTask(executorPreference: reactor) {
        for await session in sessions { await carry(session) }
        return .over
      }
      group.addTask(executorPreference: reactor) {
        await deliver()
        return .over
      }
      if let keyboard {
        group.addTask(executorPreference: reactor) {
          await keyboard.listen(to: input, now: { ContinuousClock.now }) { await obey($0) }
          return .over
        }
        group.addTask(executorPreference: reactor) {
          for await _ in statusRequests { await showStatus() }
          return .over
        }
      }
      if case .upTo(let limit)? = request.recovery.wait {
        group.addTask(executorPreference: reactor) { await giveUp(after: limit) }
      }
      await begin(supervised)
      for await step in group {
        switch step {
        case .over: continue
        case .closed: group.cancelAll()
        case .ended(let first):
          ending = ending ?? first
          await shutDown()
        case .signal(let code):
          signal = signal ?? code
          await shutDown()
        }
      }
    }
    await tellCounters()
    return await finish(ending ?? .failure(CommandFailure(error: .cancelled)), signal: signal)
  }

  private func shutDown() async {
    facts.withLock { $0.isOver = true }
    await supervisor.shutDown()
  }

  private func finish(_ ending: Ending, signal: Int32?) async -> Int32 {
    view.end()
    reporter.progress(nil)
    // The cursor stands behind a prompt of the remote side, or behind "^C".
    let isMidLine = keyboard?.wasOpened == true || (signal == 130 && reporter.style.isTerminal)
    if isMidLine, signal != nil || !ending.isSuccess { reporter.leaveLine() }
    TerminalModes.restore()
    if let signal {
      // Of what would go on for ever it is the way out.
      let isOpenEnded = request.isIdle || (request.messages != nil && local.inputIsTerminal)
      let isDisconnecting = signal == 130 && isOpenEnded && facts.withLock { $0.wasUp }
      guard !isDisconnecting else {
        tellLeft()
        return signal
      }
      reporter.fail(CommandFailure(error: .cancelled, signal: signal))
      return signal
    }
    switch ending {
    case .success(let code): return code.rawValue
    case .failure(let failure):
      // A peer that has closed as agreed is no failure.
      if failure.exitCode != 0 { reporter.fail(failure) }
      return failure.exitCode
    }
  }

  private func begin(_ connection: SupervisedConnection) async {
    do throws(AppError) {
      try await supervisor.supervise(connection)
    } catch {
      end.yield(.failure(CommandFailure(error: error)))
    }
  }

  /// How the run ends when standard output takes no more.
  var outputEnding: Ending {
    let error = StandardOutput.error(output.failure, isTerminal: local.outputIsTerminal)
    return error.map { .failure(CommandFailure(error: $0)) } ?? .success(.outputClosed)
  }

  private func watchEnd() async -> Step {
    for await ending in endings { return .ended(ending) }
    return .over
  }

  private func watchSignals() async -> Step {
    for await event in signals.events {
      switch event {
      case .end(let code): return .signal(code)
      case .resized, .resumed: break
      }
      if let size = TerminalModes.size(of: 0) { resizes.yield(.init(size: size)) }
    }
    return .over
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}

/// The sizes of the terminal from now on, for the session that lives.
final class Resizes: Sendable {
  /// The state to pass on to the remote side.
  struct Change: Sendable {
    var size: TerminalSize
    /// The screen is to be drawn again, also where the size is as it was.
    var isRedraw = false
  }

  private let sink = Mutex(AsyncStream<Change>.Continuation?.none)

  /// A stream for the next session; the last one's ends.
  func next() -> AsyncStream<Change> {
    let (stream, next) = AsyncStream.makeStream(
      of: Change.self, bufferingPolicy: .bufferingNewest(1))
    let last = sink.withLock { sink in
      defer { sink = next }
      return sink
    }
    last?.finish()
    return stream
  }

  func yield(_ change: Change) {
    _ = sink.withLock { $0?.yield(change) }
  }
}
