import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTerminalState
import BridgeTransport
import BridgeWaiting

/// A durable session and this process's standard streams, until the session is over for it.
final class SessionStreams: Sendable {
  /// How that came.
  enum End: Sendable {
    /// The program ended, and all that it printed was written out, but for the first bytes that
    /// were to come and are no longer kept.
    case ended(ProgramEnd, missing: Range<UInt64>?)
    case failed(AppError)
    /// Standard output has no reader any more.
    case outputClosed
    /// This client left.
    case left
  }

  private enum Step: Sendable {
    case end(End)
    case idle
  }

  private let context: RunContext
  private let session: DurableSession
  private let welcome: Welcome
  /// Whether the program was started by this run.
  private let isOwn: Bool
  /// Whether the command line is that of a start: it says the same to what it returned to.
  private let isStart: Bool
  /// Whether what is typed, or comes from a pipe, is meant for the program.
  private let wantsToWrite: Bool
  private let agent: SessionAgent?
  /// The user's keyboard, where it belongs to the session.
  private let keyboard: Keyboard?
  private let gate = Mutex(TypingGate())
  private let replay = Mutex(ScreenReplay?.none)
  private let progress = Mutex(OutputProgress())
  /// The terminal that has not to have the size of the session's; nil without one.
  private let viewed: ViewedSession?
  /// The terminal of who writes; nil where nothing is shown before its echo.
  private let predicted: PredictedTerminal?
  private let roundTrip: @Sendable () async -> Duration?
  private let renamed: @Sendable (String) -> Void
  /// The session is over for this client before its program has ended.
  private let hasFailed = Mutex(false)

  init(
    _ context: RunContext, _ session: DurableSession, _ welcome: Welcome, isOwn: Bool,
    isStart: Bool, wantsToWrite: Bool, agent: SessionAgent?,
    roundTrip: @escaping @Sendable () async -> Duration?,
    renamed: @escaping @Sendable (String) -> Void
  ) {
    self.renamed = renamed
    self.isStart = isStart
    self.wantsToWrite = wantsToWrite
    self.agent = agent
    self.context = context
    self.session = session
    self.welcome = welcome
    self.isOwn = isOwn
    let isTerminal = welcome.kind == .terminal
    keyboard = isTerminal ? context.keyboard : nil
    let (isViewer, keepsSize) = (welcome.role == .viewer, context.request.screen.keepsSize)
    let hasWindow = isTerminal && (isViewer || keepsSize)
    viewed =
      hasWindow
      ? ViewedSession(context, keysMove: isViewer, isRefused: isViewer && wantsToWrite) : nil
    predicted = isTerminal && !hasWindow ? PredictedTerminal(context) : nil
    self.roundTrip = roundTrip
    // Who attaches to a session gets what is kept; what is missing before that was not to come.
    progress.withLock { $0.begin(at: isOwn ? 0 : nil) }
  }

  /// How far output was shown.
  var shownEnd: UInt64 { progress.withLock(\.position) }

  /// Whether what is typed goes to the session.
  var hasKeyboard: Bool { keyboard != nil }

  /// Carries bytes both ways until the end.
  func run() async -> End {
    let sizes = context.resizes.next()
    await predicted?.setRoundTrip(roundTrip())
    if let keyboard {
      TerminalModes.set(.raw, on: 0)
      let writes = welcome.role == .writer
      keyboard.open(canDetach: true, writes: writes, canMove: writes && viewed != nil)
    } else if context.keyboard != nil {
      context.reporter.makeSpaceForTyping()
    }
    return await withTaskGroup(of: Step.self) { group in
      group.addTask { await self.carryOutput(of: self.session) }
      group.addTask { await self.carryInput(to: self.session) }
      group.addTask { await self.carrySizes(sizes) }
      group.addTask { await self.watchEvents() }
      group.addTask { await self.carryMoves() }
      defer {
        agent?.end()
        group.cancelAll()
      }
      var mayRefuse = refusal != nil
      while let step = await group.next() {
        guard case .end(let end) = step else { continue }
        if case .failed = end { hasFailed.withLock { $0 = true } }
        guard case .ended = end, mayRefuse else { return end }
        // Input that could not reach the program is said, also where that ends at this moment.
        mayRefuse = false
        group.addTask {
          try? await self.context.clock.sleep(for: Self.refusalTime)
          return .end(end)
        }
      }
      return .left
    }
  }

  /// For input that is there already to be read.
  private static let refusalTime = Duration.milliseconds(200)

