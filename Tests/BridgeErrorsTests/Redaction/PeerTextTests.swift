import BridgeErrors
import Testing

@Suite("Peer text is escaped and bounded")
struct PeerTextTests {
  static let line: [(String, String)] = [
    ("plain text", "plain text"), ("", ""), ("~", "~"), ("Zoë 日本 🦊", "Zoë 日本 🦊"),
    ("a\nb", "a b"), ("a\r\nb", "a b"), ("a\rb", "a b"), ("a\tb", "a b"), ("\n\n", "  "),
    ("\0", "\\x00"), ("\u{07}", "\\x07"), ("\u{1B}[31m", "\\x1b[31m"), ("\u{7F}", "\\x7f"),
    ("\u{9B}31m", "\\x9b31m"), ("\u{85}", "\\x85"), ("\u{AD}", "\\u{ad}"),
    ("\u{202E}evil", "\\u{202e}evil"), ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
    ("\u{200E}\u{200F}\u{061C}", "\\u{200e}\\u{200f}\\u{61c}"),
    ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("\u{FEFF}", "\\u{feff}"),
    ("\u{200B}", "\\u{200b}"), ("\u{E0041}", "\\u{e0041}"), ("\u{E000}", "\\u{e000}"),
    ("\u{FFFF}", "\\u{ffff}"), ("👩‍👧", "👩‍👧"), ("<b>&'\"", "<b>&'\""),
  ]

  @Test func oneLine() {
    for (text, expected) in Self.line {
      #expect(PeerText.escaped(text) == expected)
      #expect(PeerText.escaped(Array(text.utf8)) == expected)
      #expect(PeerText.escaped(text[...]) == expected)
      #expect(PeerText.escaped(PeerText.escaped(text)) == expected, "twice is once")
    }
  }

  static let paragraphs: [(String, String)] = [
    ("a\nb\r\nc\td", "a\nb\nc\td"), ("a\r\rb", "a\n\nb"), ("a\u{1B}b", "a\\x1bb"),
  ]

  @Test func severalLines() {
    for (text, expected) in Self.paragraphs {
      #expect(PeerText.escaped(text, layout: .paragraph) == expected)
    }
  }

  static let invalid: [([UInt8], String)] = [
    ([0xFF], "\u{FFFD}"), ([0x61, 0x80, 0x62], "a\u{FFFD}b"), ([0xC0, 0xAF], "\u{FFFD}\u{FFFD}"),
    // C1 controls, written as UTF-8 and as a single byte.
    ([0xC2, 0x9B, 0x41], "\\x9bA"), ([0x9B, 0x41], "\u{FFFD}A"), ([0xE2, 0x82], "\u{FFFD}"),
  ]

  @Test func bytesThatAreNoText() {
    for (bytes, expected) in Self.invalid {
      #expect(PeerText.escaped(bytes) == expected)
    }
  }

  @Test(arguments: ["a", "é", "日", "🦊", "\u{1B}", "\r\n", "\0é", "a\n"])
  func nothingIsLongerThanTheLimit(_ unit: String) {
    let megabyte = String(repeating: unit, count: 1 << 20 / unit.utf8.count)
    for text in [PeerText.escaped(megabyte), PeerText.escaped(Array(megabyte.utf8))] {
      #expect(text.utf8.count <= PeerText.limit)
      #expect(text.utf8.count > PeerText.limit / 2 - 16)
      #expect(text.hasSuffix("…"))
    }
  }

  static let cuts: [(String, Int, String)] = [
    ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc…"), ("日本語", 8, "日…"), ("aé€x", 6, "aé…"),
  ]

  @Test func aCutKeepsWholeCharacters() {
    for (text, limit, expected) in Self.cuts {
      #expect(PeerText.cut(text, limit: limit) == expected)
      #expect(PeerText.escaped(text, limit: limit) == expected)
      #expect(PeerText.escaped(Array(text.utf8), limit: limit) == expected)
    }
  }
}
