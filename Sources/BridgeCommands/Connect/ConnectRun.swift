import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport

/// One run over a link, from the resolved settings to the exit code: keeps the link up for its
/// work.
struct ConnectRun: Sendable {
  let context: RunContext
  let work: any LinkWork
  let signals: Signals
  let prompter: Prompter
  let supervisor: Supervisor<ContinuousClock>
  let id: ConnectionID
  /// Asked for by `~s`.
  let statusRequests: AsyncStream<Void>
  let requestStatus: AsyncStream<Void>.Continuation
  /// Takes connections on local ports; nil where nothing is forwarded.
  let forwarder = Mutex(Forwarder?.none)

  var request: ConnectRequest { context.request }
  var settings: ConnectSettings { context.settings }
  var local: LocalEnvironment { context.local }
  var reporter: Reporter { context.reporter }
  var reactor: Reactor { context.reactor }
  var keyboard: Keyboard? { context.keyboard }
  var view: LinkView { context.view }
  var facts: Mutex<LinkFacts> { context.facts }

  init(_ context: RunContext, _ work: any LinkWork, signals: Signals) {
    self.context = context
    self.work = work
    self.signals = signals
    let (request, local) = (context.request, context.local)
    prompter = Prompter(
      route: PromptRoute.choose(
        isBatch: request.isBatch, hasTerminal: local.hasTerminal, environment: local.variables),
      hasTerminal: local.hasTerminal && !request.isBatch, reporter: context.reporter,
      input: context.input)
    supervisor = Supervisor(
      clock: context.clock, executor: context.reactor, callbackExecutor: context.reactor)
    id = ConnectionID("\(request.host.scheme.rawValue):\(context.settings.endpoint)#1")
    (statusRequests, requestStatus) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The result of a part of the run.
  enum Step: Sendable {
    case ended(RunContext.Ending)
    case signal(Int32)
    case closed
    case over
  }

  /// Connects, does the work, reconnects, closes. A signal ends all of it, in order.
  func run() async -> Int32 {
    let supervised: SupervisedConnection
    do throws(AppError) {
      supervised = try await self.supervised()
    } catch {
      return await finish(.failure(CommandFailure(error: error)), signal: nil)
    }
    if let failure = await startForwards(supervised) { return await finish(failure, signal: nil) }
    let events = supervisor.events()
    var ending: RunContext.Ending?
    var signal: Int32?
    await withTaskGroup(of: Step.self) { group in
      group.addTask(executorPreference: reactor) { await watchSignals() }
      group.addTask(executorPreference: reactor) { await watchEnd() }
      group.addTask(executorPreference: reactor) {
        await watch(events)
        return .closed
      }
      group.addTask(executorPreference: reactor) {
        await work.run()
        return .over
      }
      if let keyboard {
        group.addTask(executorPreference: reactor) {
          await keyboard.listen(to: context.input, now: { ContinuousClock.now }) {
            await obey($0)
          }
          return .over
        }
        group.addTask(executorPreference: reactor) {
          for await _ in statusRequests { await showStatus() }
          return .over
        }
      }
      if let forwarder = forwarder.withLock({ $0 }) {
        group.addTask(executorPreference: reactor) {
          for await event in forwarder.events { report(event) }
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

  /// Works on a generation. Only then is it known whether the work outlives the link.
  func use(_ connection: any Connection, _ generation: Int) async {
    await work.use(connection, generation)
    await supervisor.setSwitching(work.losesNothing ? .free : .costly, for: id)
  }

  private func shutDown() async {
    facts.withLock { $0.isOver = true }
    await work.close()
    await forwarder.withLock { $0 }?.close()
    await supervisor.shutDown()
  }

  private func finish(_ ending: RunContext.Ending, signal: Int32?) async -> Int32 {
    view.end()
    reporter.progress(nil)
    // The cursor stands behind a prompt of the remote side, or behind "^C".
    let isMidLine = keyboard?.wasOpened == true || (signal == 130 && reporter.style.isTerminal)
    if isMidLine, signal != nil || !ending.isSuccess { reporter.leaveLine() }
    TerminalModes.restore()
    if let farewell = work.farewell { reporter.log("bridgectl: \(farewell)") }
    if let signal {
      // Of what would go on for ever it is the way out.
      let isOpenEnded = request.isIdle || (request.messages != nil && local.inputIsTerminal)
      let isDisconnecting = signal == 130 && isOpenEnded && facts.withLock { $0.wasUp }
      guard !isDisconnecting else {
        context.logDisconnect()
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
      for hop in plansOfHops() { try await supervisor.supervise(hop) }
      try await supervisor.supervise(connection)
    } catch {
      context.fail(error)
    }
  }

  private func watchEnd() async -> Step {
    for await ending in context.endings { return .ended(ending) }
    return .over
  }

  private func watchSignals() async -> Step {
    for await event in signals.events {
      switch event {
      case .end(let code): return .signal(code)
      case .resized, .resumed: break
      }
      if let size = TerminalModes.size(of: 0) { context.resizes.yield(.init(size: size)) }
    }
    return .over
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
