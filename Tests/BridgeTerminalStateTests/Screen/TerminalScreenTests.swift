import BridgeTerminalState
import Testing

/// What a terminal of 4 rows and 10 columns shows after output. Each row of a table is a behavior
/// of xterm's "Control Sequences".
@Suite struct TerminalScreenTests {
  private static let escape = "\u{1B}"

  /// A screen after output in which ^ stands for ESC.
  private func screen(_ text: String, rows: Int = 4, columns: Int = 10) -> TerminalScreen {
    var screen = TerminalScreen(rows: rows, columns: columns)
    screen.track(Array(text.replacing("^", with: Self.escape).utf8))
    return screen
  }

  private func lines(_ screen: TerminalScreen) -> String {
    var lines = (0..<screen.rows).map { screen.text(ofRow: $0) }
    while lines.last == "" { lines.removeLast() }
    return lines.joined(separator: "|")
  }

  @Test(arguments: [
    // Text.
    ("hello", "hello"), ("a\r\nb", "a|b"), ("a\nb", "a| b"), ("ab\rc", "cb"), ("ab\u{8}c", "ac"),
    ("0123456789x", "0123456789|x"), ("^[?7l0123456789x", "012345678x"),
    ("0123456789\rx", "x123456789"), ("0123456789^[Kx", "012345678x"),
    ("a\u{7F}\u{7}b", "ab"), ("^[20ha\nb", "a|b"), ("1\r\n2\r\n3\r\n4\r\n5", "2|3|4|5"),
    // Characters that are wide, combine, or are none.
    ("日本", "日本"), ("012345678日", "012345678|日"), ("日^[1Gx", "x"), ("日^[2Gx", " x"),
    ("e\u{301}x", "e\u{301}x"), ("日\u{301}", "日\u{301}"),
    ("0123456789\u{301}", "0123456789\u{301}"), ("👩\u{200D}💻", "👩\u{200D}💻"),
    // In a sequence they break it off.
    ("^[3日*x", "*x"), ("^[日é", "é"), ("^[?日hx", "hx"), ("^日x", "x"), ("^(日x", "x"),
    ("^[31😀mx", "mx"), ("^]2;日\u{7}x", "x"),
    // So does a control in a value behind a colon, and does nothing else.
    ("^[4:4^[7mx", "[7mx"), ("^[4:^Mx", "Mx"), ("^[4:4\nmx", "mx"), ("^[4:4\u{7F}mx", "mx"),
    ("^[4:4;5^[7mx", "x"), ("^[4;4\nmx", "|x"), ("^[4:4;:3^[mx", "[mx"), ("^[4:4 ^[mx", "x"),
    // The cursor.
    ("^[2;3Hx", "|  x"), ("^[Hx^[99;99Hy", "x|||         y"), ("^[2Bx^[Ay", "| y|x"),
    ("^[3Cx^[2Dy", "  yx"), ("abc^[Ex^[Fy", "ybc|x"), ("abc^[2Gx^[3dy", "axc||  y"),
    ("^[2;2H^[2;2f^[ex", "|| x"), ("a^Eb^Mc^Dd", "ac|b d"), ("^[2ax^[5`y", "  x y"),
    // Erasing.
    ("abc^[2G^[K", "a"), ("abc^[2G^[1K", "  c"), ("abc^[2K", ""), ("a\r\nb\r\nc^[2;1H^[J", "a"),
    ("a\r\nb\r\nc^[2;1H^[1J", "||c"), ("a\r\nb^[2J", ""), ("abcd^[2G^[2X", "a  d"),
    ("0123456789^[2Kxy", "         x|y"), ("0123456789^[1Kx", "         x"),
    ("0123456789^[2Jx", "         x"), ("0123456789^[1Jx", "         x"),
    ("0123456789^[?Kx", "012345678x"), ("0123456789^[?2Jx", "         x"),
    ("0123456789^[3Jx", "0123456789|x"),
    ("a^[3J", "a"), ("^[1\"qa^[\"qb^[1G^[?K", "a"), ("ab^[1\"qc^[?2J", "  c"),
    // Inserting and deleting.
    ("abc^[2G^[2@", "a  bc"), ("abcd^[2G^[2P", "ad"), ("a\r\nb\r\nc^[2H^[L", "a||b|c"),
    ("a\r\nb\r\nc^[2H^[M", "a|c"), ("abc^[4h^[1Gx", "xabc"), ("012345678日^[1H^[@", " 012345678|日"),
    // Regions.
    ("1\r\n2\r\n3\r\n4^[2;3r^[3H\n", "1|3||4"), ("1\r\n2\r\n3\r\n4^[2;3r^[2H^M", "1||2|4"),
    ("1\r\n2\r\n3\r\n4^[S", "2|3|4"), ("1\r\n2\r\n3^[T", "|1|2|3"), ("^[2;3r^[?6h^[Hx", "|x"),
    ("^[2;3r^[?6h^[9;1Hx", "||x"), ("^[3;2rx", "x"), ("a\r\nb\r\nc\r\nd^[2;3r^[2H^[5L", "a|||d"),
    ("abcdef\r\nghijkl^[?69h^[2;4s^[H^[S", "ahijef|g   kl"), ("^[?69h^[2;4s^[1;2Habcd", " abc| d"),
    // Tab stops.
    ("\tx", "        x"), ("^[3G^H\r\tx", "  x"), ("^[9G^[g\r\tx", "         x"),
    ("^[3g\tx", "         x"),
    ("^[9Cx^[Zy", "        yx"), ("^[Ix", "        x"), ("^[3g^[?5W\tx", "        x"),
    // Character sets.
    ("^(0q^(Bq", "─q"), ("^)0\u{E}x\u{F}x", "│x"), ("^*0^Nxx", "│x"), ("^+0^oq", "─"),
    ("^(A#", "£"), ("^(0^(qq^(%@q^(Bq", "──q"),
    ("^[3G^7^[H^(0^8q", "  q"),
    // Saved cursors.
    ("ab^7c^[3H^8x", "abx"), ("ab^[sc^[Hd^[ux", "dbx"), ("a^8x", "x"),
    ("0123456789^7^[H^8x", "0123456789|x"),
    // Both screens.
    ("main^[?1049halt", "    alt"), ("main^[?1049halt^[?1049l!", "main!"),
    ("0123456789^[?1049hx", "         x"), ("0123456789^[?1047h^[?1047lx", "012345678x"),
    ("0123456789^[?47h^[?47lx", "0123456789|x"),
    ("a^[?47hb^[?47lc^[?47h", " b"), ("a^[?1047hb^[?1047l^[?47h", ""),
    // Others.
    ("ab^[3b", "abbbb"), ("ab^[m^[3bc", "abc"), ("ab^[b^[bc", "abbc"), ("ab\u{0}^[bc", "abc"),
    ("ab^]2;t^\\^[bc", "abc"), ("^(0q^(B^[bq", "─q"), ("^(0q^[bq", "───"),
    ("^[2;3H^[1:1Hx^[2:1Dy^[1:Kz", "|  xyz"),
    ("1\r\n2^[0Tx", "1|2x"), ("1\r\n2^[0Sx", "2| x"),
    ("日^[b", "日日"), ("x^cy", "y"), ("^#8^[2;2H^[J", "EEEEEEEEEE|E"),
    ("a^]0;title\u{7}b^P1$qm^\\c^_G^\\d^Xe^\\f", "abcdf"), ("^[31;1;4:3;58:2::1:2:3mx", "x"),
    ("abc\r\ndef^[1;2;2;3$z", "a|d"), ("abc\r\ndef^[88;1;2;2;3$x", "aXX|dXX"),
    ("0123456789^['}x", "012345678|x"), ("0123456789^[ @x", "123456789|x"),
    ("abc^[H^6x", "xabc"), ("abc^6x", "abx"), ("abc^[10G^9x", "bc       x"), ("abc^[H^9x", "axc"),
    ("abc^[2G^[2'}", "a  bc"), ("abc^[1G^['~", "bc"), ("abc^[ @", "bc"), ("abc^[2 A", "  abc"),
    ("a^[?7$pb^[>qc^[<<5md", "abcd"),
  ])
  func theCellsAreThoseOfXterm(_ output: String, _ expected: String) {
    #expect(lines(screen(output)) == expected)
  }

