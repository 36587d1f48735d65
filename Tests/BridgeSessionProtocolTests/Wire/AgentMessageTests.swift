import BridgeSessionProtocol
import Testing

@Suite("The stream of a forwarded agent") struct AgentMessageTests {
  private static let sent = [
    AgentMessage(1, [11]), AgentMessage(.max, []), AgentMessage(0, Array("why".utf8)),
    AgentMessage(7, [UInt8](repeating: 13, count: AgentMessage.longest)),
  ]

  @Test func messagesAreWholeWhereverTheStreamIsCut() throws {
    let bytes = Self.sent.flatMap(\.encoded)
    let positions = Array(0..<60) + Array((bytes.count - 20)...bytes.count)
    for position in positions {
      var parser = AgentParser.messages
      var found: [AgentMessage] = []
      for part in [bytes[..<position], bytes[position...]] {
        parser.append(Array(part))
        while let message = try parser.next() { found.append(message) }
      }
      #expect(found == Self.sent, "\(position)")
      #expect(!parser.isAmid)
    }
  }

  @Test func aProgramsRequestHasNoNumber() throws {
    var parser = AgentParser.plain
    parser.append(AgentMessage.framed([11]) + AgentMessage.framed([13, 1]).dropLast())
    #expect(try parser.next() == AgentMessage(0, [11]))
    #expect(try parser.next() == nil)
    #expect(parser.isAmid)
  }

  /// What is no agent's stream ends it before anything is kept of it.
  @Test(arguments: [0, UInt32(AgentMessage.longest) + 1, 0x4745_5420, .max])
  func aLengthThatNoRequestHasEndsTheStream(_ length: UInt32) {
    var parser = AgentParser.plain
    parser.append((0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) })
    #expect(throws: AgentParser.Violation(length: length)) { try parser.next() }
  }
}
