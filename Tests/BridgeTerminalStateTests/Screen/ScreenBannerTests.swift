import BridgeFaults
import BridgeTerminalState
import Testing

/// Lines that are shown beside a program's screen go again without a trace, but that a shell's may
/// stay raised until it has printed as many.
@Suite struct ScreenBannerTests {
  /// A terminal that showed something before a program's output came, and what is known of it.
  private struct Pair {
    var terminal: TerminalScreen
    var known: TerminalScreen

    init(rows: Int, columns: Int, before: String = "") {
      terminal = TerminalScreen(rows: rows, columns: columns)
      terminal.track(Array(before.utf8))
      known = TerminalScreen(rows: rows, columns: columns, history: 0)
    }

    mutating func print(_ text: String) { print(Array(text.utf8)[...]) }

    mutating func print(_ bytes: ArraySlice<UInt8>) {
      terminal.track(known.take([Array(bytes)]))
      terminal.track(bytes)
    }

    /// Shows lines, which need their rows.
    mutating func show(_ lines: [String], by banner: inout ScreenBanner) {
      terminal.track(banner.show(lines))
      known.makeSpace(lines.count)
    }

    /// Whether the terminal shows what is known of it, but that all rows may be further up.
    var isSame: Bool {
      var (shown, lowered) = (terminal, known)
      shown.track(lowered.lower())
      return shown == lowered
    }

    /// The lines above the screen, and those of the screen, without blank ones.
    var lines: [String] {
      let text = String(decoding: terminal.render(), as: UTF8.self)
      return text.split { !$0.isNumber && !$0.isLetter }.map(String.init)
        .filter { $0.hasPrefix("line") }
    }

    var rows: [String] { (0..<terminal.rows).map { terminal.text(ofRow: $0) } }
  }

  private static let shell = "$ ls\r\na b c\r\n$ bridgectl connect host\r\n"

  @Test func onTheLastRowsOfAFullScreenProgram() throws {
    var pair = Pair(rows: 4, columns: 20, before: Self.shell)
    pair.print("\u{1B}[?1049h\u{1B}[H\u{1B}[2Jone\u{1B}[4;1Hfour\u{1B}[2;5H")
    let before = pair.terminal
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.terminal.track(banner.show(["lost", "again in 3 s"]))
    #expect(pair.rows == ["one", "", "lost", "again in 3 s"])
    #expect(pair.terminal.position == (1, 4))
    pair.terminal.track(banner.show(["up"]))
    #expect(pair.rows == ["one", "", "", "up"])
    pair.terminal.track(banner.clear())
    #expect(pair.terminal == before)
  }

  /// What it asks, and what is typed there, is to be read.
  @Test(arguments: [3, 4]) func onTheFirstRowsWhereTheCursorIsInTheLast(_ row: Int) throws {
    var pair = Pair(rows: 4, columns: 20)
    pair.print("\u{1B}[?1049h\u{1B}[H\u{1B}[2Jone\u{1B}[\(row);1HAllow this? ")
    let before = pair.terminal
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.terminal.track(banner.show(["lost", "again in 3 s"]))
    #expect(pair.rows[0...1] == ["lost", "again in 3 s"])
    #expect(pair.rows[row - 1] == "Allow this?" && pair.terminal.position == (row - 1, 12))
    pair.terminal.track(banner.clear())
    #expect(pair.terminal == before)
  }

  /// Who hides the cursor draws one, mostly in a field of the last rows.
  @Test func onTheFirstRowsWhereTheCursorIsHidden() throws {
    var pair = Pair(rows: 4, columns: 20)
    pair.print("\u{1B}[?1049h\u{1B}[H\u{1B}[2Jone\u{1B}[4;1H> here\u{1B}[?25l\u{1B}[H")
    let before = pair.terminal
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.terminal.track(banner.show(["lost"]))
    #expect(pair.rows == ["lost", "", "", "> here"])
    pair.terminal.track(banner.clear())
    #expect(pair.terminal == before)
  }

