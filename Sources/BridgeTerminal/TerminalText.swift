/// Text in the cells of a terminal. Sequences that set colors (SGR, ECMA-48) take none, wide
/// characters two.
package enum TerminalText {
  /// Something that cannot be broken.
  private struct Unit {
    var text: Substring
    var width: Int
  }

  /// How many cells `text` takes.
  package static func width(of text: some StringProtocol) -> Int {
    units(of: text).reduce(0) { $0 + $1.width }
  }

  /// `words` as one of `broken`: with spaces at which no line is broken (U+00A0).
  package static func unbroken(_ words: String) -> String { replaced(" ", by: noBreakSpace, words) }

  private static let noBreakSpace: Character = "\u{A0}"

  private static func replaced(
    _ old: Character, by new: Character, _ text: String
  ) -> String {
    String(text.map { $0 == old ? new : $0 })
  }

  /// `line` in pieces of at most `limit` cells, broken between words where that can be, each with
  /// the line's indent. Of more than `height` pieces the first are left, and an ellipsis.
  package static func broken(_ line: String, at limit: Int, height: Int = .max) -> [String] {
    pieces(of: line, at: limit, height: height).map { replaced(noBreakSpace, by: " ", $0) }
  }

  private static func pieces(of line: String, at limit: Int, height: Int) -> [String] {
    guard width(of: line) > limit else { return [line] }
    var pieces = Pieces(indent: String(line.prefix { $0 == " " }), limit: limit)
    for word in line.split(separator: " ") {
      let width = width(of: word)
      if pieces.take(" ", 1, before: word, width) { continue }
      pieces.end()
      for unit in units(of: word) {
        if !pieces.take("", 0, before: unit.text, unit.width) {
          pieces.end()
          pieces.force(unit.text, unit.width)
        }
      }
    }
    pieces.end()
    guard pieces.whole.count > height, let last = pieces.whole.prefix(height).last else {
      return pieces.whole
    }
    return pieces.whole.prefix(height - 1) + [shortened(last, to: limit - 1) + "…"]
  }

  /// `text` in at most `limit` cells: what does not fit is left out, and an ellipsis says so.
  package static func clipped(_ text: String, to limit: Int) -> String {
    width(of: text) <= limit ? text : shortened(text, to: max(0, limit - 1)) + "…"
  }

  private static func shortened(_ text: String, to limit: Int) -> String {
    var space = limit
    let fitting = units(of: text).prefix { unit in
      space -= unit.width
      return space >= 0
    }
    return fitting.map { String($0.text) }.joined()
  }

  private static func units(of text: some StringProtocol) -> [Unit] {
    var units: [Unit] = []
    var rest = Substring(text)
    while let first = rest.first {
      let isSequence = first == "\u{1B}"
      let end = isSequence ? rest.firstIndex(of: "m") : nil
      let unit = end.map { rest[...$0] } ?? rest.prefix(1)
      units.append(Unit(text: unit, width: isSequence ? 0 : cells(of: first)))
      rest = rest[unit.endIndex...]
    }
    return units
  }

  private static func cells(of character: Character) -> Int {
    guard !character.isASCII, let scalar = character.unicodeScalars.first else { return 1 }
    let isWide =
      scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
    return isWide ? 2 : 1
  }

  /// The blocks of Unicode that are wide (UAX #11, W and F), emoji aside.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x16FE0...0x18AFF, 0x1B000...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
  ]

  /// Pieces of a line in the making.
  private struct Pieces {
    var whole: [String] = []
    private var piece = ""
    private var width = 0
    private let indent: String
    private let limit: Int

    init(indent: String, limit: Int) {
      self.indent = indent.count < limit ? indent : ""
      self.limit = limit
    }

    /// Adds `text`, after `gap` where it is not the first of its piece; false when it does not fit.
    mutating func take(
      _ gap: String, _ gapWidth: Int, before text: Substring, _ textWidth: Int
    ) -> Bool {
      let isFirst = piece.isEmpty
      let more = textWidth + (isFirst ? 0 : gapWidth)
      guard indent.count + width + more <= limit else { return false }
      piece += (isFirst ? "" : gap) + text
      width += more
      return true
    }

    mutating func force(_ text: Substring, _ textWidth: Int) {
      piece += text
      width += textWidth
    }

    mutating func end() {
      guard !piece.isEmpty else { return }
      whole.append(indent + piece)
      (piece, width) = ("", 0)
    }
  }
}