  /// Leaves the terminal as it was before the session wrote to it; says what was not sent.
  func close() async {
    await giveBackScreen()
    let isTyped = keyboard?.wasOpened == true
    if let keyboard, isTyped {
      let unsent = keyboard.close()
      if unsent > 0 { reportUnsent(unsent) }
    }
    // A program that ends reads what it wants of its input.
    guard isTyped || hasFailed.withLock(\.self) else { return }
    let untaken = await session.inputUntaken
    if untaken > 0 {
      let unit = untaken == 1 ? "byte" : "bytes"
      let subject = isTyped ? "typed \(unit)" : "\(unit) of input"
      context.reporter.log("bridgectl: \(untaken) \(subject) may not have reached the program.")
    }
  }

  /// Leaves the terminal as it was before the session wrote to it.
  func giveBackScreen() async {
    predicted?.withdraw()
    context.view.dropHint()
    await context.giveBackScreen()
  }

  private func reportUnsent(_ count: Int) {
    let subject = count == 1 ? "typed byte was" : "typed bytes were"
    context.reporter.log("bridgectl: \(count) \(subject) not sent.")
  }

  // MARK: Output

  /// On the session's actor: a key is shown without a job of another one in between.
  private func carryOutput(of session: isolated DurableSession) async -> Step {
    do throws(AppError) {
      let output = session.output.makeAsyncIterator()
      while let chunks = try await output.next(upTo: Self.writeLimit) {
        switch await show(chunks) {
        case .written:
          recordPrinted(chunks)
          session.commit(through: chunks.last?.end ?? 0)
        case .queued: return .idle
        case .failed: return .end(.outputClosed)
        }
      }
      let end = try await session.exitStatus()
      return .end(.ended(end, missing: progress.withLock { $0.missing }))
    } catch {
      return error == .cancelled ? .end(.left) : .end(.failed(error))
    }
  }

  private func recordPrinted(_ shown: [SessionChunk]) {
    guard let last = shown.last, shown.contains(where: \.hasBytes) else { return }
    progress.withLock { $0.print(through: last.end) }
  }

  /// What is taken at once: to wake the thread that writes costs as much as to write 10 KiB.
  private static let writeLimit = 256 << 10

  private func show(_ chunks: [SessionChunk]) async -> DescriptorWriter.Outcome {
    var parts: [[UInt8]] = []
    for chunk in chunks {
      if viewed == nil, let bytes = text(of: chunk) {
        parts.append(bytes)
        continue
      }
      var outcome = await write(parts)
      parts = []
      if outcome == .written { outcome = await show(chunk) }
      guard outcome == .written else { return outcome }
    }
    return await write(parts)
  }

  /// What a chunk has for standard output; nil for what is not written there.
  private func text(of chunk: SessionChunk) -> [UInt8]? {
    switch chunk.content {
    case .bytes(let bytes, .standardOutput), .bytes(let bytes, .terminal):
      replay.withLock { $0?.show(bytes, at: chunk.offset) ?? bytes }
    case .bytes(_, .standardError), .gap, .screen, .omitted, .size: nil
    }
  }

  private func show(_ chunk: SessionChunk) async -> DescriptorWriter.Outcome {
    if case .omitted(let end, _) = chunk.content {
      context.reporter.event(.omitted(from: chunk.offset, to: end))
      replay.withLock { $0?.end() }
      progress.withLock { $0.go(to: end) }
    }
    if let outcome = await viewed?.take(chunk) { return outcome }
    if let bytes = text(of: chunk) { return await write([bytes]) }
    switch chunk.content {
    case .size: return .written
    case .screen(let modes, let live):
      return await write([beginReplay(modes, at: chunk.offset, to: live)])
    case .omitted(let end, let drawing):
      return await write([catchUp(end - chunk.offset, drawing)])
    case .gap(let end):
      // The output before it may end in the middle of a line.
      if keyboard?.wasOpened == true { context.reporter.leaveLine() }
      context.warnOfGap(chunk.offset, end)
      progress.withLock { progress in
        progress.go(to: chunk.offset)
        progress.skip(to: end)
      }
      viewed?.redraw()
      return .written
    case .bytes(let bytes, _):
      // A closed standard error means no output is wanted there; the command continues.
      let outcome = await context.reporter.remoteError(bytes)
      return outcome == .failed ? .written : outcome
    }
  }

