import BridgeDiagnostics
import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// A shell or a command that ends with its link: one a generation, and the ledger decides which.
final class PlainWork: LinkWork {
  /// A shell or a command that has started.
  private struct Started: Sendable {
    let channel: SSHChannel
    let connection: SSHConnection
    let generation: Int
    /// Set when its end, or its loss, is in the ledger.
    let isOver: OnceValue<Void>
  }

  private struct State {
    var ledger = CommandLedger()
    /// Of the last one that was sent: its output may still be written when the next link is up.
    var isOver: OnceValue<Void>?
    /// How the run ends if what is out is lost and may run again, or was not sent after all.
    var heldBack: CommandFailure?
    /// The terminal of the newest session, where what is typed is shown before its echo.
    var predicted: PredictedTerminal?
    /// Why it does not outlive its link, until that was shown.
    var hint: String?
  }

  private let context: RunContext
  private let input: CommandInput
  private let state: Mutex<State>
  /// The sessions on new generations.
  private let sessions: AsyncStream<Started>
  private let started: AsyncStream<Started>.Continuation

  /// - Parameter hint: how it could outlive its link; shown once, where that matters.
  init(_ context: RunContext, hint: String? = nil) {
    self.context = context
    let request = context.request
    input = CommandInput(
      context.input, isKept: request.command != nil && request.recovery.isIdempotent)
    state = Mutex(State(hint: hint))
    (sessions, started) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4))
  }

  var losesNothing: Bool { context.request.recovery.isIdempotent }

  /// Nothing of what the hint says would help.
  func dropHint() { state.withLock { $0.hint = nil } }

  func run() async {
    for await session in sessions {
      await carry(session)
      session.isOver.set(())
    }
  }

  func hold(_ isHeld: Bool) {
    context.keyboard?.hold(isHeld)
    state.withLock(\.predicted)?.hold(isHeld)
  }

  func giveUp(_ failure: CommandFailure) {
    var failure = failure
    let endsNow = state.withLock { state in
      failure.endsSession = state.ledger.wasStarted
      let endsNow = state.ledger.giveUp()
      if !endsNow { state.heldBack = failure }
      return endsNow
    }
    if endsNow { context.finish(.failure(failure)) }
  }

  func use(_ connection: SSHConnection, _ generation: Int) async {
    // Whether the one before may have run is known when the last of its output is written.
    if let before = state.withLock({ $0.isOver }), await before.value() == nil { return }
    let isOver = OnceValue<Void>()
    let isSent = state.withLock { state in
      guard state.ledger.send() else { return false }
      state.isOver = isOver
      return true
    }
    guard isSent else { return }
    // Not canceled with the generation: how far it came must be known. At once: the round trip
    // that proves the link is requested next, and the second caller waits for its answer.
    let starting = Task.immediate(executorPreference: context.reactor) {
      await start(on: connection)
    }
    switch await starting.value {
    case .success(let channel):
      started.yield(
        Started(
          channel: channel, connection: connection, generation: generation, isOver: isOver))
    case .failure(let error):
      await lost(error, connection, nil)
      isOver.set(())
    }
  }

  private func start(on connection: SSHConnection) async -> Result<SSHChannel, AppError> {
    context.warnOfMissingTerminal()
    context.warnOfMissingAgent()
    let terminal = context.pseudoTerminal
    do throws(AppError) {
      let environment = context.settings.environment
      let program = try context.request.startedProgram()
      return .success(
        try await connection.start(program, terminal: terminal, environment: environment))
    } catch {
      return .failure(error)
    }
  }

  /// Carries the streams until the end. Not canceled when the generation ends: what has come is
  /// written even so.
  private func carry(_ session: Started) async {
    let (channel, connection) = (session.channel, session.connection)
    let (reporter, keyboard) = (context.reporter, context.keyboard)
    await context.report(connection)
    let isRepeated = state.withLock { $0.ledger.start() }
    announce(session.generation, isRepeated: isRepeated)
    if isRepeated, context.request.command != nil { await context.counters.countRetry() }
    if context.wantsTerminal, !channel.hasTerminal {
      context.goOnWithoutTerminal(isKnown: isRepeated)
    }
    reporter.event(.started(hasTerminal: channel.hasTerminal))
    let sizes = context.resizes.next()
    if let keyboard {
      // Without a terminal there, the one here edits each line.
      if channel.hasTerminal { TerminalModes.set(.raw, on: 0) }
      keyboard.open()
    }
    let predicted = channel.hasTerminal ? PredictedTerminal(context) : nil
    state.withLock { $0.predicted = predicted }
    await predicted?.setRoundTrip(connection.roundTrip)
    let remote = RemoteSession(
      channel, context.ends(input: input, predicted: predicted, sizes: sizes))
    let end = await remote.run()
    predicted?.withdraw()
    switch end {
    case .ended(let status):
      state.withLock { $0.ledger.end() }
      context.facts.withLock { $0.remote = ExitReport.Remote(status) }
      if case .signal(let name) = status {
        await context.giveBackScreen()
        reporter.log("bridgectl: \(ExitReport.Remote.words(ofSignal: name)) ended it.")
      }
      context.finish(.success(ExitCode(status)))
    case .outputClosed: context.finish(context.outputEnding)
    case .failed(let error): await lost(error, connection, channel)
    }
  }

  private func announce(_ generation: Int, isRepeated: Bool) {
    let isShell = context.request.command == nil
    if generation == 1 {
      if isShell, context.keyboard != nil { showHint() }
      return
    }
    let news = isShell ? Self.newShell : "The command runs again."
    if context.keyboard != nil { context.reporter.show("\r\n") }
    let back = context.facts.withLock { $0.takeBack() }
    for line in [back, isRepeated ? news : nil].compactMap(\.self) {
      context.reporter.log("bridgectl: \(line)")
    }
    if isRepeated { showHint() }
  }

  private static let newShell = "This is a new shell; what ran in the old one has ended."

  /// Shows once how the work could outlive its link.
  private func showHint() {
    if let hint = state.withLock({ $0.hint.take() }) { context.reporter.log("bridgectl: \(hint)") }
  }

  /// The session is gone. With the link gone too, the next generation may have another one; a
  /// command that may have run is not run again unless that does no harm.
  private func lost(_ error: AppError, _ connection: SSHConnection, _ channel: SSHChannel?) async {
    let isStarted = channel != nil
    let failure = await connection.lastFailure
    let (keyboard, isOver) = (context.keyboard, context.facts.withLock { $0.isOver })
    let unsent = keyboard?.close() ?? 0
    if isStarted { await context.giveBackScreen() }
    // A generation that was closed for a better one has no failure of its own.
    guard failure != nil || error == .cancelled || Task.isCancelled else {
      let known = isStarted ? channel?.failure : await connection.lastRefusal
      return context.fail(error, known)
    }
    if unsent > 0 { context.view.change { $0.lostBytes = unsent } }
    let isUnknown = error.caseName == AppError.sshOutcomeUnknown(command: "").caseName
    // Closed for a better one: how far it came is not known.
    let mayHaveRun = isStarted || isUnknown || error == .cancelled
    let mayRunAgain = mayRunAgain
    let (consequence, heldBack) = state.withLock { state in
      if isOver { state.ledger.end() }
      let consequence = state.ledger.lose(
        mayHaveRun ? .mayHaveRun : .notSent, mayRunAgain: mayRunAgain)
      return (consequence, state.heldBack)
    }
    switch consequence {
    case .continues:
      // The keys for the link are read one by one, also where lines were edited here.
      if keyboard != nil, channel?.hasTerminal == false {
        TerminalModes.set(.raw, on: 0, dropsInput: true)
      }
    case .ends: if let heldBack { context.finish(.failure(heldBack)) }
    case .endsUnknown:
      // Where its status came and not all of its output, that is what to say.
      let cut = channel?.failure.flatMap { $0.detail == nil ? nil : $0 }
      var known = cut ?? failure
      known?.wasStarted = isStarted
      endUnknown(isUnknown ? error : nil, known)
    }
  }

  private func endUnknown(_ error: AppError?, _ failure: FailureContext?) {
    if context.request.command != nil { showHint() }
    var ending = CommandFailure(
      error: error ?? .sshOutcomeUnknown(command: context.request.command ?? ""),
      context: failure, endsSession: true)
    if context.request.recovery.isIdempotent { ending.remedy = Self.ofLongInput }
    context.finish(.failure(ending))
  }

  private static let ofLongInput: CommandAdvice.Row = """
    Its input was too long to be kept for another run (4 MiB are): run it again yourself, where \
    that does no harm.
    """

  /// Whether the next generation may have what this one had: an interactive shell, or a
  /// command that does no harm and gets all of its input once more.
  private var mayRunAgain: Bool {
    guard context.request.command != nil else { return context.local.inputIsTerminal }
    return context.request.recovery.isIdempotent && input.isWhole
  }
}
