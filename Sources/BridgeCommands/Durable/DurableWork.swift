import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// A shell or a command that outlives its links: started at most once, or attached to. Where that
/// is optional and the host has no `bridge-host`, it runs plainly.
final class DurableWork: LinkWork {
  /// The session to work with.
  enum Target: Sendable {
    /// A new one, or the running one of its name; where it is `isOptional`, a plain shell or
    /// command takes its place.
    case start(SessionSpec, isOptional: Bool)
    case attach(SessionSelector, Role, takes: Bool)
  }

  enum Mode: Sendable {
    case durable
    case plain
  }

  /// Whether the host is asked for `bridge-host` at all.
  private enum Plan: Sendable {
    /// It is; what is known of it before.
    case asks(HostMemory.Finding?)
    case runsPlainly
  }

  enum Interruption {
    case none
    /// Ctrl-C was passed on: the run ends with the program.
    case passedOn
    /// Likewise, and its user knows that it may be on its way still.
    case waits
    /// A signal ends the run, and the program with it.
    case hangsUp
  }

  struct State {
    var session: DurableSession?
    var streams: SessionStreams?
    var newest: SSHConnection?
    /// What ended the link for good.
    var gaveUp: CommandFailure?
    /// Whether an error has said what became of the session.
    var hasFailed = false
    /// How the user's wish to end the program was passed on.
    var interruption = Interruption.none
    /// Whether the session is over for this client, and can be removed.
    var isComplete = false
    var fate = Fate.gone
    var isGone: Bool { fate == .gone }
  }

  /// What becomes of the program when this run is over.
  enum Fate {
    /// There is none to return to: none was started, or it has ended.
    case gone
    case goesOn
    /// It goes on, as its user wants.
    case detached
    /// It goes on, with another client that writes to it.
    case replaced
    /// It was asked to end, and no answer came.
    case asked
  }

  let context: RunContext
  let wanted: Target
  private let plain: PlainWork
  private let links = SessionLinks<SSHConnection>()
  private let client: ClientID
  let found = OnceValue<SessionID>()
  /// The name of the session that was found.
  let foundName = OnceValue<String>()
  /// The session that ran already under the name of the one to start.
  private let returned = OnceValue<SessionStatus>()
  private let unheard = UnheardLinks()
  let place = StartPlace()
  private let agent: SessionAgent?
  let mode = OnceValue<Mode>()
  private let memory: HostMemory
  /// Known with the first link.
  private let plan = OnceValue<Plan>()
  let state = Mutex(State())

  init(_ context: RunContext, _ target: Target) {
    self.context = context
    wanted = target
    memory = context.memory
    var generator = SystemRandomNumberGenerator()
    client = Identifier(using: &generator)
    agent = SessionAgent(context, links, token: Identifier(using: &generator))
    plain = PlainWork(
      context,
      hint: "\(context.host) does not keep this run when its link is lost; "
        + "`bridgectl install \(context.shownHost)` makes the next one last.")
    if case .start(let spec, _) = target, spec.name == nil || context.request.startsAnother {
      found.set(spec.session)
    }
  }

  /// The session that this run works with.
  var target: Target {
    guard let id = returned.current?.session else { return wanted }
    return .attach(SessionSelector(id), .writer, takes: false)
  }

  var losesNothing: Bool { mode.current == .durable || plain.losesNothing }

  /// Its program may print, and be typed to, at any time.
  var servesWhileUp: Bool { mode.current == .durable && state.withLock { $0.streams != nil } }

  // MARK: The link

  func use(_ connection: SSHConnection, _ generation: Int) async {
    if mode.current == .plain { return await plain.use(connection, generation) }
    let finding = context.finding(memory, about: connection)
    // Asking a host that may have a forced command would run that once more.
    if plan.current == nil, finding == .present, let agent {
      await links.use(connection, generation: generation)
      await agent.prepare()
    }
    guard let mayHave = await find(on: connection, knowing: finding) else { return }
    if plan.current == nil {
      guard mayHave, asks(knowing: finding) else {
        runPlainly()
        return await plain.use(connection, generation)
      }
      begin(on: connection, knowing: finding)
    }
    state.withLock { $0.newest = connection }
    await links.use(connection, generation: generation)
    let warning = Task(executorPreference: context.reactor) { await self.warnOfSilence() }
    defer { warning.cancel() }
    switch await mode.value() {
    case .plain: await plain.use(connection, generation)
    case .durable: await context.report(connection)
    case nil: return
    }
  }

