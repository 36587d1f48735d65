import BridgeCommands
import BridgeSSH
import BridgeTerminalState
import Testing

@Suite struct OverlayTests {
  private static let cleared = "\u{1B}D\u{1B}[A\u{1B}7\r\n\u{1B}[J\u{1B}8"

  @Test func itIsDrawnUnderTheCursorAndTakenBack() {
    var overlay = Overlay()
    #expect(overlay.clear().isEmpty)
    #expect(
      overlay.draw(["one", "two"], on: .of(80)).text
        == "\u{1B}D\u{1B}D\u{1B}[2A\u{1B}7\r\none\u{1B}[K\r\ntwo\u{1B}[K\u{1B}8")
    #expect(overlay.isShown)
    #expect(overlay.clear().text == Self.cleared)
    #expect(!overlay.isShown)
  }

  @Test func asManyLinesAreReplacedInPlace() {
    var overlay = Overlay()
    _ = overlay.draw(["one"], on: .of(80))
    #expect(overlay.draw(["two"], on: .of(80)).text == "\u{1B}7\r\ntwo\u{1B}[K\u{1B}8")
  }

  @Test func otherwiseItIsDrawnAnew() {
    var overlay = Overlay()
    _ = overlay.draw(["one"], on: .of(80))
    let text = overlay.draw(["one", "two"], on: .of(80)).text
    #expect(text.hasPrefix(Self.cleared + "\u{1B}D\u{1B}D\u{1B}[2A\u{1B}7"))
    #expect(overlay.draw([], on: .of(80)).text == Self.cleared)
  }

  @Test func whatStandsThereIsNotDrawnAgain() {
    var overlay = Overlay()
    _ = overlay.draw(["one"], on: .of(80))
    #expect(overlay.draw(["one"], on: .of(80)).isEmpty)
  }

  @Test(arguments: [(3, 24), (60, 24), (80, 10)])
  func onAnotherSizeItIsDrawnAnew(_ columns: Int, _ rows: Int) {
    var overlay = Overlay()
    _ = overlay.draw(["one"], on: .of(80))
    #expect(overlay.draw(["one"], on: .of(columns, rows)).text.hasPrefix(Self.cleared))
  }

  /// The first line says what is wrong, the last what is done: of both as much as there is space.
  @Test(arguments: [
    (10, ["one two", "three", "four", "last of", "all"]),
    (6, ["one two", "three", "four", "last of", "all"]),
    (5, ["one two", "three", "last of", "all"]), (4, ["one two", "three", "last o…"]),
    (3, ["one tw…", "last o…"]), (2, ["last o…"]),
  ])
  func theFirstAndTheLastLineStayOnALowScreen(rows: Int, shown: [String]) {
    var overlay = Overlay()
    let drawn = overlay.draw(["one two three", "four", "last of all"], on: .of(8, rows)).text
    let lines = drawn.split(separator: "\r\n").dropFirst()
    #expect(lines.map { $0.prefix { $0 != "\u{1B}" } } == shown.map { $0[...] })
  }

  @Test func typingMayHaveMovedIntoIt() {
    var overlay = Overlay(cursor: .typing)
    _ = overlay.draw(["one", "two"], on: .of(80))
    #expect(
      overlay.draw(["one", "new"], on: .of(80)).text
        == "\u{1B}[J\u{1B}D\u{1B}D\u{1B}[2A\u{1B}7\r\none\u{1B}[K\r\nnew\u{1B}[K\u{1B}8")
    #expect(overlay.draw([], on: .of(80)).text == "\u{1B}[J")
    #expect(overlay.draw([], on: .of(80)).isEmpty)
  }

  /// The terminal shows one cell for the half of a character that a banner breaks off.
  @Test func theRestOfACharacterFollowsItsFirstBytes() {
    var screen = TerminalScreen(rows: 24, columns: 80)
    screen.track([0x61, 0xE6, 0x97])
    var overlay = Overlay()
    _ = overlay.draw(["one"], on: .of(80)) { screen }
    #expect(overlay.clear() == Array(Self.cleared.utf8) + [0x08, 0xE6, 0x97])
    #expect(overlay.draw(["one"], on: .of(80)).text.hasPrefix("\u{1B}D"))
    #expect(overlay.clear().text == Self.cleared)
  }

  /// Where it is known what the terminal shows, nothing scrolls.
  @Test func aProgramsScreenIsAsBefore() {
    var screen = TerminalScreen(rows: 24, columns: 80)
    screen.track(Array("\u{1B}[?1049h\u{1B}[24;1Hlast\u{1B}[9H".utf8))
    var overlay = Overlay()
    var terminal = screen
    terminal.track(overlay.draw(["one", "two"], on: .of(80)) { screen })
    #expect(terminal.text(ofRow: 22) == "one" && terminal.text(ofRow: 23) == "two")
    terminal.track(overlay.draw(["new"], on: .of(80)) { screen })
    #expect(terminal.text(ofRow: 22) == "" && terminal.text(ofRow: 23) == "new")
    terminal.track(overlay.clear())
    #expect(terminal == screen)
    // On a terminal of another size it is not known.
    #expect(overlay.draw(["one"], on: .of(90)) { screen }.text.hasPrefix("\u{1B}D"))
  }

  @Test func norDoesANewSizeLeaveATrace() {
    var screen = TerminalScreen(rows: 24, columns: 80)
    screen.track(Array("\u{1B}[?1049h\u{1B}[2;1Hsecond\u{1B}[5;5H".utf8))
    var overlay = Overlay()
    var terminal = screen
    terminal.track(overlay.draw(["one", "two"], on: .of(80)) { screen })
    screen.resize(rows: 12, columns: 60)
    terminal.resize(rows: 12, columns: 60)
    terminal.track(overlay.draw(["one", "two"], on: .of(60, 12)) { screen })
    #expect(terminal.text(ofRow: 10) == "one" && terminal.text(ofRow: 11) == "two")
    terminal.track(overlay.clear())
    #expect(terminal == screen)
  }

  /// A terminal that breaks the lines of a banner anew has no space left above them: its cursor is
  /// in one of them then.
  @Test func ofABannerThatDoesNotFitAnyMoreNothingStays() {
    var screen = TerminalScreen(rows: 10, columns: 40)
    screen.track(Array("\u{1B}[H\u{1B}[2Ja\r\n\u{1B}[1mbold\u{1B}[m $ ".utf8))
    let lines = (0..<7).map { "line \($0) that is longer than 33 columns" }
    var overlay = Overlay()
    _ = overlay.draw(lines, on: .of(40, 10)) { screen }
    var terminal = TerminalScreen(rows: 8, columns: 33)
    terminal.track(Array("line 0 that is longer than 33 col\r\numns\u{1B}[H\u{1B}[2C".utf8))
    screen.resize(rows: 8, columns: 33)
    screen.loseRows()
    terminal.track(overlay.draw(lines, on: .of(33, 8)) { screen })
    #expect(terminal.text(ofRow: 0) == "bold $" && terminal.position == (0, 7))
    terminal.track(overlay.clear())
    #expect(terminal.text(ofRow: 0) == "bold $" && terminal.text(ofRow: 1) == "")
    #expect(terminal.position == (0, 7))
  }

  @Test func aLineIsBegunBesideTypedText() {
    var typed = Overlay(cursor: .typing)
    #expect(!typed.leavesLines)
    #expect(typed.makeLine(on: .of(5)).isEmpty)
    _ = typed.draw(["one"], on: .of(5))
    #expect(typed.makeLine(on: .of(5)).text == "\u{1B}[J    \r\u{1B}[K")
    #expect(typed.leavesLines)
    #expect(typed.makeLine(on: .of(5)).text == "    \r\u{1B}[K")
    var ours = Overlay()
    _ = ours.draw(["one"], on: .of(5))
    #expect(ours.makeLine(on: .of(5)).text == Self.cleared)
  }

  @Test func nothingIsWiderThanTheTerminal() {
    var overlay = Overlay()
    let text = overlay.draw([String(repeating: "x", count: 50), "ab cd ef"], on: .of(6)).text
    for line in text.split(separator: "\r\n").dropFirst() {
      #expect(line.prefix { $0 != "\u{1B}" }.count < 6)
    }
  }

  @Test func aLineMayTakeFourRows() {
    var overlay = Overlay()
    let text = overlay.draw([String(repeating: "x ", count: 5_000), "end"], on: .of(10)).text
    #expect(rows(of: text) == ["x x x x x", "x x x x x", "x x x x x", "x x x x …", "end"])
  }

  @Test(arguments: [
    (6, ["1", "2", "3", "4"]), (4, ["1", "3", "4"]), (3, ["1", "4"]), (2, ["4"]), (1, ["4"]),
  ])
  func itIsNeverTallerThanTheScreen(_ height: Int, _ left: [String]) {
    var overlay = Overlay()
    #expect(rows(of: overlay.draw(["1", "2", "3", "4"], on: .of(80, height)).text) == left)
  }

  private func rows(of text: String) -> [String] {
    text.split(separator: "\r\n").dropFirst().map { String($0.prefix { $0 != "\u{1B}" }) }
  }
}

extension TerminalSize {
  fileprivate static func of(_ columns: Int, _ rows: Int = 24) -> TerminalSize {
    TerminalSize(columns: columns, rows: rows)
  }
}

extension [UInt8] {
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
