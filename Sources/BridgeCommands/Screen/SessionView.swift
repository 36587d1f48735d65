package import BridgeSSH
package import BridgeTerminalState

/// What a viewer's terminal shows of the session's: its output as it comes where both have one
/// size, else a window on the screen.
package struct SessionView: Sendable {
  private enum Shown: Sendable {
    case output
    case window(ScreenWindow)
  }

  private var own: TerminalSize
  /// What the session's terminal shows; nil while its size is not known.
  private var screen: TerminalScreen?
  private var shown = Shown.output
  /// Whether something else is written over the window, which is not painted as long as that is to
  /// be read.
  private(set) package var isCovered = false

  /// A view on a terminal of this size.
  package init(_ own: TerminalSize) { self.own = own }

  /// The size of the session's terminal; nil while it is not known.
  package var sessionSize: TerminalSize? {
    screen.map { TerminalSize(columns: $0.columns, rows: $0.rows) }
  }

  /// Whether the terminal shows a window, and not output as it comes.
  package var isWindow: Bool { if case .window = shown { true } else { false } }

  /// The session's terminal has this size from now on; the viewer's is in `state`.
  /// - Returns: what to write.
  package mutating func setSize(_ size: TerminalSize, after state: TerminalState) -> [UInt8] {
    if screen == nil { screen = TerminalScreen(rows: size.rows, columns: size.columns) }
    screen?.resize(rows: size.rows, columns: size.columns)
    return settle(after: state)
  }

  /// Whether it shows where the cursor is.
  package var isFollowing: Bool {
    if case .window(let window) = shown { window.follows } else { true }
  }

  /// The viewer's terminal has this size from now on, and is in `state`.
  /// - Returns: what to write.
  package mutating func resize(_ size: TerminalSize, after state: TerminalState) -> [UInt8] {
    (own, isCovered) = (size, false)
    if case .window(var window) = shown {
      window.resize(rows: size.rows, columns: size.columns)
      shown = .window(window)
    }
    return settle(after: state)
  }

  /// Something else is written over the window, at its end.
  /// - Returns: what to write before it.
  package mutating func cover() -> [UInt8] {
    guard isWindow else { return [] }
    defer { isCovered = true }
    return isCovered ? [] : Array("\u{1B}[m\u{1B}[\(own.rows);1H".utf8)
  }

  /// Something else was written over the window.
  /// - Returns: what to write.
  package mutating func redraw() -> [UInt8] {
    isCovered = false
    guard case .window(var window) = shown else { return [] }
    window.invalidate()
    shown = .window(window)
    return paint()
  }

  /// Moves the window.
  /// - Returns: what to write.
  package mutating func move(_ moves: [ScreenWindow.Move]) -> [UInt8] {
    guard case .window(var window) = shown, !moves.isEmpty else { return [] }
    for move in moves { window.move(move) }
    shown = .window(window)
    return paint(isAsked: true)
  }

  /// What is said of a window in which nothing is to be seen; nil where something is.
  package var words: String? {
    guard case .window(let window) = shown, let screen, let area = window.blankArea(of: screen)
    else { return nil }
    return "Nothing in rows \(area.rows.lowerBound + 1)-\(area.rows.upperBound), "
      + "columns \(area.columns.lowerBound + 1)-\(area.columns.upperBound)."
  }

  /// Takes output in.
  ///
  /// - Parameter isDrawing: whether it draws a screen as a whole.
  /// - Returns: what to write for it; nothing where it is written as it comes.
  package mutating func take(_ bytes: [UInt8], isDrawing: Bool = false) -> [UInt8] {
    screen?.track(bytes)
    return paint(isAsked: isDrawing)
  }

  /// Whether a window is not painted because an update of the program is under way.
  package var isWithheld: Bool {
    if case .window(let window) = shown { window.isWithheld } else { false }
  }

  /// Paints a window within an update of the program, as a terminal does after a while.
  /// - Returns: what to write.
  package mutating func passOverUpdate() -> [UInt8] {
    guard case .window(var window) = shown else { return [] }
    window.passOverUpdate()
    shown = .window(window)
    return paint()
  }

  /// Takes in what draws the screen of now, in place of output that is left out.
  /// - Returns: what to write for it; nothing where it is written as it comes.
  package mutating func replace(with drawing: [UInt8]) -> [UInt8] {
    guard let old = screen else { return [] }
    screen = TerminalScreen(rows: old.rows, columns: old.columns)
    return take(drawing, isDrawing: true)
  }

  /// Begins a window, or ends it, where that is due.
  private mutating func settle(after state: TerminalState) -> [UInt8] {
    guard let screen else { return [] }
    let isSame = own.rows == screen.rows && own.columns == screen.columns
    switch shown {
    case .output where !isSame:
      shown = .window(ScreenWindow(rows: own.rows, columns: own.columns))
      return state.reset + "\u{1B}[?1049h".utf8 + paint()
    case .window where isSame:
      shown = .output
      return state.reset + screen.render()
    case .output: return []
    case .window: return paint()
    }
  }

  private mutating func paint(isAsked: Bool = false) -> [UInt8] {
    guard case .window(var window) = shown, let screen, !isCovered else { return [] }
    let output = window.paint(screen, isAsked: isAsked)
    shown = .window(window)
    return output
  }
}

/// Moves of a window that a viewer types: the arrow keys, or `h`, `j`, `k`, `l`; a space or `f`
/// goes back to the cursor.
package struct ViewKeys: Sendable {
  private enum Place: Sendable {
    case start
    case escape
    case sequence
  }

  private var place = Place.start

  /// No key yet.
  package init() {}

  /// Whether the last key was whole.
  package var isWhole: Bool { place == .start }

  /// The moves of typed bytes, cut anywhere; what has no meaning is passed over.
  package mutating func take(_ bytes: [UInt8]) -> [ScreenWindow.Move] {
    bytes.compactMap { take($0) }
  }

  private mutating func take(_ byte: UInt8) -> ScreenWindow.Move? {
    switch (place, byte) {
    case (_, 0x1B): place = .escape
    // CSI, or SS3 in the application mode of the arrow keys.
    case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")): place = .sequence
    case (.escape, _): place = .start
    case (.sequence, 0x40...0x7E):
      place = .start
      return Self.arrows[byte]
    case (.sequence, _): break
    case (.start, _): return Self.letters[byte]
    }
    return nil
  }

  private static let arrows: [UInt8: ScreenWindow.Move] = [
    UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right,
    UInt8(ascii: "D"): .left,
  ]
  private static let letters: [UInt8: ScreenWindow.Move] = [
    UInt8(ascii: "k"): .up, UInt8(ascii: "j"): .down, UInt8(ascii: "l"): .right,
    UInt8(ascii: "h"): .left, UInt8(ascii: "f"): .follow, 0x20: .follow,
  ]
}