  /// As a viewport of ratatui in the lines of a shell: rows are addressed by their numbers, and
  /// what the shell has shown above is not known.
  @Test func underTheCursorOfAProgramThatAddressesRows() throws {
    var pair = Pair(rows: 6, columns: 20, before: Self.shell)
    pair.print("\n\n\n\u{1B}[5;1HAllow this?\u{1B}[6;1H> yes")
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.terminal.track(banner.show(["lost", "again in 3 s"]))
    #expect(pair.rows.suffix(4) == ["Allow this?", "> yes", "lost", "again in 3 s"])
    pair.terminal.track(banner.show(["lost", "again in 2 s"]))
    pair.terminal.track(banner.clear())
    #expect(pair.rows.suffix(2) == ["Allow this?", "> yes"])
    #expect(pair.terminal.position == (5, 5))
    let text = String(decoding: pair.terminal.render(), as: UTF8.self)
    #expect(text.contains("a b c"), "what the shell has shown stays above")
  }

  @Test func theLinesOfAShellAreNotKnown() {
    var pair = Pair(rows: 6, columns: 20, before: Self.shell)
    pair.print("$ ls\r\na b c\r\n$ ")
    #expect(ScreenBanner(over: pair.known) == nil)
    #expect(pair.known.repaint().isEmpty)
  }

  /// The terminal's cursor was in any row at first: it is in the last one, as that of the screen.
  @Test(arguments: 0..<6) func untilTheyHaveFilledTheScreen(_ first: Int) throws {
    var pair = Pair(rows: 6, columns: 20, before: String(repeating: "old\r\n", count: first))
    for number in 0..<5 { pair.print("\(number)\r\n") }
    #expect(ScreenBanner(over: pair.known) == nil)
    pair.print("$ cd\r\n$ ")
    #expect(pair.rows == (0..<6).map { pair.known.text(ofRow: $0) })
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.show(["lost", "again in 3 s"], by: &banner)
    #expect(pair.rows == ["3", "4", "$ cd", "$", "lost", "again in 3 s"])
    pair.terminal.track(banner.clear())
    #expect(pair.rows == ["3", "4", "$ cd", "$", "", ""])
    pair.print("ls\r\n$ ")
    #expect(pair.rows == ["3", "4", "$ cd", "$ ls", "$", ""])
    pair.print("ls\r\n$ ls\r\n$ ")
    #expect(pair.rows == ["4", "$ cd", "$ ls", "$ ls", "$ ls", "$"])
    #expect(!pair.known.isRaised && pair.terminal == pair.known)
  }

  /// A shell whose screen a banner has raised, behind this prompt.
  private func raised(behind prompt: String) throws -> Pair {
    var pair = Pair(rows: 6, columns: 20, before: Self.shell)
    for number in 0..<9 { pair.print("line\(number)\r\n") }
    pair.print(prompt)
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.show(["lost", "again in 3 s"], by: &banner)
    pair.terminal.track(banner.clear())
    #expect(pair.known.isRaised)
    return pair
  }

  /// What a program addresses is where it has put it, whatever comes between.
  @Test(arguments: [
    "\u{1B}[2;1H", "\u{1B}[3d", "\u{1B}[6n", "\u{1B}[?6n", "\u{1B}M\u{1B}M\u{1B}M\u{1B}M",
    "\u{1B}[5A", "\u{1B}[B", "\u{1B}[2;4r",
    "\u{1B}[L", "\u{1B}[M", "\u{1B}[S", "\u{1B}[T", "\u{1B}7", "\u{1B}8", "\u{1B}[s",
    "\u{1B}[u", "\u{1B}[?1048l", "\u{1B}[?1049h", "\u{1B}[?47h", "\u{1B}[?6h", "\u{1B}#8",
    "\u{1B}[1;1;2;2$z", "\u{1B}[44m\n", "\u{1B}[44m\r\n\r\n",
  ])
  func aProgramThatReliesOnRowsFindsThem(_ sequence: String) throws {
    var pair = try raised(behind: "\u{1B}7$ ")
    pair.print("ls" + sequence)
    #expect(!pair.known.isRaised)
    #expect(pair.terminal == pair.known)
  }

  @Test(arguments: [
    "text", "\r\u{1B}[K$ text", "\u{1B}[2A\u{1B}[2KX\r\n\n", "\u{8}\t\u{7}", "\u{1B}[J",
    "\r\u{1B}M\u{1B}M\u{1B}[K",
    "\u{1B}[2J",
    "\u{1B}[3C\u{1B}[1D\u{1B}[7G", "\u{1B}[?2004h\u{1B}[?25l", "\u{1B}[1;31mred\u{1B}[m",
    "\u{1B}[44mX\u{1B}[m\n",
  ])
  func whatALineEditorWritesKeepsThemRaised(_ text: String) throws {
    var pair = try raised(behind: "$ ")
    pair.print(text)
    #expect(pair.known.isRaised && pair.isSame)
  }

