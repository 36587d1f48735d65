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
    /// Takes away what is written over the window.
    var uncovering: Task<Void, Never>?
  }

  private let context: RunContext
  private let screen: OutputScreen
  private let state: Mutex<State>
  /// Whether what is typed moves the window, and does not go to the program.
  private let keysMove: Bool

  /// Nil where standard output is no terminal with a size.
  init?(_ context: RunContext, keysMove: Bool) {
    guard let screen = context.screen, let size = TerminalSize(of: 1) else { return nil }
    (self.context, self.screen, self.keysMove) = (context, screen, keysMove)
    state = Mutex(State(view: SessionView(size)))
    context.reporter.precede(
      with: TextPrelude(
        bytes: { [weak self] in self?.cover() ?? [] }, forget: { [weak self] in self?.redraw() }))
  }

  /// How long what is written over a window is to be read where no key is typed.
  private static let readingTime = Duration.seconds(5)

  /// Something else is written over the window.
  private func cover() -> [UInt8] {
    state.withLock { state in
      let bytes = state.view.cover()
      guard state.view.isCovered else { return bytes }
      state.uncovering?.cancel()
      state.uncovering = Task(executorPreference: context.reactor) {
        [weak self, clock = context.clock] in
        guard (try? await clock.sleep(for: Self.readingTime)) != nil else { return }
        self?.uncover()
      }
      return bytes
    }
  }

  private func uncover() {
    change { state, _ in
      state.uncovering?.cancel()
      state.uncovering = nil
      return state.view.isCovered ? state.view.redraw() : []
    }
  }

  /// Shows a chunk of output; nil where it is to be written as it comes.
  func take(_ chunk: SessionChunk) async -> DescriptorWriter.Outcome? {
    let isShown = state.withLock { $0.view.isWindow } || chunk.isSize
    if isShown { await context.reporter.makeWay() }
    switch chunk.content {
    case .size(let size):
      let size = TerminalSize(columns: Int(size.columns), rows: Int(size.rows))
      change { $0.view.setSize(size, after: $1) }
    case .bytes(let bytes, .standardOutput), .bytes(let bytes, .terminal), .screen(let bytes, _):
      change { state, _ in state.view.take(bytes) }
    case .omitted(_, let drawing): change { state, _ in state.view.replace(with: drawing) }
    case .bytes(_, .standardError), .gap: return nil
    }
    return isShown ? await context.output.drain() : nil
  }

  /// Takes what the user types.
  func type(_ bytes: [UInt8]) {
    uncover()
    if keysMove { change { state, _ in state.view.move(state.keys.take(bytes)) } }
  }

  /// Moves the window.
  func move(_ key: UInt8) {
    uncover()
    change { state, _ in
      var keys = ViewKeys()
      return state.view.move(keys.take([key]))
    }
  }

  /// The terminal has another size.
  func resize(_ size: TerminalSize) {
    change { state, terminal in state.view.resize(size, after: terminal) }
  }

  /// Something else was written to the terminal.
  func redraw() { change { state, _ in state.view.redraw() } }

  private func change(_ body: (inout State, TerminalState) -> [UInt8]) {
    state.withLock { state in
      let bytes = body(&state, screen.terminal)
      guard !bytes.isEmpty else { return }
      screen.see(bytes)
      context.output.post(bytes, isUnbounded: true)
    }
  }
}

extension SessionChunk {
  fileprivate var isSize: Bool { if case .size = content { true } else { false } }
}
