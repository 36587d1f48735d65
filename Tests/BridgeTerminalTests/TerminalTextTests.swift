import BridgeTerminal
import Testing

@Suite struct TerminalTextTests {
  @Test(arguments: [
    ("", 0), ("plain", 5), ("\u{1B}[1;31mred\u{1B}[0m", 3), ("übel", 4), ("u\u{308}bel", 4),
    ("日本語", 6), ("한글", 4), ("ＡＢ", 4), ("🚀", 2), ("👩‍💻", 2), ("❯ …", 3), ("\u{1B}", 0),
  ])
  func cells(_ text: String, _ width: Int) {
    #expect(TerminalText.width(of: text) == width)
  }

  @Test func whatFitsIsLeftAsItIs() {
    #expect(TerminalText.broken("  a  b", at: 6) == ["  a  b"])
  }

  @Test func linesAreBrokenBetweenWordsWithTheirIndent() {
    #expect(TerminalText.broken("  aaa bbb ccc", at: 10) == ["  aaa bbb", "  ccc"])
  }

  @Test func whatIsLongerThanALineIsBrokenAnywhere() {
    #expect(TerminalText.broken(" ab cdefghij", at: 5) == [" ab", " cdef", " ghij"])
    #expect(TerminalText.broken("日本語", at: 5) == ["日本", "語"])
    #expect(TerminalText.broken("日本語", at: 1) == ["日", "本", "語"])
  }

  @Test func anIndentAsWideAsTheLineIsLeftOut() {
    #expect(TerminalText.broken("    ab cd", at: 4) == ["ab", "cd"])
  }

  @Test func colorsAreNotBroken() {
    let red = "\u{1B}[1;31mab cd\u{1B}[0m"
    #expect(TerminalText.broken(red, at: 5) == [red])
    #expect(TerminalText.broken(red, at: 1).joined() == red.filter { $0 != " " })
  }

  /// Wide characters are not halved.
  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("漢字漢", 5, "漢字…"), ("漢字漢", 4, "漢…"), ("ab", 1, "…"),
    ("", 0, ""),
  ])
  func aClippedTextHasSoManyCellsAtMost(_ text: String, _ limit: Int, _ clipped: String) {
    #expect(TerminalText.clipped(text, to: limit) == clipped)
    #expect(TerminalText.width(of: clipped) <= limit)
  }

  @Test func moreThanIsWantedIsCutWithAnEllipsis() {
    #expect(TerminalText.broken("aa bb cc dd", at: 2, height: 2) == ["aa", "b…"])
    #expect(TerminalText.broken("日本語", at: 2, height: 1) == ["…"])
    #expect(TerminalText.broken("aa bb", at: 2, height: 2) == ["aa", "bb"])
  }
}
