import BridgeFaults
import BridgeTerminalState
import Testing

/// A terminal of another size shows a part of the screen.
@Suite struct ScreenWindowTests {
  /// A program's terminal, and a smaller one on which a window is painted.
  private struct Pair {
    var screen: TerminalScreen
    var window: ScreenWindow
    var phone: TerminalScreen

    init(rows: Int, columns: Int, on phone: (rows: Int, columns: Int)) {
      screen = TerminalScreen(rows: rows, columns: columns)
      window = ScreenWindow(rows: phone.rows, columns: phone.columns)
      self.phone = TerminalScreen(rows: phone.rows, columns: phone.columns)
    }

    /// - Returns: how many bytes were painted.
    @discardableResult mutating func print(_ text: String) -> Int {
      screen.track(Array(text.utf8))
      return paint()
    }

    @discardableResult mutating func paint() -> Int {
      let bytes = window.paint(screen)
      phone.track(bytes)
      return bytes.count
    }

    var rows: [String] { (0..<phone.rows).map { phone.text(ofRow: $0) } }
  }

  @Test func theWindowIsWhereTheCursorIs() {
    var pair = Pair(rows: 40, columns: 160, on: (4, 20))
    pair.print("\u{1B}[38;1Hone\r\ntwo\r\nAllow this? ")
    #expect(pair.rows == ["", "one", "two", "Allow this?"])
    #expect(pair.phone.position == (3, 12))
    pair.print("\u{1B}[2;101Hfar")
    #expect(pair.rows[0].hasSuffix("far"))
    pair.print("\u{1B}[1;1Htop")
    #expect(pair.rows[0] == "top" && pair.phone.position == (0, 3))
  }

  /// Of a long line most of what was asked is to be read beside the answer.
  @Test func beforeTheCursorThereIsMostOfTheWindow() {
    var pair = Pair(rows: 40, columns: 160, on: (4, 20))
    pair.print(String(repeating: "x", count: 80) + " really delete? y")
    #expect(pair.rows[0] == "eally delete? y")
    #expect(pair.phone.position == (0, 15))
  }

  /// Who has moved it there is lost without a word.
  @Test func whereNothingIsToBeSeenItSaysWhereThatIs() {
    var pair = Pair(rows: 8, columns: 40, on: (4, 20))
    pair.print("\u{1B}[8;1HAllow this?")
    #expect(pair.window.blankArea(of: pair.screen) == nil)
    pair.window.move(.up)
    pair.window.move(.right)
    pair.paint()
    let area = pair.window.blankArea(of: pair.screen)
    #expect(area?.rows == 2..<6 && area?.columns == 10..<30)
  }

  @Test func aHiddenCursorMovesItUpAndDownOnly() {
    var pair = Pair(rows: 40, columns: 160, on: (4, 20))
    pair.print("\u{1B}[?25l\u{1B}[39;1HAllow this?\u{1B}[39;150H*")
    #expect(pair.rows.contains("Allow this?"))
  }

  @Test func keysMoveItAndItStays() {
    var pair = Pair(rows: 8, columns: 40, on: (4, 20))
    pair.print("\u{1B}[1;1Htop\u{1B}[8;1Hbottom\u{1B}[8;25Hright")
    for move in [ScreenWindow.Move.up, .up, .up, .left, .left] { pair.window.move(move) }
    pair.paint()
    #expect(pair.rows[0] == "top")
    pair.print("\u{1B}[8;1HBOTTOM")
    #expect(pair.rows[0] == "top", "it stays where it is")
    for move in [ScreenWindow.Move.down, .down, .right] { pair.window.move(move) }
    pair.paint()
    #expect(pair.rows[3].hasSuffix("right"))
    pair.window.move(.follow)
    pair.paint()
    #expect(pair.rows[3] == "BOTTOM")
  }

