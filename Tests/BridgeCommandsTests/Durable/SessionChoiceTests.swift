import BridgeCommands
import BridgeSessionProtocol
import Testing

/// Several sessions run, and a person says which one is meant.
@Suite struct SessionChoiceTests {
  private static let choice = SessionChoice(
    [
      status(1, "second", startedAt: 50), status(2, "first", startedAt: 10),
      status(0xB, "third", startedAt: 60),
    ],
    reason: "Several sessions run")

  private static func status(_ high: UInt64, _ name: String, startedAt: UInt64) -> SessionStatus {
    var status = SessionStatus(
      session: Identifier(high: high << 60, low: 7), state: .running)
    (status.name, status.startedAt) = (Array(name.utf8), startedAt)
    return status
  }

  @Test func theyAreNumberedAsInTheTable() {
    let lines = Self.choice.lines(now: 60, width: 80)
    #expect(lines[0] == "Several sessions run:")
    #expect(lines[1].hasPrefix("   ID "))
    #expect(lines[2].hasPrefix("1  2") && lines[2].contains("first"))
    #expect(lines[3].hasPrefix("2  1") && lines[3].contains("second"))
    #expect(Self.choice.question == "Which one? [1-3] ")
    #expect(Self.choice.lines(now: 60, width: 30).allSatisfy { $0.count <= 30 })
  }

  @Test(
    arguments: [
      ("1", 2), (" 2 ", 1), ("first", 2), ("10000", nil), ("", nil), ("0", nil), ("4", nil),
      ("other", nil), ("-1", nil), ("b", nil), ("b000", 0xB), ("99999999999999999999", nil),
    ] as [(String, UInt64?)])
  func anAnswerIsANumberAnIdOrAName(_ answer: String, _ high: UInt64?) {
    #expect(Self.choice.session(for: answer)?.session.high == high.map { $0 << 60 })
  }
}
