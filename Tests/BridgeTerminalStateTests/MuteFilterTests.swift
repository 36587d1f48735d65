import BridgeFaults
import BridgeTerminalState
import Testing

@Suite struct MuteFilterTests {
  private func filter(
    _ text: String, for audience: MuteFilter.Audience = .replay
  ) -> String {
    var filter = MuteFilter(audience)
    let shown = filter.filter(Array(text.utf8)) + filter.finish()
    return String(decoding: shown, as: UTF8.self)
  }

  static let queries = [
    "\u{1B}[c", "\u{1B}[0c", "\u{1B}[>c", "\u{1B}[=c", "\u{1B}Z", "\u{1B}[5n", "\u{1B}[6n",
    "\u{1B}[?6n", "\u{1B}[?996n", "\u{1B}[?2026$p", "\u{1B}[4$p", "\u{1B}[>0q", "\u{1B}[?u",
    "\u{1B}[?4m", "\u{1B}[?4f", "\u{1B}[18t", "\u{1B}[14t", "\u{1B}[21t", "\u{1B}[1x",
    "\u{1B}[?1;1;0S", "\u{1B}[#R", "\u{1B}[1;1;2;2#|", "\u{1B}[1;1;1;1;9;9*y", "\u{1B}[&u",
    "\u{1B}['|", "\u{1B}]10;?\u{7}", "\u{1B}]11;?\u{1B}\\", "\u{1B}]4;1;?\u{7}",
    "\u{1B}]52;c;?\u{7}", "\u{1B}]21;foreground=?\u{7}", "\u{1B}]60\u{1B}\\", "\u{1B}]61;a\u{7}",
    "\u{1B}]99;i=1:p=?;\u{7}", "\u{1B}]1337;ReportCellSize\u{7}", "\u{1B}]1337;Capabilities\u{7}",
    "\u{1B}]5522;type=read;\u{7}", "\u{1B}]22;?__current__\u{7}", "\u{1B}]3;?WM_NAME\u{7}",
    "\u{1B}_Ga=q,i=31,s=1,v=1;AAAA\u{1B}\\", "\u{1B}P$qm\u{1B}\\", "\u{1B}P+q544e\u{1B}\\", "\u{5}",
  ]

  @Test(arguments: queries) func aQueryIsTakenOut(_ query: String) {
    #expect(filter("before\(query)after") == "beforeafter")
    #expect(filter("before\(query)after", for: .resumption) == "beforeafter")
  }

  /// They are as old as the output. Who comes back after an outage missed them.
  @Test(arguments: [
    "\u{7}", "\u{1B}]9;done\u{7}", "\u{1B}]777;notify;a;b\u{7}", "\u{1B}]99;;done\u{7}",
  ])
  func whatCallsAPersonIsForWhoWasThere(_ call: String) {
    #expect(filter("before\(call)after") == "beforeafter")
    #expect(filter("before\(call)after", for: .resumption) == "before\(call)after")
  }

