import BridgeFaults
import BridgeTerminalState
import Testing

/// What output has set in a terminal, and how that is brought about and undone.
@Suite struct TerminalStateTests {
  private func state(_ text: String) -> TerminalState {
    var state = TerminalState()
    state.track(Array(text.utf8))
    return state
  }

  private func restore(_ text: String) -> String {
    String(decoding: state(text).restore, as: UTF8.self)
  }

  private func reset(_ text: String) -> String {
    String(decoding: state(text).reset, as: UTF8.self)
  }

  @Test func aTerminalThatWasLeftAloneNeedsNothing() {
    let text = "hello\r\n\u{1B}[31mred\u{1B}[0m\u{1B}[H\u{1B}[K"
    #expect(restore(text) == "" && reset(text) == "")
  }

  /// What follows would be part of it.
  @Test func aStringThatAnotherSequenceEndedIsSetAgainWithAnEnd() {
    #expect(restore("\u{1B}]2;title\u{1B}[1m\u{1B}[m") == "\u{1B}]2;title\u{1B}\\")
    #expect(restore("\u{1B}]11;#fff\u{1B}[1m\u{1B}[m") == "\u{1B}]11;#fff\u{1B}\\")
    var screen = TerminalScreen(rows: 4, columns: 10)
    screen.track(Array("\u{1B}]2;title\u{1B}[2;2Hx".utf8))
    #expect(String(decoding: screen.render(), as: UTF8.self).contains("\u{1B}]2;title\u{1B}\\"))
  }

  /// How a mode is set, and how the user's terminal is given back.
  @Test(arguments: [
    ("[?1h", "[?1l"), ("[?25l", "[?25h"), ("[?2004h", "[?2004l"), ("[?7l", "[?7h"),
    ("[?1000h\u{1B}[?1006h", "[?1006l\u{1B}[?1000l"), ("[?1004h", "[?1004l"), ("=", ">"),
    ("[?1016h", "[?1016l"), ("[?2026h", "[?2026l"), ("[?2031h", "[?2031l"),
    ("[?2048h", "[?2048l"), ("[?69h", "[?69l"), ("[?5h", "[?5l"), ("[4h", "[4l"),
    ("[20h", "[20l"), ("[5;20r", "7\u{1B}[r\u{1B}8"), ("(0", "(B"), ("[4 q", "[0 q"),
    ("[1;31m", "[0m"), ("[>4;2m", "[>4m"), ("[>2n", "[>2m"), ("[>4;1f", "[>4f"),
    ("[?1049h", "[?1049l"), ("[?47h", "[?47l"), ("[>1u", "[<1u"), ("[=5u", "[=0u"),
    ("[>1u\u{1B}[>5u", "[<2u"), ("]11;#fff\u{7}", "]111\u{1B}\\"), ("[?1007l", "[?1007h"),
  ])
  func aModeThatWasSetIsSetAgainAndUndone(_ set: String, _ undo: String) {
    #expect(restore("text \u{1B}\(set) more") == "\u{1B}" + set)
    #expect(reset("text \u{1B}\(set) more") == "\u{1B}" + undo)
    #expect(reset("\u{1B}\(set)\u{1B}\(undo)") == "", "what is undone needs no reset")
  }

