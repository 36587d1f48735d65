import BridgeCommands
import BridgeErrors
import BridgeTerminal
import Testing

@Suite("Lines of our own on a terminal") struct ParagraphTests {
  static let lines: [(String, Int, [String])] = [
    ("short", 40, ["short"]),
    ("one two three", 13, ["one two three"]),
    (
      "bridgectl: [fileNotFound] a b c d e f g h", 32,
      ["bridgectl: [fileNotFound] a b c", "  d e f g h"]
    ),
    ("  indented words that go on here", 20, ["  indented words", "  that go on here"]),
    // A word is not broken, nor is a command; neither is drawn out over the next.
    (
      "see https://example.org/a/long/path now", 20,
      ["see", "  https://example.org/a/long/path", "  now"]
    ),
    (
      "bridgectl: `bridgectl attach web 1234` returns.", 30,
      ["bridgectl:", "  `bridgectl attach web 1234`", "  returns."]
    ),
    ("a `b c", 20, ["a `b c"]),
    ("a `half of a pair goes on", 16, ["a `half of a", "  pair goes on"]),
    (
      "    ssh-keygen -f '/home/me/.ssh/known_hosts' -R web", 20,
      ["    ssh-keygen -f '/home/me/.ssh/known_hosts' -R web"]
    ),
    ("日本語 日本語 日本語", 16, ["日本語 日本語", "  日本語"]),
    ("one two three four", 1, ["one two three", "  four"]),
  ]

  @Test(arguments: lines.indices)
  func aLineIsBrokenBetweenWords(_ index: Int) {
    let (line, columns, pieces) = Self.lines[index]
    #expect(Paragraph.wrapped(line, at: columns) == pieces)
  }

  @Test(arguments: ErrorCatalogue.examples, [40, 80])
  func everyErrorFitsAndLosesNothing(_ error: AppError, _ columns: Int) {
    for line in TerminalBanner.lastLines(error, advice: CommandAdvice.text(for: error)) {
      let pieces = Paragraph.wrapped(line, at: columns)
      for piece in pieces where TerminalText.width(of: piece) > columns {
        // One word, or one command.
        #expect(!piece.drop { $0 == " " }.contains(" ") || piece.contains("`"), "\(piece)")
      }
      let words = { (text: String) in text.split(separator: " ") }
      #expect(pieces.flatMap(words) == words(line))
    }
  }
}
