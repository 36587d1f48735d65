import Foundation
import Testing

@testable import BridgeCommands

@Suite("Percent coding") struct PercentCodingTests {
  @Test func aUserIsEncodedAsFoundationDoesIt() {
    let ascii = (UInt8(0)..<128).map { String(UnicodeScalar($0)) }
    let names = ["me", "do main\\me", "a%20b", "j\u{FC}rgen@home", "\u{1F600}", "e\u{301}", ""]
    for text in ascii + names {
      let expected = text.addingPercentEncoding(withAllowedCharacters: .urlUserAllowed)
      #expect(PercentCoding.encoded(text) == expected)
    }
  }

  @Test func whatIsEncodedIsDecoded() {
    for text in ["me", "a b", "100 %", "j\u{FC}rgen", "\u{1F600}"] {
      #expect(PercentCoding.decoded(PercentCoding.encoded(text)) == text)
    }
  }
}