  @Test(arguments: [
    ("\u{1B}[?1h", "\u{1B}[?1l"), ("\u{1B}[?25l", "\u{1B}[?25h"), ("\u{1B}=", "\u{1B}>"),
    ("\u{1B}=", "\u{1B}[?66l"), ("\u{1B}[4h", "\u{1B}[4l"), ("\u{1B}[5;20r", "\u{1B}[r"),
    ("\u{1B}(0", "\u{1B}(B"), ("\u{1B}[1;31m", "\u{1B}[m"), ("\u{E}", "\u{F}"),
    ("\u{1B}[?1049h", "\u{1B}[?1049l"), ("\u{1B}[?1;2004h", "\u{1B}c"), ("\u{1B}[>1u", "\u{1B}c"),
    ("\u{1B}[?1h", "\u{1B}[!p"), ("\u{1B}[>4;2m", "\u{1B}[>4;m"), ("\u{1B}[>4;2m", "\u{1B}[>m"),
    ("\u{1B}[>1u", "\u{1B}[<u"), ("\u{1B}[>1u\u{1B}[>3u", "\u{1B}[<9u"),
    ("\u{1B}[=1u", "\u{1B}[=1;3u"), ("\u{1B}[3 q", "\u{1B}[ q"), ("\u{1B}[?1001h", "\u{1B}[?1001l"),
  ])
  func aModeThatWasUndoneIsNotSet(_ set: String, _ undo: String) {
    #expect(restore(set) != "" && reset(set) != "")
    #expect(restore(set + undo) == "" && reset(set + undo) == "")
  }

  @Test(arguments: [
    "\u{1B}[?1049l", "\u{1B}[?25h", "\u{1B}[?" + String(repeating: "9", count: 500) + "h",
    "\u{1B}[2J\u{1B}[1;1H", "[?1049h", "\u{1B}[?1007h", "\u{1B}]0;title\u{7}",
  ])
  func whatIsNotOnIsNotSwitchedOff(_ text: String) { #expect(reset(text) == "") }

  /// Each screen has a stack of its own.
  @Test func keyboardFlagsAreThoseOfTheirScreen() {
    let text = "\u{1B}[>1u\u{1B}[?1049h\u{1B}[>7u"
    #expect(restore(text) == text)
    #expect(reset(text) == "\u{1B}[<1u\u{1B}[?1049l\u{1B}[<1u")
    #expect(restore(text + "\u{1B}[<u\u{1B}[?1049l") == "\u{1B}[>1u")
    // A program that left its screen without a pop.
    let left = text + "\u{1B}[?1049l"
    #expect(restore(left) == "\u{1B}[>1u\u{1B}[?1049h\u{1B}[>7u\u{1B}[?1049l")
    #expect(state(left).isAlternateScreen == false)
  }

  /// As vim 9 and fish 4 leave a terminal that they were cut off from.
  @Test func theProgramsThatPeopleUseAreUndone() {
    let vim =
      "\u{1B}[?1049h\u{1B}[22;0;0t\u{1B}[>4;2m\u{1B}[?1h\u{1B}=\u{1B}[?2004h\u{1B}[1;24r"
      + "\u{1B}[?12h\u{1B}[?12l\u{1B}[2 q\u{1B}[?25l"
    let bytes = reset(vim)
    for undo in ["[?1049l", "[>4m", "[?1l", ">", "[?2004l", "[r", "[0 q", "[?25h"] {
      #expect(bytes.contains("\u{1B}\(undo)"), "\(undo)")
    }
    let fish = "\u{1B}[?2004h\u{1B}[>4;1m\u{1B}[=5u\u{1B}=\u{1B}[?2031h"
    #expect(
      reset(fish) == "\u{1B}[=0u\u{1B}[?2031l\u{1B}[?2004l\u{1B}>\u{1B}[>4m")
  }

  /// By CAN, and by ST: in DCS tmux knows no other end.
  @Test(arguments: ["\u{1B}]0;tit", "\u{1B}P0q#1", "\u{1B}[3"])
  func aSequenceThatIsCutOffIsBrokenOffFirst(start: String) {
    #expect(reset("\u{1B}[?25l" + start) == "\u{18}\u{1B}\\\u{1B}[?25h")
  }

  @Test func aSequenceThatAnotherOneBreaksOffIsNone() {
    #expect(reset("\u{1B}[?1049\u{1B}[?25l") == "\u{1B}[?25h")
  }

  @Test(arguments: [("?47h", "?47l"), ("?1047h", "?1047l"), ("?1049h", "?1049l"), ("?25l", "?25h")])
  func whetherAProgramHasTheScreenIsKnown(_ taken: String, _ given: String) {
    #expect(!state("\u{1B}[?1h\u{1B}=").isFullScreen)
    #expect(state("\u{1B}[\(taken)").isFullScreen)
    #expect(!state("\u{1B}[\(taken)\u{1B}[\(given)").isFullScreen)
  }

