/// Lines under the cursor that can be taken back: drawn on a terminal in whatever place it is, and
/// erased with the cursor where it was.
package struct Overlay: Sendable, Equatable {
  /// Whose the cursor is while lines are drawn.
  package enum Cursor: Sendable, Equatable {
    /// Ours: nothing else moves it. It stays under the lines.
    case ours
    /// Of somebody whose typing the terminal shows: it goes back to where they type, and the lines
    /// follow it.
    case typing
  }

  /// Whose it is.
  package let cursor: Cursor
  private var drawn: [String] = []
  /// The rows of the screen at whose bottom it stands; nil where it stands under the cursor.
  private var rows: Int?

  /// Nothing drawn.
  package init(cursor: Cursor = .ours) { self.cursor = cursor }

  /// Whether something is drawn.
  package var isShown: Bool { !drawn.isEmpty }

  /// What draws `lines`, broken at `columns`, in place of what was drawn before; no lines take it
  /// away. Empty when they stand there already.
  ///
  /// With `rows`, the height of a screen that a program has to itself, the lines go over its last
  /// ones, and nothing scrolls.
  package mutating func draw(_ lines: [String], columns: Int, over rows: Int? = nil) -> String {
    let lines = lines.flatMap { Self.broken($0, at: columns - 1) }
      .map { Self.cut($0, to: columns - 1) }
    guard lines != drawn || rows != self.rows else { return "" }
    let isInPlace = cursor == .ours && lines.count == drawn.count && rows == self.rows
    var text = isInPlace ? "" : clear()
    (drawn, self.rows) = (lines, rows)
    guard isShown else { return text }
    if rows != nil { return text + overScreen(lines) }
    text += isInPlace ? "\u{1B}8" : room(for: lines.count) + "\u{1B}7"
    for line in lines { text += "\r\n" + line + "\u{1B}[K" }
    return cursor == .ours ? text : text + "\u{1B}8"
  }

  /// Makes room at the bottom of the screen; only then is the place known to stay. IND (ECMA-48)
  /// goes down in the same column, which a line feed does not where the terminal returns the
  /// carriage with it.
  private func room(for count: Int) -> String {
    String(repeating: cursor == .ours ? "\n" : "\u{1B}D", count: count) + "\u{1B}[\(count)A"
  }

  private func overScreen(_ lines: [String]) -> String {
    let first = max(1, (rows ?? 0) - lines.count + 1)
    let placed = lines.enumerated().map { "\u{1B}[\(first + $0.offset);1H\($0.element)\u{1B}[K" }
    return "\u{1B}7" + placed.joined() + "\u{1B}8"
  }

  /// What takes it away; empty when nothing is drawn. Over a program's screen blanks are left: it
  /// must be asked to draw it again.
  package mutating func clear() -> String {
    guard isShown else { return "" }
    defer { (drawn, rows) = ([], nil) }
    if rows != nil { return overScreen(drawn.map { _ in "" }) }
    // Whoever types is at the end of the text: nothing of theirs is behind the cursor.
    guard cursor == .ours else { return "\u{1B}[J" }
    return "\u{1B}8" + String(repeating: "\r\n\u{1B}[2K", count: drawn.count) + "\u{1B}8"
  }

  /// What takes it away to begin a line: a new one, where somebody may be in the middle of theirs.
  package mutating func makeLine(columns: Int) -> String {
    // As many blanks as fit at the start of a line; they reach the next from anywhere else.
    let next = cursor == .ours ? "" : String(repeating: " ", count: columns - 1) + "\r\u{1B}[K"
    return clear() + next
  }

  /// `line` in pieces of at most `limit` characters, broken between words.
  private static func broken(_ line: String, at limit: Int) -> [String] {
    guard line.count > limit else { return [line] }
    let indent = String(line.prefix { $0 == " " })
    var pieces: [String] = []
    var piece = indent
    for word in line.split(separator: " ") {
      if piece.count > indent.count, piece.count + 1 + word.count > limit {
        pieces.append(piece)
        piece = indent
      }
      piece += (piece.count == indent.count ? "" : " ") + word
    }
    return pieces + [piece]
  }

  /// The first `limit` characters that show; sequences that set colours do not count.
  private static func cut(_ line: String, to limit: Int) -> String {
    var result = ""
    var shown = 0
    var isSequence = false
    for character in line {
      if character == "\u{1B}" { isSequence = true }
      if !isSequence {
        shown += 1
        guard shown <= max(1, limit) else { return result + "\u{1B}[0m" }
      }
      result.append(character)
      if isSequence, character == "m" { isSequence = false }
    }
    return result
  }
}
