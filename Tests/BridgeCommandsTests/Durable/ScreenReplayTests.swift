import BridgeCommands
import BridgeTerminalState
import Testing

/// Output that was printed before the client was attached, on its terminal.
@Suite struct ScreenReplayTests {
  private func show(_ replay: inout ScreenReplay, _ text: String, at offset: UInt64) -> String {
    String(decoding: replay.show(Array(text.utf8), at: offset), as: UTF8.self)
  }

  @Test func oldOutputIsMuteAndLiveOutputIsNot() {
    var replay = ScreenReplay(live: 7, for: .replay)
    #expect(show(&replay, "a\u{1B}[6nb\u{7}\u{1B}[6n", at: 0) == "ab\u{1B}[6n")
    #expect(show(&replay, "\u{1B}[c", at: 11) == "\u{1B}[c")
  }

  /// The keeper has answered what was asked meanwhile, or the program has given up.
  @Test func whatWasAskedDuringAnOutageIsNotAnsweredAfterIt() {
    var replay = ScreenReplay(live: 104, for: .resumption)
    #expect(show(&replay, "\u{1B}[c\u{7}", at: 100) == "\u{7}")
    #expect(show(&replay, "\u{1B}[c", at: 104) == "\u{1B}[c")
  }

  /// The link is lost again before all is shown: what is held back is not lost.
  @Test func anotherOutageMovesTheLiveMark() {
    var replay = ScreenReplay(live: 10, for: .replay)
    #expect(show(&replay, "a\u{1B}[3", at: 0) == "a")
    let isExtended = replay.extend(to: 16)
    #expect(isExtended)
    #expect(show(&replay, "1mb\u{7}cdefghijk\u{7}", at: 4) == "\u{1B}[31mbcdefghijk\u{7}")
    let isOver = !replay.extend(to: 30)
    #expect(isOver)
  }

  /// Modes that make a terminal report are set when what follows is live.
  @Test func theModesBeforeTheOutputAreMuteToo() {
    var replay = ScreenReplay(live: 3, for: .replay)
    let begun = replay.begin(with: Array("\u{1B}[?1h\u{1B}[?2048h".utf8))
    #expect(String(decoding: begun, as: UTF8.self) == "\u{1B}[?1h")
    #expect(show(&replay, "abc", at: 0) == "abc\u{1B}[?2048h")
  }
}
