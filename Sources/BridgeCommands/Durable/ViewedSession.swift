import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTerminalState
import BridgeWaiting

/// A terminal that has not the size of the session's: what changes it is written in
/// the order of the changes, be it output, a key or a new size.
final class ViewedSession: Sendable {
  private struct State {
    var view: SessionView
    var keys = ViewKeys()
    /// The moves that are not painted yet.
    var moves: [ScreenWindow.Move] = []
    /// Takes away what is written over the window.
    var uncovering: Task<Void, Never>?
    /// Paints it though an update of the program has not ended.
    var overdue: Task<Void, Never>?

    /// Shows the window again.
    mutating func uncover() -> [UInt8] {
      uncovering?.cancel()
      uncovering = nil
      return view.isCovered ? view.redraw() : []
    }
  }

  private let context: RunContext
  private let screen: OutputScreen
  private let state: Mutex<State>
  private let moves: AsyncStream<Void>
  private let moved: AsyncStream<Void>.Continuation
  /// Whether what is typed moves the window, and does not go to the program.
  private let keysMove: Bool
  /// Whether the user wants to write, and another client does.
  private let isRefused: Bool

  /// Nil where standard output is no terminal with a size.
  init?(_ context: RunContext, keysMove: Bool, isRefused: Bool) {
    guard let screen = context.screen, let size = TerminalSize(of: 1) else { return nil }
    (self.context, self.screen) = (context, screen)
    (self.keysMove, self.isRefused) = (keysMove, isRefused)
    state = Mutex(State(view: SessionView(size)))
    (moves, moved) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    context.reporter.precede(
      with: TextPrelude(
        bytes: { [weak self] in self?.cover() ?? [] }, forget: { [weak self] in self?.redraw() }))
  }

  /// Something else is written over the window.
  private func cover() -> [UInt8] {
    state.withLock { state in
      let bytes = state.view.cover()
      guard state.view.isCovered else { return bytes }
      state.uncovering?.cancel()
      state.uncovering = Task(executorPreference: context.reactor) {
        [weak self, clock = context.clock] in
        guard (try? await clock.sleep(for: LinkView.readingTime)) != nil else { return }
        await self?.paint { state, _ in
          // This task, which is not to cancel itself.
          state.uncovering = nil
          return state.uncover()
        }
      }
      return bytes
    }
  }

  /// Shows a chunk of output; nil where it is to be written as it comes.
  func take(_ chunk: SessionChunk) async -> DescriptorWriter.Outcome? {
    switch chunk.content {
    case .size(let size):
      let size = TerminalSize(columns: Int(size.columns), rows: Int(size.rows))
      let before = kind
      let outcome = await paint { $0.view.setSize(size, after: $1) }
      sayWhatThisIs(after: before)
      return outcome
    case .bytes(let bytes, .standardOutput), .bytes(let bytes, .terminal):
      return await show { $0.view.take(bytes) }
    case .screen(let bytes, _): return await show { $0.view.take(bytes, isDrawing: true) }
    case .omitted(_, let drawing): return await show { $0.view.replace(with: drawing) }
    case .bytes(_, .standardError), .gap: return nil
    }
  }

  private func show(_ body: (inout State) -> [UInt8]) async -> DescriptorWriter.Outcome? {
    guard kind == .window else {
      change { state, _ in body(&state) }
      return nil
    }
    return await paint { state, _ in body(&state) }
  }

  /// What is on the terminal.
  private enum Kind {
    /// Nothing yet.
    case nothing
    case window
    case output
  }

  private var kind: Kind {
    state.withLock { $0.view.isWindow ? .window : $0.view.sessionSize == nil ? .nothing : .output }
  }

  private static let leastRows = 4
  private static let refusal =
    "Another client writes; `attach --take` takes over. ~. leaves, ~? lists keys."