  /// Opens the first channel at once, as `PlainWork` does: the round trip that proves the link is
  /// requested next.
  private func begin(on connection: SSHConnection, knowing finding: HostMemory.Finding?) {
    guard let id = found.current else { return }
    let first = Mutex(Task<Result<any ByteChannel, AppError>, Never>?.none)
    let session = DurableSession(
      configuration(of: id, knowing: finding), executor: context.reactor
    ) { [links] command, last throws(AppError) in
      guard let result = await first.withLock({ $0.take() })?.value else {
        return try await links.channel(running: command, isAgain: last != nil)
      }
      do throws(AppError) {
        return try result.get()
      } catch {
        // A link that was lost meanwhile is dialed again: nothing was started.
        guard await connection.lastFailure != nil || error == .cancelled else { throw error }
        return try await links.channel(running: command)
      }
    }
    let command = session.firstCommand.text
    let source = ChannelsBesideAgent(connection: connection, agent: agent)
    let opening = Task.immediate(executorPreference: context.reactor) {
      () async -> Result<any ByteChannel, AppError> in
      do throws(AppError) {
        return .success(try await source.channel(running: command))
      } catch {
        return .failure(error)
      }
    }
    first.withLock { $0 = opening }
    state.withLock { $0.session = session }
    plan.set(.asks(finding))
  }

  /// The session of that name has ended since it was found: another one is looked for, or started.
  private func runAgain() async {
    found.unset()
    foundName.unset()
    returned.unset()
    plan.unset()
    place.decline(couldHaveStarted: false)
    if let connection = state.withLock({ $0.newest }) {
      let finding = context.finding(memory, about: connection)
      // Where its link is lost meanwhile, the next one does it.
      switch await find(on: connection, knowing: finding) {
      case true? where plan.current == nil: begin(on: connection, knowing: finding)
      case false? where plan.current == nil: runPlainly()
      case true?, false?, nil: break
      }
    }
    await run()
  }

  private func runPlainly() {
    mode.set(.plain)
    plan.set(.runsPlainly)
  }

  /// Finds the session that is meant; false where the host can have none, and the run does without,
  /// nil where that did not succeed.
  private func find(
    on connection: SSHConnection, knowing finding: HostMemory.Finding?
  ) async -> Bool? {
    guard found.current == nil else { return true }
    context.expectHost(of: connection, unheard)
    let sessions = SessionHost(
      ChannelsBesideAgent(connection: connection, agent: agent), host: context.settings.givenHost,
      agent: agent?.token, unheard: unheard,
      answerLimit: answerLimit(knowing: finding))
    let scope = SessionQuery.Scope(
      context: context, connection: connection, sessions: sessions, found: found,
      name: foundName, unheard: unheard)
    do throws(AppError) {
      switch wanted {
      case .attach(let selector, _, _): _ = try await scope.resolve(selector, asks: true)
      case .start(let spec, _):
        if let status = try await NamedSession(spec, place).find(scope) {
          returned.set(status)
          foundName.set(spec.name.map(SessionText.text) ?? "")
          found.set(status.session)
        } else {
          found.set(spec.session)
        }
      }
      return true
    } catch {
      let failure = await connection.lastFailure
      let isLost = failure != nil || Task.isCancelled || error == .cancelled
      // What a lost link leaves of an answer says nothing of the host.
      let isMissing = SessionFailure.isMendedByInstalling(error)
      if isOptional, !place.mayHaveStarted, !isLost || isMissing,
        case .durableSessionHostUnusable = error
      {
        // Asking once more would run a forced command once more.
        if isMissing { context.remember(.absent, connection) }
        if SessionFailure.isOfSilence(error) {
          context.remember(.silent, isProven: false, connection)
        }
        sayItRunsPlainly(
          because: error, isMissing: isMissing, wasThere: finding?.wasThere == true)
        return false
      }
      if failure != nil, let error = context.lose(connection, unheard) {
        context.fail(error, nil)
        return nil
      }
      if !isLost { await fail(error, over: connection) }
      return nil
    }
  }

  /// Whether the host is asked for `bridge-host`. Where the account has a forced command, asking
  /// runs it: who wants only a command to run has asked for nothing else.
  private func asks(knowing finding: HostMemory.Finding?) -> Bool {
    guard case .start(let spec, isOptional: true) = target, spec.name == nil else { return true }
    switch finding {
    case .present, .doubted: return true
    case .absent, .silent: return false
    case nil: return spec.kind == .terminal
    }
  }

  /// How long the host may be silent before `bridge-host` answers: briefly where there may be none.
  private func answerLimit(knowing finding: HostMemory.Finding?) -> Duration {
    let limit = isOptional && finding?.wasThere != true ? Self.unlikelyLimit : Self.likelyLimit
    return context.request.timeout.map { min($0, limit) } ?? limit
  }

