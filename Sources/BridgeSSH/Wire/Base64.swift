/// Base64 (RFC 4648, 4) as SSH's text files use it. Foundation's would cost every `bridgectl`
/// start several milliseconds of loading.
package enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// `bytes` as text, with `=` at the end unless `padded` is false.
  package static func encode(_ bytes: [UInt8], padded: Bool = true) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let group = bytes[index..<min(index + 3, bytes.count)]
      var word: UInt32 = 0
      for byte in group { word = word << 8 | UInt32(byte) }
      word <<= UInt32(8 * (3 - group.count))
      for position in 0...group.count {
        text.append(alphabet[Int(word >> UInt32(18 - 6 * position) & 63)])
      }
      if padded { text += [UInt8](repeating: UInt8(ascii: "="), count: 3 - group.count) }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of `text`, or nil for anything that is not canonical, padded base64.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    decode(Array(text.utf8))
  }

  /// The bytes of `text` (ASCII), or nil for anything that is not canonical, padded base64.
  package static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var word: UInt32 = 0
    for (index, symbol) in text.dropLast(padding).enumerated() {
      guard let value = value(of: symbol) else { return nil }
      word = word << 6 | value
      guard index % 4 == 3 else { continue }
      bytes += [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)]
      word = 0
    }
    switch padding {
    case 1 where word & 3 == 0: bytes += [UInt8(word >> 10 & 255), UInt8(word >> 2 & 255)]
    case 2 where word & 15 == 0: bytes.append(UInt8(word >> 4 & 255))
    case 0: break
    default: return nil
    }
    return bytes
  }

  /// The bytes of the text in `lines` of `text`, or nil as `decode` says. They may be a secret.
  static func decode(_ text: Span<UInt8>, at lines: [Range<Int>]) -> WipedBytes? {
    let bytes = WipedBytes(capacity: lines.reduce(0) { $0 + $1.count } / 4 * 3)
    var (word, count, padding): (UInt32, Int, Int) = (0, 0, 0)
    for index in lines.joined() {
      if text[index] == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = value(of: text[index]) else { return nil }
      word = word << 6 | value
      count += 1
      guard count % 4 == 0 else { continue }
      for shift: UInt32 in [16, 8, 0] { bytes.append(UInt8(word >> shift & 255)) }
      word = 0
    }
    guard (count + padding) % 4 == 0 else { return nil }
    switch padding {
    case 0: return bytes
    case 1 where word & 3 == 0:
      for shift: UInt32 in [10, 2] { bytes.append(UInt8(word >> shift & 255)) }
    case 2 where word & 15 == 0: bytes.append(UInt8(word >> 4 & 255))
    default: return nil
    }
    return bytes
  }

  private static func value(of symbol: UInt8) -> UInt32? {
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(symbol - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(symbol - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(symbol - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