  @Test(arguments: [
    "^[31mx^[38:5:200;48;2;1;2;3my", "^[1;2;3;4;5;7;8;9;53mx^[22;23;24;25;27;28;29;55my",
    "^[4:3;58:2::1:2:3mx^[4:0;59my", "^[94;103mx^[39;49my", "^]8;id=1;http://a^\\x^]8;;^\\y",
    "^[1\"qx^[0\"qy", "^[44m^[Kx\r\ny",
  ])
  func theRenditionIsOfTheCellAndOfWhatFollows(_ output: String) {
    let (all, plain) = (screen(output), screen(String(output.filter(\.isLetter))))
    #expect(all != plain)
    var fresh = screen("")
    fresh.track(all.render())
    #expect(fresh == all)
    #expect(fresh.render() == all.render())
  }

  /// Terminals that show bold text brighter do so for 31, and not for 38;5;1.
  @Test(arguments: ["1;31", "1;38;5;1", "48;5;0", "40", "91", "38;5;200"])
  func aColorKeepsItsName(_ rendition: String) {
    let rendered = String(decoding: screen("^[\(rendition)mx").render(), as: UTF8.self)
    #expect(rendered.contains("[\(rendition)mx"))
  }

  @Test(
    arguments: [
      ([0xFF, 0x61], "\u{FFFD}a"), ([0xE6, 0x97, 0x61], "\u{FFFD}a"),
      ([0xC0, 0x80], "\u{FFFD}\u{FFFD}"), ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
      ([0xE6, 0x1B, 0x5B, 0x6D, 0x61], "\u{FFFD}a"), ([0xF4, 0x90, 0x61], "\u{FFFD}\u{FFFD}a"),
      ([0xE6, 0x0D, 0x61], "a"), ([0x1B, 0x5B, 0xFF, 0x61], "a"),
      ([0x1B, 0x5B, 0xE6, 0x97, 0x61], "a"), ([0x1B, 0x5B, 0xE6, 0x1B, 0x5B, 0x6D, 0x61], "a"),
    ] as [([UInt8], String)])
  func whatIsNoCharacterIsReplaced(_ bytes: [UInt8], _ expected: String) {
    var screen = TerminalScreen(rows: 4, columns: 10)
    screen.track(bytes)
    #expect(lines(screen) == expected)
  }

