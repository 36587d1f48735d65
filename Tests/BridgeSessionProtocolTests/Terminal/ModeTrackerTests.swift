import BridgeSessionProtocol
import Testing

@Suite struct ModeTrackerTests {
  private func tracker(_ text: String) -> ModeTracker {
    var tracker = ModeTracker()
    tracker.track(Array(text.utf8))
    return tracker
  }

  private func restore(_ text: String) -> String {
    String(decoding: tracker(text).restore, as: UTF8.self)
  }

  @Test func aTerminalThatWasLeftAloneNeedsNothing() {
    #expect(restore("hello\r\n\u{1B}[31mred\u{1B}[0m\u{1B}[H\u{1B}[K") == "")
  }

  @Test(arguments: [
    "\u{1B}[?1h", "\u{1B}[?25l", "\u{1B}[?2004h", "\u{1B}[?1000h\u{1B}[?1006h", "\u{1B}[?1004h",
    "\u{1B}[?7l", "\u{1B}=", "\u{1B}[4h", "\u{1B}[5;20r", "\u{1B}(0", "\u{1B}[4 q",
    "\u{1B}]2;title\u{7}", "\u{1B}[1;31m", "\u{1B}[>4;2m", "\u{1B}[?1049h",
  ])
  func aModeThatWasSetIsSetAgain(_ sequence: String) {
    #expect(restore("text \(sequence) more") == sequence)
  }

  @Test(arguments: [
    ("\u{1B}[?1h", "\u{1B}[?1l"), ("\u{1B}[?25l", "\u{1B}[?25h"), ("\u{1B}=", "\u{1B}>"),
    ("\u{1B}[4h", "\u{1B}[4l"), ("\u{1B}[5;20r", "\u{1B}[r"), ("\u{1B}(0", "\u{1B}(B"),
    ("\u{1B}[1;31m", "\u{1B}[m"), ("\u{E}", "\u{F}"), ("\u{1B}[?1049h", "\u{1B}[?1049l"),
    ("\u{1B}[?1;2004h", "\u{1B}c"), ("\u{1B}[?1h", "\u{1B}[!p"),
  ])
  func aModeThatWasUndoneIsNotSet(_ set: String, _ undo: String) {
    #expect(restore(set) != "")
    #expect(restore(set + undo) == "")
  }

  @Test func theAlternateScreenComesFirst() {
    #expect(restore("\u{1B}[?1h\u{1B}[?1049h") == "\u{1B}[?1049h\u{1B}[?1h")
    #expect(tracker("\u{1B}[?1049h").isAlternateScreen)
    #expect(!tracker("\u{1B}[?1049h\u{1B}[?1049l").isAlternateScreen)
  }

  @Test func whereTheScreenWasClearedIsKnownWithTheModesThere() throws {
    let text = "one\u{1B}[?1htwo\u{1B}[2Jthree\u{1B}[?25l"
    let point = try #require(tracker(text).cleared)
    let start = try #require(text.utf8.firstRange(of: "\u{1B}[2J".utf8))
    #expect(point.offset == text.utf8.distance(from: text.utf8.startIndex, to: start.lowerBound))
    #expect(point.modes == Array("\u{1B}[?1h".utf8))
    #expect(tracker("one\u{1B}[J\u{1B}[1J").cleared == nil)
  }

  @Test func theAlternateScreenIsEnteredByTheReplayItself() throws {
    let point = try #require(tracker("ab\u{1B}[?1h\u{1B}[?1049hvim").cleared)
    #expect(point.offset == 7 && point.modes == Array("\u{1B}[?1h".utf8))
  }

  @Test func cutsDoNotMatterAndAStateIsRestoredFromItsOwnSequences() {
    let text = "a\u{1B}[?1049hb\u{1B}]0;t\u{1B}\\c\u{1B}[2Jd\u{1B}[38;5;9m\u{1B}[?2004h\u{1B}(0"
    let bytes = Array(text.utf8)
    let whole = tracker(text)
    for cut in 0...bytes.count {
      var parts = ModeTracker()
      parts.track(Array(bytes[..<cut]))
      parts.track(Array(bytes[cut...]))
      #expect(parts.restore == whole.restore && parts.cleared == whole.cleared, "cut at \(cut)")
    }
    let copy = ModeTracker(restoring: whole.restore, offset: 99)
    #expect(copy.restore == whole.restore && copy.cleared == nil)
  }

  @Test(arguments: UInt64(0)..<100) func randomOutputKeepsABoundedState(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("\u{1B}\u{1B}[]P?;(0123456789hlmrqJcp !\\\u{7}x".utf8)
    var tracker = ModeTracker()
    for _ in 0..<20 {
      tracker.track((0..<500).map { _ in alphabet[generator.upTo(alphabet.count - 1)] })
      #expect(tracker.restore.count < 8192)
      let copy = ModeTracker(restoring: tracker.restore, offset: 0)
      #expect(copy.isAlternateScreen == tracker.isAlternateScreen)
    }
  }
}
