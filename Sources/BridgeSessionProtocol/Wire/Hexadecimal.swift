/// Bytes as lower-case hexadecimal digits, two each.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  /// The digits of `bytes`.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: ascii(bytes), as: UTF8.self)
  }

  /// The digits of `bytes`, as ASCII.
  package static func ascii(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }

  /// The bytes that `text` has; nil for what is no such digits, or half a byte.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case _: nil
    }
  }
}