  /// Controls within it act at once.
  @Test(arguments: [("", ["abc", ""]), ("\u{8}", ["ac", ""]), ("\r\n", ["ab", "c"])])
  func aSequenceTooLongToBeHeldIsNoText(_ control: String, _ rows: [String]) {
    var screen = TerminalScreen(rows: 4, columns: 20)
    let digits = String(repeating: "0;1", count: 4_000)
    screen.track(Array("ab\u{1B}[\(digits)\(control)\(digits)mc".utf8))
    #expect((0..<2).map { screen.text(ofRow: $0) } == rows)
  }

  /// A program that does not redraw is narrowed by a phone, and then back on its first terminal.
  @Test(arguments: [
    // What it prints between.
    ("", "0123456789|ab日cd日"), ("^[2;1Hx", "0123456789|xb日cd日"), ("^[1;3H^[K", "01|ab日cd日"),
    ("^[1;1H^[P", "1234|ab日cd日"), ("^[4;1H\r\n", "ab日cd日"), ("^[2J", ""),
    ("^[1;5Hx", "0123x56789|ab日cd日"), ("^[2;5Hyz", "0123456789|ab日yd日|z"),
    ("^[1;1H^[L", "|0123456789|ab日cd日"), ("^[?1049hx^[?1049l", "0123456789|ab日cd日"),
  ])
  func whatANarrowerSizeCutsOffComesBack(_ between: String, _ expected: String) {
    var screen = screen("0123456789\r\nab日cd日")
    for columns in [7, 5] { screen.resize(rows: 4, columns: columns) }
    #expect(lines(screen) == "01234|ab日c")
    screen.track(Array(between.replacing("^", with: Self.escape).utf8))
    for columns in [6, 10, 12] { screen.resize(rows: 4, columns: columns) }
    #expect(lines(screen) == expected)
  }

  /// Rows come back where they went.
  @Test(arguments: [
    ("", "1|2|3|4"), ("^[1;3Hx", "1 x|2|3|4"), ("^[2;1H\r\n", "0|1|2"), ("^[J", ""),
    ("^[2;1Hx^[K", "1|x|3|4"), ("^[1;1H^[L", "0||1"), ("^[2J", ""),
  ])
  func whatALowerSizeCutsOffComesBack(_ between: String, _ expected: String) {
    var screen = screen("0\r\n1\r\n2\r\n3\r\n4^[H")
    for rows in [3, 2] { screen.resize(rows: rows, columns: 10) }
    #expect(lines(screen) == "1|2")
    screen.track(Array(between.replacing("^", with: Self.escape).utf8))
    for rows in [3, 4] { screen.resize(rows: rows, columns: 10) }
    #expect(lines(screen) == expected)
  }

