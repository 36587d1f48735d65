package import BridgeSSH
import BridgeTerminal

/// Lines under the cursor that can be taken back: drawn on a terminal in whatever place it is, with
/// the cursor left where it was. They are found again from there, for a terminal that is resized
/// moves everything, but what it saved of the cursor.
package struct Overlay: Sendable, Equatable {
  /// The owner of the cursor while lines are drawn.
  package enum Cursor: Sendable, Equatable {
    /// Ours: nothing else moves it. Text may go on behind it.
    case ours
    /// Of a user whose typing the terminal echoes. It is behind that text, and may have moved
    /// into the lines.
    case typing
  }

  private let cursor: Cursor
  private var wasShown = false
  private var drawn: [String] = []
  /// The terminal as it was then.
  private var size = TerminalSize()
  /// At the bottom of a program's screen, and not under the cursor.
  private var isOverScreen = false

  /// Creates an overlay that shows nothing.
  package init(cursor: Cursor = .ours) { self.cursor = cursor }

  /// Whether something is drawn.
  package var isShown: Bool { !drawn.isEmpty }

  /// The sequences that draw `lines`, broken to fit `size`, in place of what was drawn before; no
  /// lines take it away. Empty when they stand there already.
  ///
  /// Over a screen that a program has to itself they go on its last rows, and nothing scrolls.
  package mutating func draw(
    _ lines: [String], on size: TerminalSize, overScreen: Bool = false
  ) -> String {
    let lines = Self.fitted(lines, to: size)
    let isSamePlace = size == self.size && overScreen == isOverScreen
    guard lines != drawn || (isShown && !isSamePlace) else { return "" }
    let isInPlace = cursor == .ours && lines.count == drawn.count && isSamePlace
    let text = isInPlace ? "" : clear()
    (drawn, self.size, isOverScreen) = (lines, size, overScreen)
    guard isShown else { return text }
    wasShown = true
    return text + (overScreen ? atBottom(lines) : (isInPlace ? "" : space) + underCursor(lines))
  }

  /// Makes space at the bottom of the screen. IND (ECMA-48) goes down in the same column, which a
  /// line feed does not where the terminal returns the carriage with it.
  private var space: String {
    String(repeating: "\u{1B}D", count: drawn.count) + "\u{1B}[\(drawn.count)A"
  }

  private func underCursor(_ lines: [String]) -> String {
    "\u{1B}7" + lines.map { "\r\n\($0)\u{1B}[K" }.joined() + "\u{1B}8"
  }

  private func atBottom(_ lines: [String]) -> String {
    let first = max(1, size.rows - lines.count + 1)
    let placed = lines.enumerated().map { "\u{1B}[\(first + $0.offset);1H\($0.element)\u{1B}[K" }
    return "\u{1B}7" + placed.joined() + "\u{1B}8"
  }

  /// The sequences that erase it; empty when nothing is drawn. Over a program's screen blanks are
  /// left: it must be asked to draw it again.
  package mutating func clear() -> String {
    guard isShown else { return "" }
    defer { drawn = [] }
    if isOverScreen { return atBottom(drawn.map { _ in "" }) }
    guard cursor == .ours else { return "\u{1B}[J" }
    // A terminal that has become lower may have no row under the cursor.
    return "\u{1B}D\u{1B}[A\u{1B}7\r\n\u{1B}[J\u{1B}8"
  }

  /// Whether `makeLine` leaves a line in which the cursor stands: where echoed typing may have
  /// been at it while lines were drawn.
  package var leavesLines: Bool { cursor == .typing && wasShown }

  /// The sequences that erase it to begin a line.
  package mutating func makeLine(on size: TerminalSize) -> String {
    let cleared = clear()
    guard leavesLines else { return cleared }
    // As many blanks as fit at the start of a line; they reach the next from anywhere else.
    return cleared + String(repeating: " ", count: size.columns - 1) + "\r\u{1B}[K"
  }

  /// More rows than these tell little: a server may say what it likes.
  private static let tallest = 4

  /// `lines` as they go on a screen of `size`, a row of which is not ours. Where it is too small
  /// for all, the first says what is wrong, and the last what is done about it.
  private static func fitted(_ lines: [String], to size: TerminalSize) -> [String] {
    let all = lines.flatMap {
      TerminalText.broken($0, at: max(1, size.columns - 1), height: tallest)
    }
    let space = max(1, size.rows - 1)
    guard all.count > space else { return all }
    return all.prefix(space > 1 ? 1 : 0) + all.suffix(max(1, space - 1))
  }
}
