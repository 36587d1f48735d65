/// `%XX` in a URI (RFC 3986, 2.1), as scp(1) and ssh(1) read it.
enum PercentCoding {
  /// `text` with each `%XX` as the byte that it stands for; nil where a `%` is followed by
  /// something else, or the bytes are a zero or no UTF-8.
  static func decoded(_ text: some StringProtocol) -> String? {
    decoded(Array(text.utf8)).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Likewise; the bytes need not be UTF-8.
  static func decoded(_ text: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
        let value = UInt8(digits, radix: 16), value != 0
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// `text` with `%XX` for each byte that the user in a URI must not have as it is (RFC 3986,
  /// 3.2.1).
  static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let marks = Set("-._~!$&'()*+,;=".utf8)

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: marks.contains(byte)
    }
  }
}
