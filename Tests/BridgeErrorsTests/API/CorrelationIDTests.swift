import BridgeErrors
import Foundation
import Testing

@Suite struct CorrelationIDTests {
  static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  static let generated = "01020304-0506-0708-090a-0b0c0d0e0f10"

  @Test(arguments: ["a", "A-z_0.9", String(repeating: "x", count: 128)])
  func aHarmlessHeaderIsAccepted(header: String) {
    #expect(CorrelationID.accepted(from: header).description == header)
  }

  @Test(
    arguments: [
      nil, "", "a b", "a\r\nSet-Cookie: x", "é", "a/b", "\u{1B}[31m", "a,b",
      String(repeating: "x", count: 129),
    ] as [String?])
  func anyOtherIsReplaced(header: String?) {
    let id = CorrelationID.accepted(from: header, makeUUID: { Self.uuid })
    #expect(id.description == Self.generated)
  }

  @Test func twoValuesAreNone() {
    let id = CorrelationID.accepted(from: ["a", "b"], makeUUID: { Self.uuid })
    #expect(id.description == Self.generated)
    #expect(CorrelationID.accepted(from: ["a"]).description == "a")
    #expect(
      CorrelationID.accepted(from: [String](), makeUUID: { Self.uuid }).description
        == Self.generated)
    #expect(CorrelationID.accepted(from: [String]()) != CorrelationID.accepted(from: [String]()))
  }

  @Test func theTasksOwnIdIsUsedWhereNoneIsBrought() async throws {
    let current = try #require(CorrelationID(header: "outer"))
    await CorrelationID.$current.withValue(current) {
      #expect(CorrelationID.accepted(from: nil) == current)
      #expect(CorrelationID.accepted(from: "bad id") == current)
      #expect(CorrelationID.accepted(from: "inner").description == "inner")
      await withTaskGroup(of: CorrelationID?.self) { group in
        group.addTask { CorrelationID.current }
        for await inherited in group { #expect(inherited == current) }
      }
    }
    #expect(CorrelationID.current == nil)
  }
}
