/// Lines under the cursor that can be taken back: drawn on a terminal in whatever place it is, and
/// erased with the cursor where it was.
package struct Overlay: Sendable, Equatable {
  private var height = 0

  /// Nothing drawn.
  package init() {}

  /// Whether something is drawn.
  package var isShown: Bool { height > 0 }

  /// What draws `lines`, broken at `columns`, in place of what was drawn before; no lines take it
  /// away.
  package mutating func draw(_ lines: [String], columns: Int) -> String {
    let lines = lines.flatMap { Self.broken($0, at: columns - 1) }
    var text = lines.count == height ? "" : clear()
    guard !lines.isEmpty else { return text }
    if height == 0 {
      // Line feeds make room at the bottom of the screen; only then is the place known to stay.
      let room = String(repeating: "\n", count: lines.count)
      text += "\(room)\u{1B}[\(lines.count)A\u{1B}7"
      height = lines.count
    } else {
      text += "\u{1B}8"
    }
    for line in lines { text += "\r\n" + Self.cut(line, to: columns - 1) + "\u{1B}[K" }
    return text
  }

  /// What takes it away; empty when nothing is drawn.
  package mutating func clear() -> String {
    guard height > 0 else { return "" }
    defer { height = 0 }
    return "\u{1B}8" + String(repeating: "\r\n\u{1B}[2K", count: height) + "\u{1B}8"
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
