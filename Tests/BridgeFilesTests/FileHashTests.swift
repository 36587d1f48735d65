import BridgeFiles
import BridgeSessionProtocol
import Testing

/// SHA-256 against the vectors of FIPS 180-4, the check with a key against those of another
/// implementation, and their states between two blocks.
@Suite struct FileHashTests {
  private func text(_ digest: [UInt8]) -> String {
    digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func aDigestIsThatOfTheStandard(_ message: String, _ expected: String) {
    #expect(text(FileHash.digest(of: Array(message.utf8))) == expected)
  }

  @Test func aMillionLettersInPiecesOfAnySize() {
    let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    for size in [1_000_000, 4096, 63, 65] {
      var hash = FileHash()
      for start in stride(from: 0, to: letters.count, by: size) {
        hash.add(Array(letters[start..<min(letters.count, start + size)]))
      }
      #expect(
        text(hash.digest) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }
  }

  @Test(arguments: [nil, key])
  func aStateIsTakenUpAgain(key: [UInt8]?) {
    let bytes = Place.bytes(10_000)
    var first = FileHash(key: key)
    first.add(Array(bytes[..<8192]))
    var second = FileHash(first.state, count: 8192, key: key)
    second.add(bytes, from: 8192)
    #expect(second.digest == digest(of: bytes, key: key) && second.count == 10_000)
  }

  private static let key = (UInt8(1)...16).map(\.self)

  private func digest(of bytes: [UInt8], key: [UInt8]?) -> [UInt8] {
    var hash = FileHash(key: key)
    hash.add(bytes)
    return hash.digest
  }

  /// The expected ones are of an implementation of SP 800-38D, 6.3 and 6.4, bit by bit in Python.
  @Test(
    arguments: [
      ([], "eb56739cbddae4398a088d0b880a831d"),
      (Array("abc".utf8), "4fbadc000f55a1d91fed6d987cfb48e2"),
      ([UInt8](repeating: UInt8(ascii: "a"), count: 4096), "bdcedc9a3d788680274064ede9709fd3"),
      (
        (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * $0 + $0 / 7) },
        "31965ea3f584b4c18de2dfe2bb7168a8"
      ),
    ] as [([UInt8], String)])
  func theCheckWithAKeyIsAChainOfGHASH(_ message: [UInt8], _ expected: String) {
    for size in [1, 15, 4095, 4096, 4097, 20_000] {
      var hash = FileHash(key: Self.key)
      for start in stride(from: 0, to: message.count, by: size) {
        hash.add(Array(message[start..<min(message.count, start + size)]))
      }
      #expect(text(hash.digest) == expected + String(repeating: "0", count: 32))
    }
  }

  @Test func eachBitAndTheKeyCount() {
    let bytes = Place.bytes(5000)
    let whole = digest(of: bytes, key: Self.key)
    for bit in stride(from: 0, to: bytes.count * 8, by: 37) {
      var other = bytes
      other[bit / 8] ^= 1 << (bit % 8)
      #expect(digest(of: other, key: Self.key) != whole)
    }
    #expect(digest(of: bytes + [0], key: Self.key) != whole)
    #expect(digest(of: bytes, key: Self.key.reversed()) != whole)
  }
}
