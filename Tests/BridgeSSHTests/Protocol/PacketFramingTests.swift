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

  /// A cipher and a MAC, what libssh2 reads before it knows the length, and what it allocates for a
  /// packet of 48 bytes behind the length.
  static let modern = [
    ("aes128-gcm@openssh.com", "INTEGRATED-AES-GCM", 16, 48 - 1 + 16),
    ("chacha20-poly1305@openssh.com", "hmac-sha2-256", 8, 4 + 48 + 16),
    ("aes128-ctr", "hmac-sha2-256-etm@openssh.com", 4, 4 + 48 + 32),
    ("3des-cbc", "hmac-sha2-512-etm@openssh.com", 4, 4 + 48 + 64),
    ("aes128-ctr", "hmac-sha2-256", 16, 44 - 1 + 32),
  ]

  /// At a packet whose length the library can tell.
  private func atLength(_ cipher: String, _ mac: String) throws -> PacketFraming {
    var framing = encrypted()
    let protection = try #require(PacketProtection(cipher: cipher, mac: mac))
    framing.protect(with: protection)
    _ = pass([UInt8](repeating: 9, count: protection.firstRead), through: &framing)
    return framing
  }

  @Test(arguments: modern.prefix(4))
  func eachProtectionHasItsOwnStart(
    cipher: String, mac: String, first: Int, space: Int
  ) throws {
    let protection = try #require(PacketProtection(cipher: cipher, mac: mac))
    var framing = encrypted()
    for _ in 0..<3 {
      framing.protect(with: protection)
      #expect(pass([UInt8](repeating: 9, count: first), through: &framing) == [first])
      let spaceIsGiven = framing.mayAllocate(space)
      #expect(spaceIsGiven)
      let rest = 4 + 48 + protection.macLength - first
      #expect(pass([UInt8](repeating: 9, count: rest), through: &framing) == [rest])
      #expect(framing.needsProtection)
    }
    #expect(!framing.isDamaged && !framing.isForged)
  }

  @Test(arguments: modern.prefix(4))
  func aLengthThatIsNoMultipleOfTheBlockIsRefusedInEach(
    cipher: String, mac: String, first: Int, space: Int
  ) throws {
    let protection = try #require(PacketProtection(cipher: cipher, mac: mac))
    for length in -20...200 {
      var framing = try atLength(cipher, mac)
      let isWhole = length > 0 && length % protection.blockSize == 0
      let spaceIsGiven = framing.mayAllocate(space - 48 + length)
      #expect(spaceIsGiven == isWhole, "\(length)")
      #expect(framing.isDamaged == !isWhole, "\(length)")
    }
  }

  /// It is collected in a buffer, in which there is no space for the rest.
  @Test func aSealedPacketThatIsLargerThanTheBufferIsRefused() throws {
    for (length, fits) in [(34_976, true), (34_984, false)] {
      var framing = try atLength("chacha20-poly1305@openssh.com", "hmac-sha1")
      let spaceIsGiven = framing.mayAllocate(4 + length + 16)
      #expect(spaceIsGiven == fits)
      #expect(framing.isDamaged == !fits)
    }
  }

  /// As transport.c of 1.11.1 does: it takes the code of the failure for a packet's number.
  @Test func aSealedPacketThatIsReadOnceMoreIsForged() throws {
    var framing = try atLength("chacha20-poly1305@openssh.com", "hmac-sha1")
    let spaceIsGiven = framing.mayAllocate(4 + 48 + 16)
    #expect(spaceIsGiven)
    _ = pass([UInt8](repeating: 9, count: 60), through: &framing)
    var accepted = framing
    let againIsGiven = framing.mayAllocate(4 + 48 + 16)
    #expect(!againIsGiven)
    #expect(framing.isForged && !framing.isDamaged)
    #expect(framing.allowance(of: 1000) == 0)
    // What the library keeps of a packet is of another size, and then anything goes.
    for count in [48, 4 + 48 + 16] {
      let spaceIsGiven = accepted.mayAllocate(count)
      #expect(spaceIsGiven)
    }
    #expect(!accepted.isForged)
  }

  /// It is freed either way, decrypted; which it was shows only when the call is over.
  @Test func aCallThatFailsAtTheEndOfAPacketShowsThatItIsForged() throws {
    for (cipher, mac, _, space) in Self.modern {
      for isConfirmed in [true, false] {
        var framing = try atLength(cipher, mac)
        #expect(!framing.mayFreeForged)
        let spaceIsGiven = framing.mayAllocate(space)
        #expect(spaceIsGiven)
        for _ in 0..<200 where !framing.needsProtection { _ = pass([9], through: &framing) }
        let isGCM = cipher.contains("gcm")
        #expect(framing.mayFreeForged == isGCM)
        // Asking for more, the library has accepted it.
        if isConfirmed { _ = framing.allowance(of: 1000) }
        framing.callFailed()
        #expect(framing.isForged == (isGCM && !isConfirmed), "\(cipher)")
        #expect(!framing.isDamaged)
      }
    }
  }

  @Test(arguments: modern)
  func aCallThatFailsAtALengthShowsThatItIsImpossible(
    cipher: String, mac: String, first: Int, space: Int
  ) throws {
    var framing = try atLength(cipher, mac)
    framing.callFailed()
    #expect(framing.isDamaged)
  }

  @Test func theBlockWithThePacketsContentIsKnown() throws {
    for (cipher, mac, _, space) in Self.modern {
      var framing = try atLength(cipher, mac)
      let isOfCiphertext = mac.contains("etm")
      #expect(framing.isPacket(space) == !isOfCiphertext, "\(cipher) \(mac)")
      let spaceIsGiven = framing.mayAllocate(space)
      #expect(spaceIsGiven)
      #expect(!framing.isPacket(48))
      for _ in 0..<200 where !framing.needsProtection { _ = pass([9], through: &framing) }
      // It is decrypted to a block of its own.
      #expect(framing.isPacket(48) == isOfCiphertext, "\(cipher) \(mac)")
      #expect(!framing.isPacket(40))
      let copyIsGiven = framing.mayAllocate(48)
      #expect(copyIsGiven)
      #expect(!framing.isPacket(48))
    }
  }
}