  /// The last that was set counts, whatever its number.
  @Test func ofTheModesOfTheMouseTheLastOneComesLast() {
    #expect(restore("\u{1B}[?1003h\u{1B}[?1000h") == "\u{1B}[?1003h\u{1B}[?1000h")
  }

  // MARK: Clearings

  private func offset(_ text: String, of part: String) -> UInt64? {
    text.utf8.firstRange(of: part.utf8).map {
      UInt64(text.utf8.distance(from: text.utf8.startIndex, to: $0.lowerBound))
    }
  }

  @Test func whereTheScreenWasClearedIsKnownWithTheStateThere() throws {
    let text = "one\u{1B}[?1htwo\u{1B}[>1u\u{1B}[H\u{1B}[2Jthree\u{1B}[?25l"
    let mark = try #require(state(text).cleared)
    #expect(mark.offset == offset(text, of: "\u{1B}[2J"))
    #expect(mark.restore == Array("\u{1B}[>1u\u{1B}[?1h".utf8))
    #expect(state("one\u{1B}[J\u{1B}[1J").cleared == nil)
  }

  /// Else what follows is drawn elsewhere.
  @Test func theCursorIsWhereItWas() throws {
    let placed = "one\u{1B}[7;3H\u{1B}[2Jx"
    let mark = try #require(state(placed).cleared)
    #expect(mark.restore == Array("\u{1B}[7;3H".utf8))
    // It is not known, but of no importance.
    #expect(state("one\u{1B}[2J\u{1B}[?25l\u{1B}[5;5Hx").cleared != nil)
    // It is not known.
    #expect(state("one\u{1B}[2Jx").cleared == nil)
    #expect(state("one\u{1B}[2J\nx").cleared == nil)
  }

  /// CSI 3 J takes away what has left the screen, and what is on it stays.
  @Test func theLinesThatHaveLeftTheScreenAreNoClearing() {
    #expect(state("one\u{1B}[H\u{1B}[3J").cleared == nil)
    #expect(state("one\u{1B}[H\u{1B}[2J\u{1B}[3J").cleared?.offset == 6)
  }

  /// A place that was saved before the clearing is not known to who begins there.
  @Test func aCursorThatWasSavedBeforeMakesAClearingUseless() {
    let text = "ab\u{1B}7\u{1B}[H\u{1B}[2Jx"
    #expect(state(text).cleared != nil)
    #expect(state(text + "\u{1B}8").cleared == nil)
    #expect(state(text + "\u{1B}7y\u{1B}8").cleared != nil)
  }

  @Test func ownTabStopsMakeAClearingUseless() {
    #expect(state("\u{1B}[3g\u{1B}H\u{1B}[H\u{1B}[2Jx").cleared == nil)
  }

  @Test func theAlternateScreenIsEnteredByTheReplayItself() throws {
    let text = "ab\u{1B}[?1h\u{1B}[?1049h\u{1B}[Hvim"
    let mark = try #require(state(text).cleared)
    #expect(mark.offset == 7 && mark.restore == Array("\u{1B}[?1h".utf8))
    // What lies behind it is shown when it is left.
    #expect(state(text).mainCleared == nil)
    #expect(state(text + "\u{1B}[?1049l").cleared == nil)
    let main = "a\u{1B}[H\u{1B}[2Jb" + text
    #expect(state(main).mainCleared?.offset == 4)
    #expect(state(main + "\u{1B}[?1049l$ ").cleared?.offset == 4)
  }

  // MARK: Cuts

