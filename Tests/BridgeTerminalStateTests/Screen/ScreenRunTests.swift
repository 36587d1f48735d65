import BridgeTerminalState
import Testing

/// A row as what is drawn without a terminal.
@Suite struct ScreenRunTests {
  private func runs(_ text: String) -> [ScreenRun] {
    var screen = TerminalScreen(rows: 2, columns: 20)
    screen.track(Array(text.replacing("^", with: "\u{1B}").utf8))
    return screen.runs(ofRow: 0)
  }

  private func run(
    _ text: String, _ columns: Int, _ foreground: ScreenRun.Color? = nil,
    on background: ScreenRun.Color? = nil, _ attributes: ScreenRun.Attributes = []
  ) -> ScreenRun {
    ScreenRun(
      text, columns: columns, foreground: foreground, background: background,
      attributes: attributes)
  }

  @Test func textOfOneLookIsOneRun() {
    #expect(runs("") == [])
    #expect(runs("hello  ") == [run("hello", 5)])
    #expect(runs("a^[1;31mbc^[md") == [run("a", 1), run("bc", 2, .palette(1), .bold), run("d", 1)])
    #expect(
      runs("^[38;2;1;2;3;48;5;200;3;4;7;9;2mx")
        == [
          run(
            "x", 1, .rgb(red: 1, green: 2, blue: 3), on: .palette(200),
            [.italic, .underlined, .inverse, .struck, .faint])
        ])
  }

  /// Blanks with a color are seen, to the end of the row.
  @Test func blanksWithAColorAreKept() {
    let blanks = String(repeating: " ", count: 19)
    #expect(runs("^[44ma^[K") == [run("a" + blanks, 20, on: .palette(4))])
  }

  @Test func aWideCharacterIsARunOfItsOwn() {
    #expect(runs("a日b") == [run("a", 1), run("日", 2), run("b", 1)])
    #expect(runs("日本e\u{301}x") == [run("日", 2), run("本", 2), run("e\u{301}x", 2)])
  }

  /// A password that a program prints hidden is not given away.
  @Test func whatIsHiddenIsBlank() {
    #expect(runs("^[8msecret^[m!") == [run("      ", 6), run("!", 1)])
    #expect(runs("^[8m日^[mx") == [run(" ", 2), run("x", 1)])
  }

  @Test func theCursorAndAnUpdateAreKnown() {
    var screen = TerminalScreen(rows: 2, columns: 20)
    #expect(screen.isCursorShown && !screen.isUpdating)
    screen.track(Array("\u{1B}[?25l\u{1B}[?2026h".utf8))
    #expect(!screen.isCursorShown && screen.isUpdating)
  }
}
