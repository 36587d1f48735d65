import BridgeCommands
import Testing

@Suite struct OverlayTests {
  @Test func itIsDrawnUnderTheCursorAndTakenBack() {
    var overlay = Overlay()
    #expect(overlay.clear().isEmpty)
    #expect(
      overlay.draw(["one", "two"], columns: 80)
        == "\n\n\u{1B}[2A\u{1B}7\r\none\u{1B}[K\r\ntwo\u{1B}[K")
    #expect(overlay.isShown)
    #expect(overlay.clear() == "\u{1B}8\r\n\u{1B}[2K\r\n\u{1B}[2K\u{1B}8")
    #expect(!overlay.isShown)
  }

  @Test func asManyLinesAreReplacedInPlace() {
    var overlay = Overlay()
    _ = overlay.draw(["one"], columns: 80)
    #expect(overlay.draw(["two"], columns: 80) == "\u{1B}8\r\ntwo\u{1B}[K")
  }

  @Test func otherwiseItIsDrawnAnew() {
    var overlay = Overlay()
    _ = overlay.draw(["one"], columns: 80)
    let text = overlay.draw(["one", "two"], columns: 80)
    #expect(text.hasPrefix("\u{1B}8\r\n\u{1B}[2K\u{1B}8\n\n\u{1B}[2A\u{1B}7"))
    #expect(overlay.draw([], columns: 80) == "\u{1B}8\r\n\u{1B}[2K\r\n\u{1B}[2K\u{1B}8")
  }

  @Test func whatStandsThereIsNotDrawnAgain() {
    var overlay = Overlay()
    _ = overlay.draw(["one"], columns: 80)
    #expect(overlay.draw(["one"], columns: 80).isEmpty)
    #expect(!overlay.draw(["one"], columns: 3).isEmpty)
  }

  @Test func whoeverTypesKeepsTheCursor() {
    var overlay = Overlay(cursor: .typing)
    let room = "\u{1B}D\u{1B}D\u{1B}[2A"
    #expect(
      overlay.draw(["one", "two"], columns: 80)
        == "\(room)\u{1B}7\r\none\u{1B}[K\r\ntwo\u{1B}[K\u{1B}8")
    #expect(
      overlay.draw(["one", "new"], columns: 80)
        == "\u{1B}[J\(room)\u{1B}7\r\none\u{1B}[K\r\nnew\u{1B}[K\u{1B}8")
    #expect(overlay.draw([], columns: 80) == "\u{1B}[J")
    #expect(overlay.draw([], columns: 80).isEmpty)
  }

  @Test func aProgramsScreenIsNotScrolled() {
    var overlay = Overlay()
    #expect(
      overlay.draw(["one", "two"], columns: 80, over: 24)
        == "\u{1B}7\u{1B}[23;1Hone\u{1B}[K\u{1B}[24;1Htwo\u{1B}[K\u{1B}8")
    #expect(
      overlay.draw(["new"], columns: 80, over: 24)
        == "\u{1B}7\u{1B}[23;1H\u{1B}[K\u{1B}[24;1H\u{1B}[K\u{1B}8"
        + "\u{1B}7\u{1B}[24;1Hnew\u{1B}[K\u{1B}8")
    #expect(overlay.clear() == "\u{1B}7\u{1B}[24;1H\u{1B}[K\u{1B}8")
    #expect(overlay.draw(["one"], columns: 80).hasPrefix("\n"))
  }

  @Test func aLineIsBegunAsideOfWhatSomebodyTypes() {
    var typed = Overlay(cursor: .typing)
    #expect(typed.makeLine(columns: 5) == "    \r\u{1B}[K")
    _ = typed.draw(["one"], columns: 5)
    #expect(typed.makeLine(columns: 5) == "\u{1B}[J    \r\u{1B}[K")
    var ours = Overlay()
    _ = ours.draw(["one"], columns: 5)
    #expect(ours.makeLine(columns: 5) == "\u{1B}8\r\n\u{1B}[2K\u{1B}8")
  }

  @Test func longLinesAreBrokenBetweenWordsWithTheirIndent() {
    var overlay = Overlay()
    let text = overlay.draw(["  aaa bbb ccc"], columns: 11)
    #expect(text.hasSuffix("\r\n  aaa bbb\u{1B}[K\r\n  ccc\u{1B}[K"))
  }

  @Test func nothingIsWiderThanTheTerminal() {
    var overlay = Overlay()
    let text = overlay.draw([String(repeating: "x", count: 50), "ab cd ef"], columns: 6)
    for line in text.split(separator: "\r\n").dropFirst() {
      #expect(line.prefix { $0 != "\u{1B}" }.count < 6)
    }
  }
}