  /// What is shown of `modes` before output that is old up to `live`.
  private func beginReplay(_ modes: [UInt8], at offset: UInt64, to live: UInt64) -> [UInt8] {
    guard welcome.kind == .terminal, let screen = context.screen else { return modes }
    return replay.withLock { replay in
      if replay?.extend(to: live) == true { return replay?.begin(with: modes, at: offset) ?? modes }
      // A new client has a terminal of its own; who comes back knows what was shown.
      let isNew = !isOwn && replay == nil
      let audience = isNew ? MuteFilter.Audience.replay : .resumption
      var next = ScreenReplay(live: live, for: audience, after: screen.terminal)
      defer { replay = next }
      return next.begin(with: modes, at: offset)
    }
  }

  /// The screen of now, in place of output: the terminal becomes a fresh one, and what it showed
  /// leaves it at the top, with a line that says what is not there.
  private func catchUp(_ count: UInt64, _ drawing: [UInt8]) -> [UInt8] {
    guard let screen = context.screen else { return drawing }
    let gap = SessionText.omitted(count, session: "\(welcome.session)")
    // Of a full-screen program the main screen is drawn as well, and would leave it each time.
    let line =
      screen.isFullScreen ? "\u{1B}[H\u{1B}[2J" : "\u{1B}[999H\r\n\u{1B}[2m\(gap)\u{1B}[m\r\n"
    return screen.terminal.reset + line.utf8 + drawing
  }

  private func write(_ parts: [[UInt8]]) async -> DescriptorWriter.Outcome {
    guard !parts.isEmpty else { return .written }
    let outcome = await context.write(parts, through: predicted)
    context.view.drawAgain()
    return outcome
  }

  // MARK: Input

  private func carryInput(to session: isolated DurableSession) async -> Step {
    let isViewer = welcome.role == .viewer
    if let keyboard {
      let input = TypedInput(session: isViewer ? nil : session, viewed: viewed)
      await keyboard.carry(to: PredictedInput(target: input, terminal: predicted, repaint: uncover))
      return .idle
    }
    guard !isViewer, refusal == nil else { return await refuseInput() }
    do throws(AppError) {
      while case .bytes(let bytes) = await context.input.read() { try await session.write(bytes) }
      // Of a program that was started by another command only a person ends the input.
      let isEnd = !Task.isCancelled && (isStart || context.local.inputIsTerminal)
      if isEnd { try await session.endInput() }
    } catch {
      // It takes no more input; the output says how it ends.
    }
    return .idle
  }

  /// Why what comes from a pipe or a file cannot reach the program; nil where it can.
  private var refusal: String? {
    guard wantsToWrite, keyboard == nil, !context.local.inputIsTerminal else { return nil }
    if welcome.role == .viewer { return SessionText.writer(welcome) }
    // Also that of a program which this run has started: another client was first, and may have
    // seen its end. Of another one that has ended its output is all that is wanted.
    let isOver =
      isOwn
      ? welcome.inputEnd != nil || welcome.hasEnded && welcome.inputTaken > 0
      : welcome.inputEnd != nil && !welcome.hasEnded
    return isOver ? "its input was ended before" : nil
  }

  private func refuseInput() async -> Step {
    guard let reason = refusal, case .bytes = await context.input.read() else { return .idle }
    let advice = welcome.role == .viewer ? "`attach --take` takes over, " : ""
    return .end(
      .failed(
        .validationError(
          field: "standard input",
          message: """
            \(reason.prefix(1).uppercased() + reason.dropFirst()), so this input would go nowhere: \
            \(advice)`attach --view` only reads.
            """)))
  }

  /// What is typed: its end is the terminal's, not the program's.
  private struct TypedInput: InputTarget {
    /// Nil for a viewer, who types nothing to it.
    let session: DurableSession?
    /// What a viewer's keys move.
    let viewed: ViewedSession?

    func write(_ bytes: [UInt8]) async throws(AppError) {
      try await session?.write(bytes)
      viewed?.type(bytes)
    }

    func finishInput() async throws(AppError) {}
  }

  private func carryMoves() async -> Step {
    await viewed?.carryMoves()
    return .idle
  }

  private func carrySizes(_ sizes: AsyncStream<TerminalSize>) async -> Step {
    if let viewed { for await size in sizes { await viewed.resize(size) } }
    guard keyboard != nil, welcome.role == .writer else { return .idle }
    do throws(AppError) {
      for await size in sizes {
        predicted?.resize(size)
        try await session.resize(to: WindowSize(size))
      }
    } catch {
      // It takes no more sizes; the output says how it ends.
    }
    return .idle
  }

  // MARK: The link