  /// Sequences of the programs that set most: each cut gives the same.
  static let streams = [
    "a\u{1B}[?1049hb\u{1B}]0;t\u{1B}\\c\u{1B}[H\u{1B}[2Jd\u{1B}[38;5;9m\u{1B}[?2004h\u{1B}(0",
    "\u{1B}[>1u\u{1B}[?1049h\u{1B}[22;0;0t\u{1B}[>4;2m\u{1B}[?2004h\u{1B}[1;24r\u{1B}[2 q\u{1B}[H",
    "\u{1B}[?2004h\u{1B}[>4;1m\u{1B}[=5;1u\u{1B}=\u{1B}[?2031h\u{1B}[?2026h\u{1B}P+q544e\u{1B}\\",
    "\u{1B}]52;c;QUJD\u{7}x\u{1B}_Ga=T,i=3;AAAA\u{1B}\\\u{1B}[?2026l\u{E}\u{1B})0\u{1B}[6\u{7}n",
    "\u{1B}]8;;http://a/\u{1B}\\link\u{1B}]9;4;1;50\u{7}\u{1B}[?69h\u{1B}[2;9s\u{1B}[?6h\u{1B}7",
  ]

  @Test(arguments: streams) func cutsDoNotMatterAndAStateIsRestored(_ text: String) {
    let bytes = Array(text.utf8)
    let whole = state(text)
    for cut in 0...bytes.count {
      var parts = TerminalState()
      parts.track(bytes[..<cut])
      // Who begins here, with a checkpoint, is in the same state, too.
      var other = TerminalState(restoring: parts.checkpoint, offset: UInt64(cut))
      #expect(other.checkpoint == parts.checkpoint, "cut at \(cut)")
      parts.track(bytes[cut...])
      other.track(bytes[cut...])
      #expect(parts.checkpoint == whole.checkpoint && parts.cleared == whole.cleared, "at \(cut)")
      #expect(parts.reset == whole.reset && other.reset.isEmpty == whole.reset.isEmpty)
      #expect(other.restore == whole.restore, "cut at \(cut)")
    }
  }

  /// What is longer than any sequence that means something is a string all the same.
  @Test func aLongStringIsNoText() {
    let long = "\u{1B}]52;c;" + String(repeating: "A", count: 9000)
    var state = state("\u{1B}[?25l" + long)
    #expect(!state.isAtBoundary)
    #expect(state.checkpoint == Array("\u{1B}[?25l\u{1B}]-".utf8))
    state.track(Array("\u{7}".utf8))
    #expect(state.isAtBoundary)
  }

  @Test(arguments: UInt64(0)..<100) func randomOutputKeepsABoundedState(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let alphabet = Array("\u{1B}\u{1B}[]P_?;><=(0123456789hlmrqJHucps !\\\u{7}x\u{E}".utf8)
    var whole = TerminalState()
    for _ in 0..<20 {
      let bytes = (0..<500).compactMap { _ in alphabet.randomElement(using: &generator) }
      whole.track(bytes)
      #expect(whole.checkpoint.count < 8192)
      let copy = TerminalState(restoring: whole.checkpoint, offset: 0)
      #expect(copy.checkpoint == whole.checkpoint)
      #expect(copy.isFullScreen == whole.isFullScreen)
    }
  }

  /// Bytes of which most are of sequences.
  @Test(arguments: UInt64(0)..<8) func everyRuleHoldsForAnyOutput(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let alphabet = Array("\u{1B}\u{1B}[]P_G?;><=:(0123456789hlmrqJHucps !\\\u{7}\u{18}xü\n".utf8)
    for turn in 0..<300 {
      let count = Int.random(in: 1...400, using: &generator)
      let bytes = (0..<count).compactMap { _ in alphabet.randomElement(using: &generator) }
      let broken = TerminalFuzzBody.broken(by: bytes)
      #expect(broken == nil, "seed \(seed), turn \(turn): \(bytes)")
      if broken != nil { return }
    }
  }

  @Test func aSequenceTooLongToMeanAnythingIsNotKept() {
    let long = String(repeating: "1;", count: 1000)
    let text = "\u{1B}[\(long)r\u{1B}[\(long)m\u{1B}[>\(long)m\u{1B}[?2004h"
    #expect(restore(text) == "\u{1B}[?2004h")
  }
}
