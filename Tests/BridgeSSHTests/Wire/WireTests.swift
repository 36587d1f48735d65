import BridgeSSH
import Foundation
import Testing

struct WireTests {
  @Test func base64AgreesWithFoundation() {
    var generator = SplitMix64(seed: 11)
    for length in 0..<70 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let text = Data(bytes).base64EncodedString()
      #expect(Base64.encode(bytes) == text)
      #expect(Base64.decode(text) == bytes)
      #expect(Base64.encode(bytes, padded: false) == text.prefix { $0 != "=" })
    }
  }

  @Test(arguments: ["A", "AA", "AAA", "====", "A===", "AB==", "AAB=", "AA==AAAA", "AA A", "A-_A"])
  func base64ThatIsNoneIsRefused(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test(arguments: [[0, 0, 0], [0, 0, 0, 2, 1], [255, 255, 255, 255, 1], [128, 0, 0, 0]])
  func hostileLengthsReadNothing(bytes: [UInt8]) {
    var reader = WireReader(bytes)
    #expect(reader.string() == nil)
    #expect(reader.remaining == bytes.count)
    #expect(reader.name() == nil)
    #expect(reader.nameList() == nil)
  }

  @Test func whatIsWrittenIsRead() {
    var writer = WireWriter()
    writer.byte(7)
    writer.uint32(0xdead_beef)
    writer.string("a,b,,c")
    writer.string("name")
    var reader = WireReader(writer.bytes)
    #expect(reader.byte() == 7)
    #expect(reader.uint32() == 0xdead_beef)
    #expect(reader.nameList() == ["a", "b", "c"])
    #expect(reader.name() == "name")
    #expect(reader.remaining == 0)
  }
}
