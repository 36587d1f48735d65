import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeAgentHost

@Suite("What an application stores is read again") struct LinePointTests {
  private static func json<Value: Codable>(_ value: Value) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test func aPointIsWrittenAndReadAsJSON() throws {
    let point = LinePoint(
      output: .init(epoch: .max, received: 12),
      streams: [2: .init(end: 40, place: .insideLine)])
    let text = try Self.json(point)
    #expect(
      text == """
        {"output":{"epoch":18446744073709551615,"received":12},\
        "streams":{"2":{"end":40,"place":"insideLine"}}}
        """)
    #expect(try JSONDecoder().decode(LinePoint.self, from: Data(text.utf8)) == point)
  }

  @Test func aStreamThatIsNoneIsPassedOver() {
    let point = LinePoint(
      output: .init(epoch: 1, received: 3), streams: [-1: .init(end: 9), 300: .init(end: 9)])
    let splitter = LineSplitter(.init(line: 10), after: point)
    #expect(splitter.committedOutput == 3)
  }

  @Test func anIdentifierIsItsText() throws {
    let id = Identifier(high: 1, low: 0xAB)
    #expect(try Self.json([id]) == "[\"000000000000000100000000000000ab\"]")
    #expect(try JSONDecoder().decode([Identifier].self, from: Data(Self.json([id]).utf8)) == [id])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([Identifier].self, from: Data("[\"12\"]".utf8))
    }
    #expect(Identifier.random() != Identifier.random())
  }
}
