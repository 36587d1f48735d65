import BridgeSSH
import Testing

/// What the library is given, and what it may ask for, packet by packet.
struct PacketFramingTests {
  private let protection = PacketProtection(cipher: "aes128-ctr", mac: "hmac-sha2-256")

  /// Hands over `count` bytes in portions as allowed, and returns their sizes.
  private func pass(
    _ bytes: [UInt8], wanting wanted: Int = 32_768, through framing: inout PacketFraming
  ) -> [Int] {
    var portions: [Int] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, framing.allowance(of: wanted))
      guard count > 0 else { break }
      framing.passed(Array(rest.prefix(count)).span)
      rest = rest.dropFirst(count)
      portions.append(count)
    }
    return portions
  }

  /// A clear packet of `length` bytes after the length itself, with message number `message`.
  private func clear(_ message: UInt8, length: UInt8) -> [UInt8] {
    [0, 0, 0, length, 4, message] + [UInt8](repeating: 0, count: Int(length) - 2)
  }

  /// After the version line and SSH_MSG_NEWKEYS.
  private func encrypted() -> PacketFraming {
    var framing = PacketFraming()
    _ = pass(Array("SSH-2.0-x\r\n".utf8), wanting: 1, through: &framing)
    for message: UInt8 in [20, 21] {
      let packet = clear(message, length: 12)
      #expect(pass(Array(packet.prefix(5)), through: &framing) == [5])
      #expect(!framing.needsProtection)
      let spaceIsGiven = framing.mayAllocate(11)
      #expect(spaceIsGiven)
      #expect(pass(Array(packet.dropFirst(5)), through: &framing) == [11])
    }
    return framing
  }

  @Test func versionLinesAreReadAsTheLibraryWants() {
    var framing = PacketFraming()
    #expect(framing.allowance(of: 1) == 1)
    #expect(framing.allowance(of: 32_768) == 5)
    #expect(!framing.needsProtection)
  }

  @Test func aPacketInClearIsGivenToItsEndAndNoFurther() {
    var framing = PacketFraming()
    #expect(framing.allowance(of: 32_768) == 5)
    framing.passed([0, 0, 0].span)
    #expect(framing.allowance(of: 32_765) == 2)
    framing.passed([12, 4].span)
    let spaceIsGiven = framing.mayAllocate(11)
    #expect(spaceIsGiven)
    #expect(framing.allowance(of: 4) == 4)
    framing.passed([20, 0, 0, 0].span)
    #expect(framing.allowance(of: 32_768) == 7)
    framing.passed([0, 0, 0, 0, 0, 0, 0].span)
    #expect(framing.allowance(of: 32_768) == 5)
    #expect(!framing.needsProtection)
  }

  @Test func afterNewKeysEachPacketHasTheirProtection() {
    var framing = encrypted()
    for _ in 0..<2 {
      #expect(framing.needsProtection)
      framing.protect(with: protection)
      #expect(pass([UInt8](repeating: 9, count: 16), through: &framing) == [16])
      #expect(!framing.needsProtection)
      // 32 bytes in clear: two blocks; the length is 28, its MAC 32.
      let spaceIsGiven = framing.mayAllocate(28 - 1 + 32)
      #expect(spaceIsGiven)
      #expect(pass([UInt8](repeating: 21, count: 48), through: &framing) == [48])
    }
    #expect(!framing.isDamaged)
  }

  @Test func aLengthThatIsNoMultipleIsRefused() {
    for length in 1...200 {
      var framing = encrypted()
      framing.protect(with: protection)
      _ = pass([UInt8](repeating: 9, count: 16), through: &framing)
      let isWhole = (length + 4) % 16 == 0
      let spaceIsGiven = framing.mayAllocate(length - 1 + 32)
      #expect(spaceIsGiven == isWhole, "\(length)")
      #expect(framing.isDamaged == !isWhole)
      #expect((framing.allowance(of: 1000) == 0) == !isWhole)
    }
  }

  @Test func otherBlocksAreNoneOfItsBusiness() {
    var framing = encrypted()
    for count in [1, 100, 40_000] {
      let spaceIsGiven = framing.mayAllocate(count)
      #expect(spaceIsGiven)
    }
    framing.protect(with: protection)
    _ = pass([UInt8](repeating: 9, count: 15), through: &framing)
    let spaceIsGiven = framing.mayAllocate(1)
    #expect(spaceIsGiven)
    #expect(!framing.isDamaged)
  }

  @Test func aLengthThatTheLibraryRefusesEndsIt() {
    var framing = encrypted()
    framing.protect(with: protection)
    _ = pass([UInt8](repeating: 9, count: 16), through: &framing)
    #expect(framing.allowance(of: 1000) == 0)
    #expect(framing.isDamaged)
  }

  /// NEWKEYS before its time: the library still reads in clear what is taken for encrypted.
  @Test func aPacketShorterThanABlockIsRefused() {
    var framing = encrypted()
    framing.protect(with: protection)
    _ = pass([UInt8](repeating: 9, count: 16), through: &framing)
    let spaceIsGiven = framing.mayAllocate(11)
    #expect(!spaceIsGiven)
  }

  @Test func unknownProtectionEndsIt() {
    var framing = encrypted()
    framing.protect(with: nil)
    #expect(framing.isDamaged)
    #expect(framing.allowance(of: 1000) == 0)
  }
}