  private static let likelyLimit = Duration.seconds(30)
  private static let unlikelyLimit = Duration.seconds(10)

  private var isOptional: Bool {
    if case .start(_, isOptional: true) = target { true } else { false }
  }

  /// A login may take long before it runs the command that asks for bridge-host.
  private func warnOfSilence() async {
    guard case .asks(let finding)? = plan.current,
      answerLimit(knowing: finding) > Self.silenceLimit,
      (try? await context.clock.sleep(for: Self.silenceLimit)) != nil
    else { return }
    let question = isOwn ? "whether bridge-host is installed" : "about the session"
    let advice = isOptional ? "; --durable=never skips the check" : ""
    context.reporter.log("bridgectl: \(context.host) did not answer \(question) yet\(advice).")
  }

  private static let silenceLimit = Duration.seconds(10)

  func giveUp(_ failure: CommandFailure) async {
    if mode.current == .plain { return plain.giveUp(failure) }
    let hasSession = state.withLock { state in
      state.gaveUp = failure
      return state.session != nil
    }
    if hasSession { await links.fail(failure.error) } else { context.finish(.failure(failure)) }
  }

  func see(_ event: RecoveryEvent) {
    // What runs plainly says it with what it starts.
    guard mode.current != .plain else { return }
    switch event.step {
    case .suspected, .failed: sayThatTheInterruptWaits()
    case .recovered(_, _, isFirst: false): sayThatTheLinkIsBack()
    default: break
    }
  }

  private func sayThatTheLinkIsBack() {
    if context.keyboard?.wasOpened == true {
      // There the banner goes.
      guard !context.reporter.style.showsProgress else { return }
      context.reporter.leaveLine()
    }
    guard let back = context.facts.withLock({ $0.takeBack() }) else { return }
    context.reporter.log("bridgectl: \(back)")
  }

  var untakenInput: Int {
    get async {
      let (session, streams) = state.withLock { ($0.session, $0.streams) }
      return streams?.hasKeyboard == true ? Int(clamping: await session?.inputUntaken ?? 0) : 0
    }
  }

  func progress(over link: Int) async -> LinkUse.Progress {
    guard let session = state.withLock({ $0.session }) else { return LinkUse.Progress() }
    return LinkUse.Progress(bytes: await session.progress)
  }

  // MARK: The session

  func run() async {
    switch await plan.value() {
    case .asks: break
    case .runsPlainly: return await plain.run()
    case nil: return
    }
    guard let session = state.withLock({ $0.session }) else { return }
    let welcome: Welcome
    do throws(AppError) {
      welcome = try await session.attach()
      // What comes from a pipe or a file is meant for one that runs.
      if welcome.hasEnded, returned.current != nil, LocalEnvironment.hasStreamedInput {
        await session.detach()
        return await runAgain()
      }
    } catch {
      if case .durableSessionNotFound = error, returned.current != nil { return await runAgain() }
      let newest = state.withLock { $0.newest }
      let wasThere = newest.flatMap { context.finding(memory, about: $0) }?.wasThere == true
      await remember(session, error)
      guard await mayRunPlainly(session, error) else { return await fail(error) }
      let isUnusable = if case .durableSessionHostUnusable = error { true } else { false }
      // Where it was, that something ended before it could answer is news.
      let isMissing =
        await session.absence == .noHost
        && (!wasThere || SessionFailure.isOfNoHostProgram(error))
      sayItRunsPlainly(because: error, isMissing: isUnusable && isMissing, wasThere: wasThere)
      mode.set(.plain)
      return await plain.run()
    }
    if let connection = state.withLock({ $0.newest }) {
      context.remember(.present, connection)
    }
    await carry(session, welcome)
  }

  /// - Parameter wasThere: whether the host is known to have had `bridge-host`.
  private func sayItRunsPlainly(because error: AppError, isMissing: Bool, wasThere: Bool) {
    let reason = PeerText.escaped(error.shownMessage())
    if isMissing, case .start(let spec, _) = wanted, let name = spec.name.map(SessionText.text) {
      // Who gives a name wants to return to it.
      return context.reporter.warn(
        "\(context.host) has no bridge-host\(wasThere ? Self.anyMore : ""), "
          + "so what runs now ends with its link, and "
          + "\(PeerText.escaped(name, limit: StartRequest.longestName)) names nothing there: "
          + "`bridgectl install \(context.shownHost)` here changes that")
    }
    guard !isMissing else { return context.reporter.detail("bridgectl: \(reason)") }
    plain.dropHint()
    context.reporter.warn("what runs now ends with its link: \(reason)")
  }