  @Test(arguments: [
    "plain text\r\n", "\u{1B}[31;1mred\u{1B}[0m", "\u{1B}[2J\u{1B}[H", "\u{1B}[?1049h",
    "\u{1B}]0;a title\u{7}", "\u{1B}]0;what?\u{7}", "\u{1B}]0;?\u{7}",
    "\u{1B}]8;;http://a/?b=c\u{1B}\\link",
    "\u{1B}]10;#ffffff\u{7}", "\u{1B}]52;c;aGk=\u{7}", "\u{1B}[8;24;80t", "\u{1B}[2 q",
    "\u{1B}[>4;1m", "\u{1B}[>4n", "\u{1B}[>1u", "\u{1B}(0lqk\u{1B}(B", "ü€😀", "\u{1B}[S",
    "\u{1B}[u", "\u{1B}P1$r0m\u{1B}\\", "\u{1B}[?17;0;64c", "\u{1B}]21;foreground=red\u{7}",
    "\u{1B}]1337;SetMark\u{7}", "\u{1B}]9;4;1;50\u{7}", "\u{1B}_other\u{1B}\\",
  ])
  func whatIsShownStays(_ text: String) { #expect(filter(text) == text) }

  /// A terminal says that it has it, unless it is asked to be quiet.
  @Test func anImageIsShownAndNotAnswered() {
    #expect(
      filter("\u{1B}_Ga=T,q=1,i=3,m=1;QUJD\u{1B}\\x")
        == "\u{1B}_Ga=T,i=3,m=1,q=2;QUJD\u{1B}\\x")
    let long = String(repeating: "A", count: 9000)
    #expect(
      filter("\u{1B}_Ga=T,i=3;\(long)\u{1B}\\x") == "\u{1B}_Ga=T,i=3,q=2;\(long)\u{1B}\\x")
    #expect(filter("\u{1B}_Ga=q,i=3;\(long)\u{1B}\\x") == "x")
  }

  /// A terminal that swallows what follows shows nothing of it.
  @Test(arguments: ["\u{7}", "\u{1B}\\"]) func aStringOfAnyLengthHasItsEnd(_ end: String) {
    let text = "\u{1B}]52;c;" + String(repeating: "A", count: 9000) + end + "behind"
    #expect(filter(text) == text)
    let image = "\u{1B}]1337;File=:" + String(repeating: "A", count: 100_000) + end + "behind"
    #expect(filter(image) == image)
  }

  /// As in a terminal, ESC ends a string whatever follows.
  @Test func aStringWithoutAnEndHidesNoQuery() {
    #expect(filter("\u{1B}]0;title\u{1B}[6nx") == "\u{1B}]0;titlex")
    #expect(filter("\u{1B}Pdata\u{1B}[cx") == "\u{1B}Pdatax")
  }

  /// A terminal reports as soon as they are set: once, at the end, where they still are.
  @Test func modesThatReportAreSetAtTheLiveMark() {
    #expect(filter("\u{1B}[?2048ha\u{1B}[?2048lb") == "a\u{1B}[?2048lb")
    #expect(filter("\u{1B}[?25;2048ha") == "\u{1B}[?25ha\u{1B}[?2048h")
    #expect(filter("\u{1B}[?1004ha\u{1B}[?1004hb") == "ab\u{1B}[?1004h")
  }

  static let stream = Array(
    ("a\u{1B}[6nb\u{1B}]11;?\u{1B}\\c\u{1B}P+q00\u{1B}\\d\u{1B}_Ga=T;AA\u{1B}\\e\u{1B}[?2048h"
      + "\u{1B}]99;;n\u{7}f\u{1B}]0;t\u{1B}[cg\u{7}").utf8)

  @Test func aQueryThatIsCutAnywhereIsTakenOut() {
    for cut in 0...Self.stream.count {
      var filter = MuteFilter()
      let shown =
        filter.filter(Array(Self.stream[..<cut])) + filter.filter(Array(Self.stream[cut...]))
        + filter.finish()
      #expect(
        String(decoding: shown, as: UTF8.self)
          == "abcd\u{1B}_Ga=T,q=2;AA\u{1B}\\ef\u{1B}]0;tg\u{1B}[?2048h", "cut at \(cut)")
    }
  }

  /// The terminal has the beginning of a query, and the link was lost in the middle of it.
  @Test(arguments: queries) func aQueryThatBeganBeforeTheOutageIsTakenBack(_ query: String) {
    let bytes = Array(query.utf8)
    for cut in 1..<max(bytes.count, 1) {
      var terminal = TerminalState()
      terminal.track(bytes[..<cut])
      var filter = MuteFilter(.resumption, after: terminal)
      let shown = filter.filter(Array(bytes[cut...]) + [120]) + filter.finish()
      // CAN; where ESC ended a string, it stands before what follows.
      #expect(shown == [0x18, 120], "cut at \(cut)")
    }
  }

  @Test func aSequenceThatBeganBeforeTheOutageGoesOn() {
    var terminal = TerminalState()
    terminal.track(Array("x\u{1B}[3".utf8))
    var filter = MuteFilter(.resumption, after: terminal)
    #expect(filter.filter(Array("1mred".utf8)) == Array("1mred".utf8))
  }

  /// A terminal reads its zeros as one, however many there are.
  @Test func aQueryTooLongToBeHeldIsTakenOut() {
    let long = Array(("\u{1B}[" + String(repeating: "0", count: 10_000) + "6n").utf8)
    var filter = MuteFilter()
    #expect(filter.filter([97] + long + [98]) == [97, 98])
    // At the live mark the rest follows as it is, and must be part of a sequence without a meaning.
    var cut = MuteFilter()
    #expect(cut.filter(Array(long[..<5_000])) + cut.finish() == Array("\u{1B}[/".utf8))
  }

  @Test func atTheLiveMarkTheRestOfASequenceFollows() {
    var filter = MuteFilter()
    #expect(filter.filter(Array("x\u{1B}[3".utf8)) == [120])
    #expect(filter.finish() == Array("\u{1B}[3".utf8))
    #expect(filter.finish().isEmpty)
  }

  @Test(arguments: UInt64(0)..<100) func cutsDoNotMatter(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let alphabet = Array("\u{1B}\u{1B}[]P_G?;$0123ncqpmt\\\u{7}\u{18}abch".utf8)
    let bytes = (0..<2000).compactMap { _ in alphabet.randomElement(using: &generator) }
    var whole = MuteFilter()
    let expected = whole.filter(bytes) + whole.finish()
    var cut = MuteFilter()
    var shown: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...20, using: &generator))
      shown += cut.filter(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    #expect(shown + cut.finish() == expected)
  }
}
