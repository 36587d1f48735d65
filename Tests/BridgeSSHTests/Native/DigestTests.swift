import BridgeSSH
import Testing

/// Published vectors: FIPS 180-4 examples, RFC 2202.
struct DigestTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 / 16, radix: 16) + String($0 % 16, radix: 16) }.joined()
  }

  @Test func sha256OfPublishedInputs() {
    #expect(
      hex(Digest.sha256([]))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      hex(Digest.sha256(Array("abc".utf8)))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func sha1OfPublishedInputs() {
    #expect(
      hex(Digest.sha1(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
  }

  @Test func hmacSHA1OfPublishedInputs() {
    let cases: [([UInt8], String, String)] = [
      ([UInt8](repeating: 0x0b, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
      (
        Array("Jefe".utf8), "what do ya want for nothing?",
        "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
      ),
    ]
    for (key, message, expected) in cases {
      #expect(hex(Digest.hmacSHA1(key: key, message: Array(message.utf8))) == expected)
    }
  }
}