  private static let anyMore = " any more (is its home directory on a disk that is away?)"

  /// Records what an attempt to start says of the host.
  private func remember(_ session: DurableSession, _ error: AppError) async {
    guard isOwn, let connection = state.withLock({ $0.newest }) else { return }
    let isUnusable = if case .durableSessionHostUnusable = error { true } else { false }
    let isLost = await connection.lastFailure != nil
    switch await session.absence {
    case .lostLinks: context.remember(.absent, isProven: false, connection)
    case .noHost where isUnusable && !isLost && !SessionFailure.isOfAShortage(error):
      let isProven = SessionFailure.isOfNoHostProgram(error) || SessionFailure.isOfAnother(error)
      context.remember(.absent, isProven: isProven, connection)
    case .silence where isUnusable && !isLost:
      context.remember(.silent, isProven: false, connection)
    case .noHost, .silence, .declined, nil: return
    }
  }

  /// Only where no bridge-host answered, or it declined before it started anything.
  private func mayRunPlainly(_ session: DurableSession, _ error: AppError) async -> Bool {
    guard case .start(_, isOptional: true) = target, Self.isDeclined(error),
      state.withLock({ $0.gaveUp == nil }), !place.mayHaveStarted
    else { return false }
    return await !session.mayHaveStarted
  }

  /// No bridge-host there, no space for a session, or too many of them.
  private static func isDeclined(_ error: AppError) -> Bool {
    switch error {
    case .durableSessionHostUnusable, .fileWriteError, .sshServerBusy, .durableSessionFull: true
    case _: false
    }
  }

  private func configuration(
    of id: SessionID, knowing finding: HostMemory.Finding?
  ) -> DurableSession.Configuration {
    let host = context.settings.givenHost
    var configuration: DurableSession.Configuration
    switch target {
    case .start(let spec, _):
      configuration = DurableSession.Configuration(host: host, starting: spec, client: client)
      if spec.kind == .terminal { configuration.attachment.size = spec.size }
    case .attach(_, let role, let takes):
      configuration = DurableSession.Configuration(
        host: host, attachment: .init(session: id, client: client))
      configuration.attachment.role = role
      configuration.attachment.takes = takes
      // On pipes it is as good as everything: there is no screen to begin at.
      configuration.attachment.replay = context.local.outputIsTerminal ? .screen : .everything
      configuration.attachment.shown = context.shownEnd(of: "\(id)")
      if context.keyboard != nil, !context.request.screen.keepsSize {
        configuration.attachment.size = TerminalSize(of: 0).map { .init($0) }
      }
    }
    configuration.attachment.followsSize = context.screen != nil
    if context.local.outputIsTerminal, context.request.screen.catchUp == .screen {
      configuration.attachment.catchesUp = true
      // The rest would only be under way for longer.
      configuration.attachment.outputWindow = Limits.window
    }
    configuration.place = place
    configuration.agent = agent?.token
    configuration.answerLimit = answerLimit(knowing: finding)
    // On a host that has it, more links that end before it answers are outages.
    configuration.unheard = unheard
    if finding == .present { unheard.expect() }
    return configuration
  }

  private func carry(_ session: DurableSession, _ welcome: Welcome) async {
    let streams = SessionStreams(
      context, session, welcome, isOwn: isOwn, isStart: isStart, wantsToWrite: wantsToWrite,
      agent: agent,
      roundTrip: { [weak self] in await self?.state.withLock { $0.newest }?.roundTrip },
      renamed: { [foundName] in foundName.replace(with: $0) })
    state.withLock { state in
      state.streams = streams
      state.fate = welcome.hasEnded ? .gone : .goesOn
    }
    mode.set(.durable)
    context.view.change { $0.outlivesLink = true }
    announce(welcome)
    if isOwn, context.keyboard != nil { await announceOthers(than: welcome.session) }
    context.reporter.event(.started(hasTerminal: welcome.kind == .terminal))
    let end = await streams.run()
    if welcome.kind == .terminal {
      let shown = max(streams.shownEnd, welcome.newest)
      context.rememberShown("\(welcome.session)", to: shown)
    }
    switch end {
    case .ended(let end, let missing):
      state.withLock { ($0.isComplete, $0.fate) = (isOwn && welcome.role == .writer, .gone) }
      // What is said of the end would vanish with the screen of a program.
      await streams.giveBackScreen()
      // As with ssh, whatever the program made of it.
      let interruption = state.withLock(\.interruption)
      if interruption == .passedOn || interruption == .waits {
        return context.finish(.success(.interrupted))
      }
      context.finish(
        context.ending(end, missing: missing, wasAsked: interruption == .hangsUp))
    case .failed(let error): await fail(error)
    case .outputClosed:
      // As with SSH, a command whose output has no reader any more does not go on forever.
      if isOwn, welcome.kind == .pipes || kills { await hangUp(session) }
      context.finish(context.outputEnding)
    case .left: return
    }
  }