  private func watchEvents() async -> Step {
    var (attached, notices) = (0, 0)
    for await event in session.events {
      switch event {
      case .attached(let welcome):
        attached += 1
        context.view.stall(nil)
        report(welcome)
        if welcome.role == .writer, !welcome.hasEnded { await agent?.attached() }
        if attached > 1 {
          await predicted?.setRoundTrip(roundTrip())
          attachedAgain()
        }
      case .suspended:
        context.reporter.event(.suspendedSession(id: "\(welcome.session)"))
        context.view.stall(LinkStatus.Stall(since: .now))
        perform(gate.withLock { $0.suspend(at: .now) })
      case .refused(let error):
        context.view.explainStall(PeerText.escaped(error.shownMessage(), limit: 512))
      case .inputDropped(let loss): report(loss)
      case .notice(let notice) where notice.code == .renamed: renamed(notice.text)
      // A program that reads no more than it needs is none to be warned of: ssh says nothing.
      case .notice(let notice) where notice.code == .inputClosed:
        context.reporter.detail("bridgectl: \(PeerText.escaped(notice.text))")
      case .notice(let notice):
        notices += 1
        warn(of: notice, notices)
      }
    }
    return .idle
  }

  /// A host that never stops must not fill the screen.
  private func warn(of notice: Notice, _ number: Int) {
    guard number <= Self.noticeLimit else { return }
    context.reporter.warn(PeerText.escaped(notice.text))
    guard number == Self.noticeLimit else { return }
    context.reporter.warn("further notices of the host are not shown")
  }

  private static let noticeLimit = 20

  private func report(_ welcome: Welcome) {
    context.reporter.event(
      .session(
        id: "\(welcome.session)", state: welcome.hasEnded ? "ended" : "running",
        kind: welcome.kind.rawValue, role: welcome.role.rawValue))
  }

  private func attachedAgain() {
    let held = keyboard?.waiting ?? 0
    let step = gate.withLock { $0.attach(at: .now, held: held) }
    perform(step)
    if step.showsProgram { repaint() }
  }

  /// What was written over a program's screen must go; a window may have been moved under a banner.
  private func repaint() {
    if let viewed { viewed.redraw() } else { context.repaint() }
  }

  /// Who types has read what was written over the screen. A window has an end of its own for that.
  @Sendable private func uncover() {
    if viewed == nil { context.repaint() }
  }

  private func report(_ loss: ClientSession.InputLoss) {
    guard loss.reason == .replaced else { return }
    let count = loss.accepted.map { loss.written - min($0, loss.written) }
    let subject = count.map { "\(Counted.text($0, "byte")) of input" } ?? "The last input"
    if keyboard != nil { context.reporter.leaveLine() }
    context.reporter.warn("\(subject) did not reach the program: another client wrote to it")
  }

  func move(_ key: UInt8) { viewed?.move(key) }

  func suspect(_ isSuspected: Bool) {
    let held = keyboard?.waiting ?? 0
    let step = gate.withLock { $0.suspect(isSuspected, at: .now, held: held) }
    perform(step)
    if step.showsProgram { repaint() }
  }

  func answer(sendsHeld: Bool) {
    let step = gate.withLock { $0.answer(sends: sendsHeld) }
    perform(step)
    if step.showsProgram { repaint() }
  }

  private func perform(_ step: TypingGate.Step) {
    // What a viewer types is for this side.
    guard let keyboard, welcome.role == .writer else { return }
    switch step {
    case .nothing: return
    case .hold:
      keyboard.hold(true)
      predicted?.hold(true)
    case .release:
      predicted?.hold(false)
      ask(nil)
      let lost = keyboard.takeLost()
      keyboard.hold(false)
      if lost > 0 { reportUnsent(lost) }
    case .drop:
      ask(nil)
      reportUnsent(keyboard.dropHeld())
    case .ask(let seconds): ask(seconds)
    }
  }

  /// Asks whether what was typed is sent; nil for no more.
  private func ask(_ seconds: Int?) {
    guard let keyboard else { return }
    keyboard.ask(seconds != nil)
    context.view.ask(after: seconds)
    guard let seconds, !context.reporter.style.showsProgress else { return }
    context.reporter.leaveLine()
    let question = LinkStatus.question(unsent: keyboard.waiting, after: seconds)
    context.reporter.log("bridgectl: \(question)")
  }
}

extension SessionChunk {
  /// Whether the program printed it.
  fileprivate var hasBytes: Bool {
    if case .bytes = content { return true }
    return false
  }
}
