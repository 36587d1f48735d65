import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// The result of a part of a run.
enum RunStep: Sendable {
  case ended(RunContext.Ending)
  case signal(Int32)
  /// The last forwarded connection has ended.
  case carried
  case closed
  case over
}

/// What an escape shows that is not known at once.
enum RunDisplay: Sendable {
  case status
  case forwards
}

/// One run over a link, from the resolved settings to the exit code: keeps the link up for its
/// work.
struct ConnectRun<Work: LinkWork>: Sendable {
  let context: RunContext
  let work: Work
  let signals: Signals
  let prompter: Prompter
  let supervisor: Supervisor<ContinuousClock>
  /// The link that the work goes over.
  let id: ConnectionID
  /// Asked for by `~s` and `~#`.
  let displayRequests: AsyncStream<RunDisplay>
  let requestDisplay: AsyncStream<RunDisplay>.Continuation

  var request: ConnectRequest { context.request }
  var settings: ConnectSettings { context.settings }
  var reporter: Reporter { context.reporter }
  var reactor: Reactor { context.reactor }
  var keyboard: Keyboard? { context.keyboard }
  var view: LinkView { context.view }

  init(_ context: RunContext, _ work: Work, signals: Signals) {
    self.context = context
    self.work = work
    self.signals = signals
    let (request, local) = (context.request, context.local)
    let isBatch = request.isBatch || context.settings.login.isBatch
    prompter = Prompter(
      route: PromptRoute.choose(
        isBatch: isBatch, hasTerminal: local.hasTerminal, environment: local.variables),
      hasTerminal: local.hasTerminal && !isBatch, reporter: context.reporter,
      input: context.input)
    supervisor = Supervisor(
      clock: context.clock, executor: context.reactor, callbackExecutor: context.reactor,
      // The keys execute the options.
      onOption: { _, _ in throw OptionUnavailable() })
    id = ConnectionID("\(request.host.scheme.rawValue):\(context.settings.endpoint)#1")
    (displayRequests, requestDisplay) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingNewest(1))
  }

  /// Connects, does the work, reconnects, closes. A signal ends all of it, in order.
  func run() async -> Int32 {
    let links: RunLinks<Work.Link>
    do throws(AppError) {
      links = try await RunLinks(
        RunDialer(context: context, prompter: prompter, supervisor: supervisor), id: id)
    } catch {
      return await finish(.failure(CommandFailure(error: error)), signal: nil)
    }
    let forwards = Work.Link.forwards(context, over: links)
    if let failure = await forwards?.start() { return await finish(failure, signal: nil) }
    await context.sharing?.use(forwards)
    let events = supervisor.events()
    var ending: RunContext.Ending?
    // Whether a signal decides how the run ends: not once its work has ended.
    var isOpen = true
    var signal: Int32?
    await withTaskGroup(of: RunStep.self) { group in
      group.addTask(executorPreference: reactor) { await watchSignals() }
      group.addTask(executorPreference: reactor) { await watchEnd() }
      group.addTask(executorPreference: reactor) {
        await watch(events, forwards)
        return .closed
      }
      group.addTask(executorPreference: reactor) {
        for await _ in reactor.networkChanges() { await supervisor.networkChanged() }
        return .over
      }
      group.addTask(executorPreference: reactor) {
        await work.run()
        return .over
      }
      if let keyboard { listen(to: keyboard, forwards, in: &group) }
      if let forwards { keep(forwards, in: &group) }
      if let sharing = context.sharing {
        group.addTask(executorPreference: reactor) {
          await sharing.serve()
          return .over
        }
      }
      if case .upTo(let limit)? = request.recovery.wait {
        group.addTask(executorPreference: reactor) { await giveUp(after: limit) }
      }
      await begin(links, forwards)
      for await step in group {
        switch step {
        case .over: continue
        case .closed: group.cancelAll()
        case .ended(let next):
          let isFirst = ending == nil
          ending = ending ?? next
          guard isFirst, await outlives(next, forwards) else {
            isOpen = false
            await shutDown(forwards, abandonsWork: Self.isOfInput(next))
            continue
          }
          group.addTask(executorPreference: reactor) {
            await forwards?.untilIdle()
            await context.sharing?.untilIdle()
            return .carried
          }
          // What the user asks for, or that the link has given up.
          group.addTask(executorPreference: reactor) { await watchEnd() }
        case .carried: await shutDown(forwards)
        case .signal(let code):
          if isOpen { signal = signal ?? code }
          await shutDown(forwards, abandonsWork: isOpen)
        }
      }
    }
    await reportCounters()
    return await finish(ending ?? .failure(CommandFailure(error: .cancelled)), signal: signal)
  }

  private func listen(
    to keyboard: Keyboard, _ forwards: RunForwards?, in group: inout TaskGroup<RunStep>
  ) {
    group.addTask(executorPreference: reactor) {
      await keyboard.listen(to: context.input, now: { ContinuousClock.now }) { await obey($0) }
      return .over
    }
    group.addTask(executorPreference: reactor) {
      for await display in displayRequests { await show(display, forwards) }
      return .over
    }
  }

  private func keep(_ forwards: RunForwards, in group: inout TaskGroup<RunStep>) {
    group.addTask(executorPreference: reactor) {
      await forwards.report()
      return .over
    }
    group.addTask(executorPreference: reactor) {
      await forwards.askForPorts()
      return .over
    }
  }

  private func begin(_ links: RunLinks<Work.Link>, _ forwards: RunForwards?) async {
    do throws(AppError) {
      try await links.add(losesNothing: work.losesNothing) { connection, generation in
        await begin(sides: work.sideLinks, links)
        await use(connection, generation, forwards)
      }
    } catch {
      context.fail(error)
    }
  }

  /// What was typed for the first link, and trusted, is of use to those beside it.
  private func begin(sides count: Int, _ links: RunLinks<Work.Link>) async {
    do throws(AppError) {
      try await links.addSides(count) { await work.use($0, side: $1, $2) }
    } catch {
      reporter.detail("bridgectl: no connection beside the first one: \(error.shownMessage())")
    }
  }

  /// Works on a generation. Only then is it known whether the work outlives the link.
  private func use(
    _ connection: Work.Link, _ generation: Int, _ forwards: RunForwards?
  ) async {
    // Before the run is in the background, as with ssh: it has the standard streams.
    if generation == 1, request.takesSession, let line = settings.localCommand {
      let shell = context.local.variables["SHELL"].flatMap { $0.isEmpty ? nil : $0 }
      if let problem = await LocalCommand.run(line, by: shell ?? "/bin/sh") {
        reporter.warn(problem)
      }
    }
    if let sharing = context.sharing, await !connection.share(by: sharing) {
      return context.finish(.success(.success))
    }
    context.detachment?.loggedIn(reporter)
    await forwards?.untilAnswered()
    guard !Task.isCancelled else { return }
    await work.use(connection, generation)
    let isFree = work.losesNothing
    await supervisor.setSwitching(isFree ? .free : .costly, for: id)
    // A silent host on the way is left as soon as the last one would be. What is forwarded is on
    // its way over the same one.
    for hop in RunDialer.hops(of: settings) {
      await supervisor.setSwitching(isFree && forwards == nil ? .free : .costly, for: hop.id)
    }
  }

  /// As with ssh, what is forwarded, and what others run over the connection, outlives the shell or
  /// the command; the terminal is the user's again, so that Ctrl-C ends it.
  private func outlives(_ ending: RunContext.Ending, _ forwards: RunForwards?) async -> Bool {
    let hasEnded = context.facts.withLock { $0.remote != nil }
    let carried = await forwards?.count ?? 0
    let shared = await context.sharing?.count ?? 0
    guard case .success = ending, hasEnded, carried + shared > 0 else { return false }
    TerminalModes.restore()
    let what = [
      carried > 0 ? Counted.text(carried, "forwarded connection") : nil,
      shared > 0 ? Counted.text(shared, "session") + " of other runs" : nil,
    ].compactMap(\.self).joined(separator: " and ")
    reporter.log("bridgectl: waiting for the end of \(what); Ctrl-C ends them.")
    return true
  }

  /// Whether Ctrl-C was passed on to the work, which ends the run.
  private func passesOn(_ code: Int32) async -> Bool {
    guard code == ExitCode.interrupted.rawValue, await work.interrupt() else { return false }
    signals.goOn()
    return true
  }

  /// Whether the run ends because its input cannot be read any more: what it has started would wait
  /// for the rest of it.
  private static func isOfInput(_ ending: RunContext.Ending) -> Bool {
    guard case .failure(let failure) = ending, case .fileReadError = failure.error else {
      return false
    }
    return true
  }

  private func shutDown(_ forwards: RunForwards?, abandonsWork: Bool = false) async {
    if abandonsWork { work.abandon() }
    context.facts.withLock { $0.isOver = true }
    // Its keys are closed: what a banner offered would not be there.
    view.end()
    await work.close()
    await context.sharing?.close()
    await forwards?.close()
    await supervisor.shutDown()
  }

  private func finish(_ result: RunContext.Ending, signal: Int32?) async -> Int32 {
    var circumstances = RunEnding.Circumstances()
    circumstances.isOpenEnded =
      request.isIdle || (request.messages != nil && context.local.inputIsTerminal)
    circumstances.wasUp = context.facts.withLock { $0.wasUp }
    circumstances.hadKeyboard = keyboard?.wasOpened == true
    circumstances.isTerminal = reporter.style.isTerminal
    let hadTerminal = context.wantsTerminal && circumstances.wasUp
    let ending = RunEnding(result, signal: signal, circumstances)
    // What a lost link brought may be queued for a slow reader. A signal ends that, too.
    await drain(isBrief: signal != nil)
    view.end()
    reporter.progress(nil)
    await context.giveBackScreen()
    if ending.leavesLine { reporter.leaveLine() }
    TerminalModes.restore()
    if reporter.style.isSSH, !ending.isFailure, circumstances.hadKeyboard || hadTerminal {
      let host = PeerText.escaped(context.settings.endpoint.host, limit: 128)
      reporter.log("Connection to \(host) closed.\r")
    }
    if context.facts.withLock({ $0.hasDisconnected }) { context.logDisconnect() }
    if let farewell = work.farewell { reporter.log("bridgectl: \(farewell)") }
    switch ending.words {
    case .none: break
    case .failure where signal != nil && reporter.style.isSSH: break
    case .disconnected: context.logDisconnect()
    case .failure(var failure):
      context.facts.withLock { $0.caseName = failure.error.caseName }
      if case .sshHostKeyUnknown = failure.error, prompter.hasRefusedKey {
        failure.remedy = CommandAdvice.refusedKey
      }
      failure.jumpHost = settings.jumpHost(in: failure.context)
      if let hop = failure.jumpHost { reporter.log("bridgectl: \(hop.words)") }
      reporter.fail(failure)
    }
    return ending.code
  }

  /// Waits until a slow reader has all of the output; after a signal hardly.
  private func drain(isBrief: Bool) async {
    guard isBrief else {
      await context.output.drain()
      return
    }
    let (output, clock) = (context.output, context.clock)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await output.drain() }
      group.addTask { try? await clock.sleep(for: Self.briefDrain) }
      await group.next()
      group.cancelAll()
    }
  }

  private static var briefDrain: Duration { .milliseconds(100) }

  private func watchEnd() async -> RunStep {
    for await ending in context.endings { return .ended(ending) }
    return .over
  }

  private func watchSignals() async -> RunStep {
    for await event in signals.events {
      switch event {
      case .end(let code):
        guard await passesOn(code) else { return .signal(code) }
      case .resized: break
      case .stopping:
        await giveTerminalAway()
        signals.stopNow()
        continue
      // Another program had the terminal.
      case .resumed: reporter.forgetScreen()
      }
      await context.sharing?.resized()
      if let size = TerminalSize(of: 0) {
        context.screen?.resize(size)
        context.resizes.yield(size)
      }
      guard event == .resumed else { continue }
      context.screen?.resume(to: context.output)
      view.resume()
    }
    return .over
  }

  /// Takes back what is drawn, and the modes of the remote program: the process is stopped next.
  private func giveTerminalAway() async {
    view.suspend()
    reporter.progress(nil)
    reporter.interrupt()
    await reporter.drain()
    context.screen?.suspend(to: context.output)
    await context.output.drain()
  }

  /// `--wait=DURATION`.
  private func giveUp(after limit: Duration) async -> RunStep {
    do {
      try await context.clock.sleep(whileRunning: limit)
    } catch {
      return .over
    }
    let isWebSocket = request.messages != nil
    let failure = context.facts.withLock {
      $0.failure(ofWaiting: limit, isWebSocket: isWebSocket)
    }
    if let failure { context.finish(.failure(failure)) }
    return .over
  }
}