  /// Whether the program was started by this run.
  var isOwn: Bool { if case .start = target { true } else { false } }

  /// Whether the command line is that of a start, also where one of that name ran already.
  private var isStart: Bool { if case .start = wanted { true } else { false } }

  private var wantsToWrite: Bool {
    switch target {
    case .start, .attach(_, .writer, _): true
    case .attach(_, .viewer, _): false
    }
  }

  private func announce(_ welcome: Welcome) {
    let reporter = context.reporter
    if isOwn { context.warnOfMissingTerminal() }
    if let status = returned.current {
      let age = SessionText.age(of: status, now: WallClock.seconds)
      let name = status.name.map(SessionText.text) ?? ""
      reporter.log(
        "bridgectl: back in \(PeerText.escaped(name, limit: StartRequest.longestName)), which was "
          + "started \(age) ago; --new starts another one.")
    }
    reporter.detail("bridgectl: durable session \(welcome.session)")
    // What it shows looks like one that runs.
    if welcome.hasEnded, !isOwn, context.local.outputIsTerminal {
      reporter.log("bridgectl: \(sessionName) has ended; this is what it left.")
    }
    context.warnOfLogout(welcome.survivesLogout)
    guard wantsToWrite, welcome.role == .viewer else { return }
    reporter.log(
      "bridgectl: \(SessionText.writer(welcome)); you only read. "
        + "`bridgectl attach --take \(context.shownHost) \(sessionOperand)` takes over.")
  }

  /// Says how to return to shells that go on without a client: this run has started another one.
  private func announceOthers(than own: SessionID) async {
    guard let connection = state.withLock({ $0.newest }) else { return }
    let host = SessionHost(connection, host: context.settings.givenHost)
    let clock = context.clock
    let found = await withTaskGroup(of: [SessionStatus].self) { group in
      group.addTask { (try? await host.list()) ?? [] }
      group.addTask {
        try? await clock.sleep(for: Self.listLimit)
        return []
      }
      defer { group.cancelAll() }
      return await group.next() ?? []
    }
    let words = SessionText.forgotten(
      found.filter { $0.session != own }, host: context.shownHost, now: WallClock.seconds)
    if let words { context.reporter.log("bridgectl: \(words)") }
  }

  /// For a list that is not essential: the shell waits for it.
  private static let listLimit = Duration.seconds(1)

  /// How the run ends when the session is over for this client.
  ///
  /// - Parameter connection: the one that it failed over; nil for the newest.
  private func fail(_ error: AppError, over connection: SSHConnection? = nil) async {
    mode.set(.durable)
    state.withLock { $0.hasFailed = error != .cancelled }
    if case .durableSessionOutcomeUnknown = error { state.withLock { $0.fate = .gone } }
    if case .durableSessionNotFound = error { state.withLock { $0.fate = .gone } }
    if case .durableSessionReplaced = error { state.withLock { $0.fate = .replaced } }
    let wasAttached = state.withLock { $0.streams != nil }
    let error =
      wasAttached
      ? SessionFailure.ofAttached(error)
      : isOwn && place.mayHaveStarted
        ? SessionFailure.unknownStart(error, host: context.settings.givenHost) : error
    if isOwn, !wasAttached, let id = found.current ?? startedID {
      context.sayWhichMayRun(id, error)
    }
    let gaveUp = state.withLock { $0.gaveUp }
    if let gaveUp, gaveUp.error == error { return context.finish(.failure(gaveUp)) }
    let refusing = connection ?? state.withLock { $0.newest }
    context.fail(error, await refusing?.lastRefusal)
  }

  /// The session that a search for one of its name may have started.
  private var startedID: SessionID? {
    if place.mayHaveStarted, case .start(let spec, _) = wanted { spec.session } else { nil }
  }

  // MARK: The user

  func hold(_ isHeld: Bool) {
    switch mode.current {
    case .durable: state.withLock { $0.streams }?.suspect(isHeld)
    case .plain, nil: plain.hold(isHeld)
    }
  }

  func move(_ key: UInt8) { state.withLock { $0.streams }?.move(key) }
  func answer(sendsHeld: Bool) { state.withLock { $0.streams }?.answer(sendsHeld: sendsHeld) }
}
