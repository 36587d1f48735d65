import BridgeSessionProtocol
import Testing

@Suite struct MuteFilterTests {
  private func filter(_ text: String) -> String {
    var filter = MuteFilter()
    let shown = filter.filter(Array(text.utf8)) + filter.finish()
    return String(decoding: shown, as: UTF8.self)
  }

  @Test(arguments: [
    "\u{1B}[c", "\u{1B}[0c", "\u{1B}[>c", "\u{1B}[=c", "\u{1B}Z", "\u{1B}[5n", "\u{1B}[6n",
    "\u{1B}[?6n", "\u{1B}[?996n", "\u{1B}[?2026$p", "\u{1B}[4$p", "\u{1B}[>0q", "\u{1B}[?u",
    "\u{1B}[?4m", "\u{1B}[18t", "\u{1B}[14t", "\u{1B}[21t", "\u{1B}[1x", "\u{1B}[?1;1;0S",
    "\u{1B}]10;?\u{7}", "\u{1B}]11;?\u{1B}\\", "\u{1B}]4;1;?\u{7}", "\u{1B}]52;c;?\u{7}",
    "\u{1B}P$qm\u{1B}\\", "\u{1B}P+q544e\u{1B}\\", "\u{7}", "\u{5}",
  ])
  func aQueryAndTheBellAreTakenOut(_ query: String) {
    #expect(filter("before\(query)after") == "beforeafter")
  }

  @Test(arguments: [
    "plain text\r\n", "\u{1B}[31;1mred\u{1B}[0m", "\u{1B}[2J\u{1B}[H", "\u{1B}[?1049h",
    "\u{1B}]0;a title\u{7}", "\u{1B}]0;what?\u{7}", "\u{1B}]8;;http://a/?b=c\u{1B}\\link",
    "\u{1B}]10;#ffffff\u{7}", "\u{1B}]52;c;aGk=\u{7}", "\u{1B}[8;24;80t", "\u{1B}[2 q",
    "\u{1B}[>4;1m", "\u{1B}[>1u", "\u{1B}(0lqk\u{1B}(B", "ü€😀", "\u{1B}[S", "\u{1B}[u",
    "\u{1B}P1$r0m\u{1B}\\",
  ])
  func whatIsShownStays(_ text: String) { #expect(filter(text) == text) }

  @Test func aQueryThatIsCutAnywhereIsTakenOut() {
    let text = Array("a\u{1B}[6nb\u{1B}]11;?\u{1B}\\c\u{1B}P+q00\u{1B}\\d".utf8)
    for cut in 0...text.count {
      var filter = MuteFilter()
      let shown = filter.filter(Array(text[..<cut])) + filter.filter(Array(text[cut...]))
      #expect(String(decoding: shown, as: UTF8.self) == "abcd", "cut at \(cut)")
    }
  }

  @Test func aSequenceWithoutAnEndIsHeldInBoundsAndThenShown() {
    var filter = MuteFilter()
    var shown: [UInt8] = filter.filter(Array("\u{1B}]0;".utf8))
    #expect(shown.isEmpty)
    for _ in 0..<100 { shown += filter.filter([UInt8](repeating: 120, count: 1000)) }
    #expect(shown.count > 90_000)
  }

  @Test func atTheLiveMarkTheRestOfASequenceFollows() {
    var filter = MuteFilter()
    #expect(filter.filter(Array("x\u{1B}[3".utf8)) == [120])
    #expect(filter.finish() == Array("\u{1B}[3".utf8))
    #expect(filter.finish().isEmpty)
  }

  @Test(arguments: UInt64(0)..<100) func randomOutputNeverGrowsAndCutsDoNotMatter(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("\u{1B}\u{1B}[]P?;$0123ncqpmt\\\u{7}\u{18}abc".utf8)
    let bytes = (0..<2000).map { _ in alphabet[generator.upTo(alphabet.count - 1)] }
    var whole = MuteFilter()
    let expected = whole.filter(bytes) + whole.finish()
    #expect(expected.count <= bytes.count)
    var cut = MuteFilter()
    var shown: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(1 + generator.upTo(20))
      shown += cut.filter(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    #expect(shown + cut.finish() == expected)
  }
}