  @Test func aWideCharacterThatIsCutComesBackAsAWhole() {
    var screen = screen("0123日567")
    screen.resize(rows: 4, columns: 5)
    #expect(lines(screen) == "0123")
    screen.resize(rows: 4, columns: 8)
    #expect(lines(screen) == "0123日56")
    screen.resize(rows: 4, columns: 5)
    screen.track(Array("\u{1B}[1;5Hx".utf8))
    screen.resize(rows: 4, columns: 9)
    #expect(lines(screen) == "0123x 567")
  }

  @Test func theSizeIsBounded() {
    for (rows, columns) in [(0, -1), (1, 1), (5000, 5000)] {
      var screen = TerminalScreen(rows: rows, columns: columns)
      screen.track(Array("日\u{1B}[99999;99999Hx\u{1B}[2147483648Bx\u{1B}[2000b\u{1B}[9L".utf8))
      screen.resize(rows: columns, columns: rows)
      #expect((1...TerminalScreen.largest).contains(screen.rows))
      #expect((1...TerminalScreen.largest).contains(screen.columns))
      #expect(screen.position.row < screen.rows && screen.position.column < screen.columns)
    }
  }

  @Test func whatIsPushedWithoutEndIsBounded() {
    let short = screen("\u{1B}[>1u").render().count
    var pushed = screen(String(repeating: "^[>1u", count: 10_000))
    #expect(pushed.render().count < short * 16)
    // A style, a link and a character for each cell, many times over.
    for number in 0..<10_000 {
      let (high, low) = (number >> 8 & 0xFF, number & 0xFF)
      let text = "\u{1B}[38;2;1;\(high);\(low)m\u{1B}]8;;http://\(number)\u{7}x\u{301}"
      pushed.track(Array(text.utf8))
    }
    #expect(pushed.text(ofRow: 3).hasSuffix("x\u{301}"))
    pushed.track(Array("e\(String(repeating: "\u{301}", count: 10_000))".utf8))
    #expect(pushed.text(ofRow: 3).utf8.count < 500)
  }

  @Test func ofLinesWithoutSequencesTheLastOnesCount() {
    let text = (0..<5_000).map { "\($0) \(String(repeating: "x", count: $0 % 25))\r\n" }.joined()
    for start in ["", "^[41mx\r\n日", "^[2;3r", "^[?1049h"] {
      var (whole, lineByLine) = (screen(start), screen(start))
      whole.track(Array(text.utf8))
      for line in text.split(separator: "\r\n") { lineByLine.track(Array("\(line)\r\n".utf8)) }
      #expect(whole == lineByLine)
      #expect(whole.render() == lineByLine.render())
    }
  }

  @Test(arguments: [
    ("1\r\n2\r\n3\r\n4\r\n5", 2, 10, "4|5"), ("1\r\n2\r\n3\r\n4\r\n5", 6, 10, "1|2|3|4|5"),
    ("1\r\n2", 2, 10, "1|2"), ("012345", 4, 3, "012"), ("01日", 4, 3, "01"),
    ("1\r\n2\r\n3\r\n4\r\n5^[?1049hx", 2, 10, "| x"), ("12345\r\n^[2;3r", 4, 20, "12345"),
  ])
  func aNewSizeMovesNoTextToOtherLines(
    _ output: String, _ rows: Int, _ columns: Int, _ expected: String
  ) {
    var screen = screen(output)
    screen.resize(rows: rows, columns: columns)
    #expect(lines(screen) == expected)
  }

  @Test func linesAboveTheScreenAreWrittenOnce() {
    let all = screen((1...9).map { "\($0)" }.joined(separator: "\r\n"))
    for history in [0, 2, 100] {
      var fresh = screen("")
      fresh.track(all.render(history: history))
      #expect(fresh == all && fresh.historyCount == min(history, 5))
    }
  }

  @Test func theMainScreenIsBehindTheAlternateOne() {
    var fresh = screen("")
    fresh.track(screen("main^[31m^[?1049h^[Halt^[>5u").render())
    #expect(lines(fresh) == "alt" && fresh.isAlternateScreen)
    fresh.track(Array("\u{1B}[?1049l!".utf8))
    #expect(lines(fresh) == "main!")
  }
}
