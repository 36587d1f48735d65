import Testing

@testable import BridgeReactor

/// Which messages of the kernel about its routes are news of a path to a peer.
@Suite struct RouteMessagesTests {
  /// One message, its numbers in the order of this machine.
  private static func message(
    type: UInt16 = 24, family: UInt8 = 2, table: UInt8 = 254, kind: UInt8 = 1,
    attributes: [(type: UInt16, value: [UInt8])] = [(15, [2, 0, 0, 0])]
  ) -> [UInt8] {
    var body: [UInt8] = [family, 0, 0, 0, table, 2, 0, kind, 0, 0, 0, 0]
    for attribute in attributes {
      body += half(UInt16(4 + attribute.value.count)) + half(attribute.type) + attribute.value
      body += [UInt8](repeating: 0, count: -body.count & 3)
    }
    let length = UInt32(16 + body.count)
    return half(UInt16(length & 0xFFFF)) + half(UInt16(length >> 16)) + half(type) + half(0)
      + [UInt8](repeating: 0, count: 8) + body
  }

  private static func half(_ value: UInt16) -> [UInt8] {
    [UInt8(value.littleEndian & 0xFF), UInt8(value.littleEndian >> 8)]
  }

  private static let linkLocal: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 14)

  @Test func aRouteThatCameOrWentIsNews() {
    #expect(RouteMessages.haveAPath(Self.message()))
    #expect(RouteMessages.haveAPath(Self.message(type: 25)))
    #expect(RouteMessages.haveAPath(Self.message(family: 10, attributes: [])))
    #expect(
      RouteMessages.haveAPath(
        Self.message(family: 10, attributes: [(15, [2, 0, 0, 0]), (1, [0x20, 1] + [0, 0])])))
    // A table of its own, as those of tunnels have.
    #expect(RouteMessages.haveAPath(Self.message(table: 51)))
  }

  /// Each container that starts and each address of our own would be one.
  @Test func whatLeadsToNoPeerIsNone() {
    #expect(!RouteMessages.haveAPath(Self.message(table: 255, kind: 2)))
    #expect(!RouteMessages.haveAPath(Self.message(kind: 5)))
    #expect(!RouteMessages.haveAPath(Self.message(type: 16)))
    #expect(
      !RouteMessages.haveAPath(Self.message(family: 10, attributes: [(1, Self.linkLocal)])))
    #expect(
      !RouteMessages.haveAPath(
        Self.message(family: 10, attributes: [(15, [2, 0, 0, 0]), (1, Self.linkLocal)])))
  }

  @Test func oneAmongOthersIsFound() {
    let other = Self.message(family: 10, attributes: [(1, Self.linkLocal), (30, [1])])
    #expect(RouteMessages.haveAPath(other + other + Self.message()))
    #expect(!RouteMessages.haveAPath(other + other))
  }

  /// What is cut or has a length that cannot be is no news, and no crash.
  @Test func whatIsDamagedIsNone() {
    let whole = Self.message(family: 10, attributes: [(1, Self.linkLocal)]) + Self.message()
    let first = Self.message(family: 10, attributes: [(1, Self.linkLocal)]).count
    for count in 0..<whole.count {
      let isCut = count < first + Self.message().count
      #expect(!RouteMessages.haveAPath(Array(whole.prefix(count))) || !isCut)
    }
    for index in 0..<first {
      for value in [0, 1, 4, 15, 17, 127, 255] as [UInt8] {
        var damaged = Array(whole.prefix(first))
        damaged[index] = value
        _ = RouteMessages.haveAPath(damaged)
      }
    }
  }
}