  @Test func ofASmallerScreenAllIsShown() {
    var pair = Pair(rows: 3, columns: 10, on: (5, 20))
    pair.print("0123456789abc\r\nlast")
    #expect(pair.rows == ["0123456789", "abc", "last", "", ""])
    pair.print("\u{1B}[2J")
    #expect(pair.rows == ["", "", "", "", ""])
  }

  @Test func whatHasNotChangedIsNotWritten() {
    var pair = Pair(rows: 40, columns: 160, on: (20, 45))
    pair.print(String(repeating: "some text\r\n", count: 30))
    #expect(pair.paint() == 0)
    let spinner = pair.print("\u{1B}7\u{1B}[25;1H|\u{1B}8")
    #expect(spinner > 0 && spinner < 60)
    pair.window.invalidate()
    pair.phone = TerminalScreen(rows: 20, columns: 45)
    pair.paint()
    #expect(pair.rows.filter { $0 == "some text" }.count == 18)
  }

  @Test func aBellAndATitleReachTheViewer() {
    var pair = Pair(rows: 40, columns: 160, on: (20, 45))
    pair.print("text")
    pair.screen.track(Array("\u{7}\u{1B}]0;build\u{7}".utf8))
    let painted = String(decoding: pair.window.paint(pair.screen), as: UTF8.self)
    #expect(painted.hasSuffix("\u{7}") && painted.contains("\u{1B}]0;build"))
    #expect(pair.window.paint(pair.screen).isEmpty)
  }

  /// A program that redraws within a synchronized update shows no half of it.
  @Test func anUpdateIsShownAtItsEnd() {
    var pair = Pair(rows: 40, columns: 160, on: (20, 45))
    pair.print("before")
    #expect(pair.print("\u{1B}[?2026h\u{1B}[2J\u{1B}[H") == 0)
    #expect(pair.print("after\u{1B}[?2026l") > 0)
    #expect(pair.rows[0] == "after")
  }

  /// Its program may be gone. What a person asks for is painted at once.
  @Test func anUpdateWithoutAnEndHidesNothingForEver() {
    var pair = Pair(rows: 40, columns: 160, on: (20, 45))
    pair.print("before")
    #expect(!pair.window.isWithheld)
    #expect(pair.print("\u{1B}[?2026h\u{1B}[Hone") == 0 && pair.window.isWithheld)
    pair.phone.track(pair.window.paint(pair.screen, isAsked: true))
    #expect(pair.rows[0] == "oneore")
    #expect(pair.print("two") == 0 && pair.window.isWithheld)
    pair.window.passOverUpdate()
    #expect(pair.print("\r\n$ ") > 0 && !pair.window.isWithheld)
    #expect(pair.rows[0...1] == ["onetwo", "$"])
    #expect(pair.print("ls") > 0, "nor what comes then")
    pair.print("\u{1B}[?2026l")
    #expect(pair.print("\u{1B}[?2026hx") == 0, "the next one is one again")
  }

  /// What was painted step by step is what is painted at once, in every cell.
  @Test(arguments: 0..<100) func changesArePaintedAsTheWhole(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var pair = Pair(rows: 12, columns: 30, on: (5, 11))
    let moves: [ScreenWindow.Move] = [.up, .down, .left, .right, .follow]
    for step in 0..<40 {
      pair.window.move(moves.randomElement(using: &random) ?? .follow)
      pair.screen.track(ScreenOutput.pieces(8, using: &random))
      pair.screen.track(Array("\u{18}\u{1B}[?2026l".utf8))
      pair.paint()
      var whole = pair
      whole.window.invalidate()
      whole.phone = TerminalScreen(rows: 5, columns: 11)
      whole.paint()
      // A title that the program has taken back stays on the viewer's.
      pair.phone.track(Array("\u{1B}]0;\u{7}".utf8))
      whole.phone.track(Array("\u{1B}]0;\u{7}".utf8))
      let isSame = whole.phone == pair.phone
      #expect(isSame, "step \(step)")
    }
  }
}