  private func sayWhatThisIs(after before: Kind) {
    guard kind != before, let size = state.withLock(\.view.sessionSize) else { return }
    // Of the smallest it would cover all.
    guard screen.cells.map({ $0.rows >= Self.leastRows }) ?? true else { return }
    let area = "\(size.columns)x\(size.rows)"
    guard !isRefused else { return hint(Self.refusal) }
    switch (kind, keysMove) {
    case (.window, true): hint("Viewing \(area): arrows move, ~? lists keys.")
    case (.window, false): hint("Window on \(area): Alt-arrows move, ~? helps.")
    case (.output, true): hint("Viewing: ~. leaves, ~? lists keys.")
    case (.output, false), (.nothing, _): break
    }
  }

  private func hint(_ words: String) {
    if let words = context.keyboard?.spelled(words) { context.view.hint(words) }
  }

  /// Takes what the user types.
  func type(_ bytes: [UInt8]) {
    guard keysMove else {
      // Who types to the program sees where that goes, as on a terminal that was scrolled back.
      let isThere = state.withLock { state in
        let follows = state.moves.last.map { $0 == .follow } ?? state.view.isFollowing
        return follows && !state.view.isCovered
      }
      if !isThere { move([.follow]) }
      return
    }
    let moves = state.withLock { state in
      let moves = state.keys.take(bytes)
      // Any key takes away what is written over the window.
      let isUnknown = moves.isEmpty && state.keys.isWhole && !state.view.isCovered
      return isUnknown || !state.view.isWindow ? nil : moves
    }
    guard let moves else {
      return hint(isRefused ? Self.refusal : "You only view: ~. leaves, ~? lists keys.")
    }
    move(moves)
  }

  /// Moves the window.
  func move(_ key: UInt8) {
    var keys = ViewKeys()
    move(keys.take([key]))
  }

  /// Has `carryMoves` paint: what is typed does not wait for a terminal that takes nothing.
  private func move(_ moves: [ScreenWindow.Move]) {
    state.withLock { $0.moves = ($0.moves + moves).suffix(Self.mostMoves) }
    moved.yield()
  }

  /// More keys than these are not remembered for a terminal that takes nothing.
  private static let mostMoves = 64

  /// Paints what the user's keys have moved, until canceled.
  func carryMoves() async {
    for await _ in moves {
      await paint { state, _ in
        defer { state.moves = [] }
        return state.uncover() + state.view.move(state.moves)
      }
      if let words = state.withLock(\.view.words) { context.view.hint(words) }
    }
  }

  /// The terminal has another size.
  func resize(_ size: TerminalSize) async {
    let before = kind
    change { state, terminal in state.view.resize(size, after: terminal) }
    await context.output.drain()
    sayWhatThisIs(after: before)
  }

  /// Something else was written to the terminal.
  func redraw() { change { state, _ in state.view.redraw() } }

  /// Writes a change, with nothing drawn over the screen meanwhile, and then what was drawn there.
  @discardableResult
  private func paint(
    _ body: (inout State, TerminalState) -> [UInt8]
  ) async -> DescriptorWriter.Outcome {
    var isUpdate = false
    let outcome = await screen.write([]) { _ in
      isUpdate = await context.reporter.makeWay(isUpdate: true)
      change(body)
      return await context.output.drain()
    }
    context.view.drawAgain()
    if isUpdate { context.reporter.endUpdate() }
    return outcome
  }

  /// As long as Ghostty waits for the end of a synchronized update; its program may be gone.
  private static let longestUpdate = Duration.seconds(1)

  private func passingOver() -> Task<Void, Never> {
    Task(executorPreference: context.reactor) { [weak self, clock = context.clock] in
      guard (try? await clock.sleep(for: Self.longestUpdate)) != nil else { return }
      await self?.paint { state, _ in
        state.overdue = nil
        return state.view.passOverUpdate()
      }
    }
  }

  private func change(_ body: (inout State, TerminalState) -> [UInt8]) {
    state.withLock { state in
      let bytes = body(&state, screen.terminal)
      if state.view.isWithheld != (state.overdue != nil) {
        state.overdue?.cancel()
        state.overdue = state.view.isWithheld ? passingOver() : nil
      }
      guard !bytes.isEmpty else { return }
      let before = screen.see([bytes])
      context.output.post(before + bytes, isUnbounded: true)
    }
  }
}
