import BridgeFiles
import BridgeSessionProtocol
import Testing

/// SHA-256 against the vectors of FIPS 180-4, and its state between two blocks.
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

  @Test func aStateIsTakenUpAgain() {
    let bytes = Place.bytes(1000)
    var first = FileHash()
    first.add(Array(bytes[..<640]))
    var second = FileHash(first.state, count: 640)
    second.add(bytes, from: 640)
    #expect(second.digest == FileHash.digest(of: bytes) && second.count == 1000)
  }
}
