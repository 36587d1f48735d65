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
    /// A new one; where it is `isOptional`, a plain shell or command takes its place.
    case start(SessionSpec, isOptional: Bool)
    case attach(SessionSelector, Role, takes: Bool)
  }

  private enum Mode: Sendable {
    case durable
    case plain
  }

  private struct State {
    var session: DurableSession?
    var streams: SessionStreams?
    var newest: SSHConnection?
    /// What ended the link for good.
    var gaveUp: CommandFailure?
    var isDetached = false
    /// Whether the session is over for this client, and can be removed.
    var isComplete = false
    /// Whether there is no program to return to.
    var isGone = true
  }

  private let context: RunContext
  private let target: Target
  private let plain: PlainWork
  private let links = SessionLinks<SSHConnection>()
  private let client: ClientID
  private let found = OnceValue<SessionID>()
  private let mode = OnceValue<Mode>()
  private let state = Mutex(State())

  init(_ context: RunContext, _ target: Target) {
    self.context = context
    self.target = target
    var generator = SystemRandomNumberGenerator()
    client = Identifier(using: &generator)
    plain = PlainWork(
      context,
      hint: "\(context.host) cannot keep what runs when the link is lost; "
        + "`bridgectl install \(context.shownHost)` changes that.")
    if case .start(let spec, _) = target { found.set(spec.session) }
  }

  var losesNothing: Bool {
    switch mode.current {
    case .durable: true
    case .plain, nil: plain.losesNothing
    }
  }

  // MARK: The link

  func use(_ connection: any Connection, _ generation: Int) async {
    guard let ssh = connection as? SSHConnection else { return }
    if mode.current == .plain { return await plain.use(connection, generation) }
    guard await find(on: ssh) else { return }
    state.withLock { $0.newest = ssh }
    await links.use(ssh, generation: generation)
    let warning = Task(executorPreference: context.reactor) { await self.warnOfSilence() }
    defer { warning.cancel() }
    switch await mode.value() {
    case .plain: await plain.use(connection, generation)
    case .durable: await context.report(ssh)
    case nil: return
    }
  }

  /// Finds the session that is meant; false where that did not succeed.
  private func find(on connection: SSHConnection) async -> Bool {
    guard found.current == nil, case .attach(let selector, _, _) = target else { return true }
    let scope = SessionQuery.Scope(
      context: context, connection: connection,
      sessions: SessionHost(connection, host: context.settings.givenHost), found: found)
    do throws(AppError) {
      _ = try await scope.resolve(selector)
      return true
    } catch {
      let isLost = await connection.lastFailure != nil || Task.isCancelled || error == .cancelled
      if !isLost { context.fail(error, await connection.lastRefusal) }
      return false
    }
  }

  /// A host may take the command that looks for bridge-host and never answer it.
  private func warnOfSilence() async {
    guard (try? await context.clock.sleep(for: Self.silenceLimit)) != nil else { return }
    let question = isOwn ? "whether bridge-host is installed" : "about the session"
    let advice = isOwn ? "; --durable=never skips the check" : ""
    context.reporter.log("bridgectl: \(context.host) did not answer \(question)\(advice).")
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
    guard mode.current == .durable, context.keyboard?.wasOpened != true,
      case .recovered(let time, let attempts, isFirst: false) = event.step
    else { return }
    context.reporter.log("bridgectl: \(LinkStatus.back(after: time, attempts))")
  }

  var untakenInput: Int {
    get async {
      let (session, streams) = state.withLock { ($0.session, $0.streams) }
      guard streams?.hasKeyboard == true, let session else { return 0 }
      return Int(clamping: await session.inputUntaken)
    }
  }

  func progress(over link: Int) async -> LinkUse.Progress {
    guard let session = state.withLock({ $0.session }) else { return LinkUse.Progress() }
    return LinkUse.Progress(bytes: await session.progress)
  }

  // MARK: The session

  func run() async {
    guard let id = await found.value() else { return }
    let session = DurableSession(configuration(of: id), executor: context.reactor) {
      [links] command, _ throws(AppError) in try await links.channel(running: command)
    }
    state.withLock { $0.session = session }
    let welcome: Welcome
    do throws(AppError) {
      welcome = try await session.attach()
    } catch {
      guard await mayRunPlainly(session, error) else { return await fail(error) }
      let reason = PeerText.escaped(error.shownMessage())
      if case .durableSessionHostUnusable = error, await !session.wasDeclined {
        context.reporter.detail("bridgectl: \(reason)")
      } else {
        plain.dropHint()
        context.reporter.warn("what runs now ends with its link: \(reason)")
      }
      mode.set(.plain)
      return await plain.run()
    }
    await carry(session, welcome)
  }

  /// Only where no bridge-host answered, or it declined before it started anything.
  private func mayRunPlainly(_ session: DurableSession, _ error: AppError) async -> Bool {
    guard case .start(_, isOptional: true) = target, Self.isDeclined(error),
      state.withLock({ $0.gaveUp == nil })
    else { return false }
    return await !session.mayHaveStarted
  }

  /// No bridge-host there, no space for a session, or too many of them.
  private static func isDeclined(_ error: AppError) -> Bool {
    if case .durableSessionHostUnusable = error { return true }
    if case .fileWriteError = error { return true }
    if case .sshServerBusy = error { return true }
    return false
  }

  private func configuration(of id: SessionID) -> DurableSession.Configuration {
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
      if context.keyboard != nil {
        configuration.attachment.size = TerminalSize(of: 0).map { .init($0) }
      }
    }
    return configuration
  }

  private func carry(_ session: DurableSession, _ welcome: Welcome) async {
    let streams = SessionStreams(
      context, session, welcome, isOwn: isOwn, wantsToWrite: wantsToWrite)
    state.withLock { state in
      state.streams = streams
      state.isGone = welcome.hasEnded
    }
    mode.set(.durable)
    announce(welcome)
    if isOwn, context.keyboard != nil { await announceOthers(than: welcome.session) }
    context.reporter.event(.started(hasTerminal: welcome.kind == .terminal))
    let end = await streams.run()
    switch end {
    case .ended(let end, let missing):
      state.withLock { ($0.isComplete, $0.isGone) = (isOwn && welcome.role == .writer, true) }
      context.finish(context.ending(end, missing: missing))
    case .failed(let error): await fail(error)
    case .outputClosed:
      // As with SSH, a command whose output has no reader any more does not go on forever.
      if isOwn, welcome.kind == .pipes { await hangUp(session) }
      context.finish(context.outputEnding)
    case .left: return
    }
  }

  /// Asks the program to end. Where the link is down, or the program stays, that is said.
  private func hangUp(_ session: DurableSession) async {
    guard (try? await session.signal(.hangup)) != nil else { return }
    let clock = context.clock
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await clock.sleep(for: Self.hangupLimit) }
      group.addTask {
        // What comes before its end is wanted no more.
        do throws(AppError) {
          for try await chunk in session.output { await session.commit(through: chunk.end) }
        } catch {
          // It goes on, as far as is known.
        }
      }
      await group.next()
      group.cancelAll()
    }
    if await session.ending != nil { state.withLock { $0.isGone = true } }
  }

  /// For a program that ends at once when it is asked.
  private static let hangupLimit = Duration.seconds(1)

  private var isOwn: Bool { if case .start = target { true } else { false } }

  private var wantsToWrite: Bool {
    switch target {
    case .start, .attach(_, .writer, _): true
    case .attach(_, .viewer, _): false
    }
  }

  private func announce(_ welcome: Welcome) {
    let reporter = context.reporter
    if isOwn { context.warnOfMissingTerminal() }
    reporter.detail("bridgectl: durable session \(welcome.session)")
    context.warnOfLogout(welcome.survivesLogout)
    guard wantsToWrite, welcome.role == .viewer else { return }
    let other = welcome.writer.map { "client \($0)" } ?? "another client"
    reporter.log("bridgectl: \(other) writes to this session; you only read. --take takes over.")
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
  private func fail(_ error: AppError) async {
    mode.set(.durable)
    if case .durableSessionOutcomeUnknown = error { state.withLock { $0.isGone = true } }
    if case .durableSessionNotFound = error { state.withLock { $0.isGone = true } }
    let gaveUp = state.withLock { $0.gaveUp }
    if let gaveUp, gaveUp.error == error { return context.finish(.failure(gaveUp)) }
    context.fail(error, await state.withLock { $0.newest }?.lastRefusal)
  }

  // MARK: The user

  func hold(_ isHeld: Bool) {
    switch mode.current {
    case .durable: state.withLock { $0.streams }?.suspect(isHeld)
    case .plain, nil: plain.hold(isHeld)
    }
  }

  func answer(sendsHeld: Bool) { state.withLock { $0.streams }?.answer(sendsHeld: sendsHeld) }

  func detach() {
    state.withLock { $0.isDetached = true }
    context.reporter.show("\r\n")
    context.finish(.success(.success))
  }

  var farewell: String? {
    guard mode.current == .durable, let id = found.current else { return nil }
    let (isGone, isDetached) = state.withLock { ($0.isGone, $0.isDetached) }
    guard !isGone else { return nil }
    let host = context.shownHost
    let short = "\(id)".prefix(SessionText.shortID)
    return (isDetached ? "detached from session \(short)" : "session \(short) goes on")
      + ": `bridgectl attach \(host) \(short)` returns to it, "
      + "`bridgectl kill \(host) \(short)` ends it."
  }

  func close() async {
    let (session, streams, isComplete) = state.withLock {
      ($0.session, $0.streams, $0.isComplete)
    }
    guard let session, mode.current == .durable else { return }
    // A person waits for the prompt.
    if isComplete { await session.close(within: .seconds(2)) } else { await session.detach() }
    await streams?.close()
  }
}

extension RunContext {
  /// The shell or command of `connect`, with the terminal that it wants.
  var connectSpec: SessionSpec {
    var spec = spec
    guard wantsTerminal else { return spec }
    spec.terminal = Array(terminalType.utf8)
    if let size = TerminalSize(of: 0) { spec.size = .init(size) }
    spec.modes = TerminalModes.encoded(of: 0)
    return spec
  }

  /// The host as the user typed it, with the options that lead there, for a command to copy.
  var shownHost: String { request.target }
}

extension BridgeSessionProtocol.TerminalSize {
  init(_ size: BridgeSSH.TerminalSize) {
    self.init(columns: UInt16(clamping: size.columns), rows: UInt16(clamping: size.rows))
  }
}