  /// As where a person makes the window larger while the link is down.
  @Test(arguments: [(6, 20), (4, 20), (9, 20), (30, 20), (6, 12), (12, 40)], 1...4)
  func noLineIsLostOrDoubledByANewSize(_ size: (Int, Int), _ count: Int) throws {
    var pair = Pair(rows: 6, columns: 20, before: Self.shell)
    for number in 0..<20 { pair.print("line\(number)\r\n") }
    pair.print("$ ")
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.show((0..<count).map { "lost \($0)" }, by: &banner)
    pair.terminal.resize(rows: size.0, columns: size.1)
    pair.known.resize(rows: size.0, columns: size.1)
    pair.known.loseRows()
    #expect(ScreenBanner(over: pair.known) == nil)
    pair.terminal.track(Array("\u{1B}7\r\n\u{1B}[J\u{1B}8".utf8))
    for number in 20..<80 {
      pair.print("line\(number)\r\n")
      // Sooner or later it is known again what the terminal shows.
      if ScreenBanner(over: pair.known) != nil {
        #expect(pair.rows == (0..<pair.known.rows).map { pair.known.text(ofRow: $0) })
      }
    }
    #expect(ScreenBanner(over: pair.known) != nil)
    let lines = pair.lines
    #expect(lines == (0..<80).map { "line\($0)" })
  }

  @Test func norIsWhatATerminalShowsThatMovesItsRows() {
    var pair = Pair(rows: 6, columns: 20)
    pair.print("\u{1B}[H\u{1B}[2Jone")
    #expect(ScreenBanner(over: pair.known) != nil)
    pair.known.loseRows()
    #expect(ScreenBanner(over: pair.known) == nil)
  }

  /// A terminal goes back to a row, not to what was in it.
  @Test func norWhereTheCursorWasSavedBeforeTheyWere() {
    var pair = Pair(rows: 6, columns: 20, before: Self.shell)
    pair.print("one\u{1B}7\r\n\n\n\n\n\n\n\u{1B}8two")
    #expect(ScreenBanner(over: pair.known) == nil)
  }

  @Test(arguments: 1..<4) func norWithinACharacter(_ cut: Int) throws {
    var pair = Pair(rows: 4, columns: 6, before: Self.shell)
    pair.print("\u{1B}[H\u{1B}[2Jone\r\ntwo\r\n\r\nabcdef")
    pair.print(Array("\u{1F600}".utf8)[..<cut])
    var banner = try #require(ScreenBanner(over: pair.known))
    pair.show(["lost"], by: &banner)
    pair.terminal.track(banner.clear())
    #expect(pair.isSame)
    pair.print(Array("\u{1F600}".utf8)[cut...])
    #expect(pair.rows == ["two", "", "abcdef", "\u{1F600}"])
  }

  @Test(arguments: 0..<400) func itLeavesNoTrace(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (rows, columns) = [(24, 80), (6, 9), (10, 20)].randomElement(using: &random) ?? (24, 80)
    var pair = Pair(rows: rows, columns: columns, before: Self.shell)
    pair.print("\u{1B}[H\u{1B}[2J")
    let output = ScreenOutput.pieces(Int.random(in: 1...200, using: &random), using: &random)
    let cut = Int.random(in: 0...output.count, using: &random)
    pair.print(output[..<cut])
    let first = ScreenBanner(over: pair.known)
    var banner = try #require(first)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let count = Int.random(in: 1...4, using: &random)
      pair.show((0..<count).map { "line \($0)" }, by: &banner)
    }
    pair.terminal.track(banner.clear())
    let isSame = pair.isSame
    #expect(isSame, "at byte \(cut)")
    pair.print(output[cut...])
    let followed = pair.isSame
    #expect(followed, "after the rest")
  }

  @Test(arguments: 0..<200) func whatWasWrittenOverAProgramGoes(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var pair = Pair(rows: 10, columns: 20)
    pair.print("\u{1B}[?1049h\u{1B}[H\u{1B}[2J")
    let output = ScreenOutput.pieces(100, using: &random)
    pair.print(output[...])
    pair.terminal.track(Array("\r\none\r\ntwo\r\n".utf8))
    guard pair.known.isAlternateScreen else { return }
    pair.terminal.track(pair.known.repaint())
    let isSame = pair.terminal == pair.known
    #expect(isSame)
  }
}
