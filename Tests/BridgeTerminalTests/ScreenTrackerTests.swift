import BridgeTerminal
import Testing

@Suite struct ScreenTrackerTests {
  @Test(arguments: [
    ("plain text", ""), ("\u{1B}[?1049h", "\u{1B}[?1049l"), ("\u{1B}[?1049h\u{1B}[?1049l", ""),
    ("\u{1B}[?1049l", ""), ("\u{1B}[?25l", "\u{1B}[?25h"), ("\u{1B}[?25h", ""),
    ("\u{1B}[?1000;1006h", "\u{1B}[?1006l\u{1B}[?1000l"), ("\u{1B}[?2004h", "\u{1B}[?2004l"),
    ("\u{1B}[?7l", ""), ("\u{1B}=", "\u{1B}>"), ("\u{1B}=\u{1B}>", ""),
    ("\u{1B}[31m", "\u{1B}[0m"), ("\u{1B}[31mred\u{1B}[0m", ""), ("\u{1B}[31mred\u{1B}[m", ""),
    ("\u{1B}[?1049\u{1B}[?25l", "\u{1B}[?25h"),
    ("\u{1B}[?" + String(repeating: "9", count: 500) + "h", ""),
    ("\u{1B}[2J\u{1B}[1;1H", ""), ("[?1049h", ""),
  ])
  func switchesOffWhatIsOn(_ written: String, _ reset: String) {
    var whole = ScreenTracker()
    whole.see(Array(written.utf8))
    #expect(whole.reset == reset)
    var split = ScreenTracker()
    for byte in written.utf8 { split.see([byte]) }
    #expect(split.reset == reset)
  }

  @Test(arguments: [("?47h", "?47l"), ("?1047h", "?1047l"), ("?1049h", "?1049l"), ("?25l", "?25h")])
  func knowsWhetherAProgramHasTheScreen(_ taken: String, _ given: String) {
    var screen = ScreenTracker()
    screen.see(Array("\u{1B}[?1h\u{1B}=".utf8))
    #expect(!screen.isTaken)
    screen.see(Array("\u{1B}[\(taken)".utf8))
    #expect(screen.isTaken)
    screen.see(Array("\u{1B}[\(given)".utf8))
    #expect(!screen.isTaken)
  }
}
