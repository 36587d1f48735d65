package import BridgeSSH
import BridgeTerminal
package import BridgeTerminalState

/// Lines under the cursor that can be taken back. Where it is known what the terminal shows, all is
/// as it was then. Else they are drawn on a terminal in whatever place it is, with the cursor left
/// where it was: they are found again from there, for a terminal that is resized moves everything,
/// but what it saved of the cursor.
package struct Overlay: Sendable {
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
  /// What draws them where it is known what the terminal shows.
  private var banner: ScreenBanner?
  /// The first bytes of a character, of which the terminal has shown that it is none.
  private var half: [UInt8] = []

  /// Creates an overlay that shows nothing.
  package init(cursor: Cursor = .ours) { self.cursor = cursor }

  /// How many lines are drawn.
  package var height: Int { drawn.count }

  /// Whether something is drawn.
  package var isShown: Bool { !drawn.isEmpty }

  /// The sequences that draw `lines`, broken to fit `size`, in place of what was drawn before; no
  /// lines take it away. Empty when they stand there already.
  ///
  /// - Parameter screen: what the terminal shows, where a program has printed there.
  package mutating func draw(
    _ lines: [String], on size: TerminalSize, over screen: () -> TerminalScreen? = { nil }
  ) -> [UInt8] {
    let lines = Self.fitted(lines, to: size)
    guard lines != drawn || (isShown && size != self.size) else { return [] }
    let isSame = isShown && size == self.size
    if isSame, banner != nil, !lines.isEmpty {
      drawn = lines
      return banner?.show(lines) ?? []
    }
    let isInPlace = isSame && banner == nil && cursor == .ours && lines.count == drawn.count
    let isMoved = isShown && size != self.size
    let cleared = isInPlace ? [] : isMoved ? clear(on: size, over: screen()) : clear()
    (drawn, self.size) = (lines, size)
    guard isShown else { return cleared }
    wasShown = true
    if !isInPlace, cursor == .ours, let screen = screen(), screen.fits(size) {
      banner = ScreenBanner(over: screen)
      half = banner == nil ? screen.unfinishedCharacter : []
    }
    if let shown = banner?.show(lines) { return cleared + shown }
    return cleared + ((isInPlace ? "" : space) + underCursor(lines)).utf8
  }

  /// Makes space at the bottom of the screen. IND (ECMA-48) goes down in the same column, which a
  /// line feed does not where the terminal returns the carriage with it.
  private var space: String {
    String(repeating: "\u{1B}D", count: drawn.count) + "\u{1B}[\(drawn.count)A"
  }

  private func underCursor(_ lines: [String]) -> String {
    "\u{1B}7" + lines.map { "\r\n\($0)\u{1B}[K" }.joined() + "\u{1B}8"
  }

  /// The sequences that erase it on a terminal that has another size now, and has moved it.
  private mutating func clear(on size: TerminalSize, over screen: TerminalScreen?) -> [UInt8] {
    let (wasPlaced, isCut) = (banner != nil, !fits(size))
    banner = nil
    let erased = clear()
    let repaint = wasPlaced ? screen?.repaint() ?? [] : []
    guard repaint.isEmpty else { return repaint }
    // Of lines that do not fit any more the cursor may have come to stand in one.
    let line = isCut && cursor == .ours ? screen?.repaintLine(to: size.columns) ?? [] : []
    return erased + line
  }

  /// Whether a terminal that breaks long lines has the row of the cursor, and all that is drawn.
  private func fits(_ size: TerminalSize) -> Bool {
    let columns = max(1, size.columns)
    let rows = drawn.map { max(1, ($0.unicodeScalars.count + columns - 1) / columns) }
    return rows.reduce(1, +) <= size.rows
  }

  /// The sequences that erase it; empty when nothing is drawn.
  package mutating func clear() -> [UInt8] {
    guard isShown else { return [] }
    defer { (drawn, banner, half) = ([], nil, []) }
    if let shown = banner?.clear() { return shown }
    guard cursor == .ours else { return Array("\u{1B}[J".utf8) }
    // A terminal that has become lower may have no row under the cursor.
    return Array("\u{1B}D\u{1B}[A\u{1B}7\r\n\u{1B}[J\u{1B}8".utf8)
      + (half.isEmpty ? [] : [0x08] + half)
  }

  /// Whether `makeLine` leaves a line in which the cursor stands: where echoed typing may have
  /// been at it while lines were drawn.
  package var leavesLines: Bool { cursor == .typing && wasShown }

  /// The sequences that erase it to begin a line.
  package mutating func makeLine(on size: TerminalSize) -> [UInt8] {
    let cleared = clear()
    guard leavesLines else { return cleared }
    // As many blanks as fit at the start of a line; they reach the next from anywhere else.
    return cleared + (String(repeating: " ", count: size.columns - 1) + "\r\u{1B}[K").utf8
  }

  /// More rows than these tell little: a server may say what it likes.
  private static let tallest = 4

  /// `lines` as they go on a screen of `size`, a row of which is not ours. Where it is too small
  /// for all, the first says what is wrong, and the last what is done about it: those stay, each
  /// as far as there is space.
  private static func fitted(_ lines: [String], to size: TerminalSize) -> [String] {
    func broken(_ line: String, _ height: Int) -> [String] {
      TerminalText.broken(line, at: max(1, size.columns - 1), height: min(tallest, height))
    }
    let space = max(1, size.rows - 1)
    let all = lines.map { broken($0, tallest) }
    guard all.reduce(0, { $0 + $1.count }) > space, let first = lines.first, let last = lines.last
    else { return all.flatMap(\.self) }
    guard space > 1, lines.count > 1 else { return broken(last, space) }
    let end = broken(last, max(space / 2, space - broken(first, tallest).count))
    let start = broken(first, space - end.count)
    var left = space - start.count - end.count
    // Between them whole ones only, of which the last say the most.
    let middle = all.dropFirst().dropLast().reversed().prefix { piece in
      left -= piece.count
      return left >= 0
    }
    return start + middle.reversed().flatMap(\.self) + end
  }
}

extension TerminalScreen {
  fileprivate func fits(_ size: TerminalSize) -> Bool {
    rows == size.rows && columns == size.columns
  }
}
