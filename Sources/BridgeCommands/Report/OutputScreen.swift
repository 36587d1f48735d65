import BridgeSSH
import BridgeTerminal
import BridgeTerminalState
import BridgeWaiting

/// The user's terminal as what was written to standard output has set it.
final class OutputScreen: Sendable {
  /// What was written over the screen of a program by something else.
  private enum OtherText {
    case none
    /// Something, which can become `goes` when it was read.
    case stays
    /// Something that is to be taken away behind the writes that are under way. Can become `none`,
    /// and `stays` where more is written.
    case goes(DescriptorWriter)
  }

  private struct State {
    var tracker = TerminalState()
    /// Its cells, as of what was written before `behind`; nil where nothing is drawn beside output.
    var cells: TerminalScreen?
    var behind: [UInt8] = []
    /// How many writes are under way: what was seen is not on the terminal yet.
    var writes = 0
    var text = OtherText.none
    /// Whether the shell has the terminal as it was before all output.
    var isGivenBack = false

    mutating func repaint() {
      guard writes == 0, case .goes(let output) = text else { return }
      text = .none
      bringUp()
      if let bytes = cells?.repaint() { output.post(bytes, isUnbounded: true) }
    }

    /// What cells are for is seldom: most output has left the screen by then.
    mutating func bringUp() {
      guard !behind.isEmpty else { return }
      cells?.track(behind)
      behind = []
    }
  }

  private let state: Mutex<State>
  private static let longestBehind = 256 << 10

  /// - Parameter size: of a terminal on which something is drawn beside output; nil for another.
  init(_ size: TerminalSize?) {
    let cells = size.map { TerminalScreen(rows: $0.rows, columns: $0.columns, history: 0) }
    state = Mutex(State(cells: cells))
  }

  /// Tracks what is written.
  /// - Returns: what is to be written before it, for rows to be where it relies on them.
  func see(_ parts: [[UInt8]]) -> [UInt8] {
    state.withLock { state in
      for bytes in parts { state.tracker.track(bytes) }
      guard let cells = state.cells else { return [] }
      if cells.isRaised { return state.cells?.take(parts) ?? [] }
      for bytes in parts { state.behind += bytes }
      if state.behind.count > Self.longestBehind { state.bringUp() }
      return []
    }
  }

  /// Lines were drawn under the cursor, with the rows that they needed.
  func makeSpace(_ count: Int) {
    state.withLock { state in
      state.bringUp()
      state.cells?.makeSpace(count)
    }
  }

  /// Tracks what `body` writes, behind what is to be written before.
  func write(
    _ parts: [[UInt8]], by body: (_ before: [UInt8]) async -> DescriptorWriter.Outcome
  ) async -> DescriptorWriter.Outcome {
    state.withLock { $0.writes += 1 }
    defer {
      state.withLock { state in
        state.writes -= 1
        state.repaint()
      }
    }
    return await body(see(parts))
  }

  /// The terminal has another size, and may have moved what it shows.
  func resize(_ size: TerminalSize) {
    state.withLock { state in
      state.bringUp()
      guard let cells = state.cells, cells.rows != size.rows || cells.columns != size.columns
      else { return }
      state.cells?.resize(rows: size.rows, columns: size.columns)
      state.cells?.loseRows()
    }
  }

  /// Something else is written to the terminal, wherever the cursor is.
  func overwrite() {
    state.withLock { state in
      guard state.cells != nil else { return }
      state.bringUp()
      if state.tracker.isFullScreen, state.cells?.isRaised != true {
        state.text = .stays
      } else {
        state.cells?.loseRows()
      }
    }
  }

  /// Takes away what was written over the screen of a program, where it is known what that shows.
  func repaint(to output: DescriptorWriter) {
    state.withLock { state in
      guard case .stays = state.text else { return }
      state.text = .goes(output)
      state.repaint()
    }
  }

  /// Its state now.
  var terminal: TerminalState { state.withLock { $0.tracker } }

  /// Whether a write is under way.
  var isWriting: Bool { state.withLock { $0.writes > 0 } }

  /// What it shows, as far as output has written that; nil where that is not tracked.
  var cells: TerminalScreen? {
    state.withLock { state in
      state.bringUp()
      return state.cells
    }
  }

  /// Whether a remote program has the whole screen to itself.
  var isFullScreen: Bool { state.withLock { $0.tracker.isFullScreen } }

  /// Gives the terminal to the shell, until `resume`.
  func suspend(to output: DescriptorWriter) {
    state.withLock { state in
      state.isGivenBack = true
      output.post(state.tracker.reset, isUnbounded: true)
    }
  }

  /// Another program had the terminal.
  func resume(to output: DescriptorWriter) {
    state.withLock { state in
      guard state.isGivenBack else { return }
      state.isGivenBack = false
      let restore = state.tracker.restore
      // A region moves the cursor, which stands behind what the shell has printed.
      let isShared = !state.tracker.isAlternateScreen && !restore.isEmpty
      let bytes = isShared ? [0x1B, 0x37] + restore + [0x1B, 0x38] : restore
      output.post(bytes, isUnbounded: true)
    }
    repaint(to: output)
  }

  /// The sequences that give it back as it was; empty where none are needed, as the next time.
  func takeReset() -> String {
    state.withLock { state in
      defer { state.tracker = TerminalState() }
      let reset = state.tracker.reset
      if state.cells != nil { state.behind += reset }
      return String(decoding: reset, as: UTF8.self)
    }
  }
}
