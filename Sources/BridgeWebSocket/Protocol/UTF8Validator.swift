/// Checks UTF-8 that comes in pieces (RFC 3629; the Unicode Standard, table 3-7), so that bad text
/// is noticed at the piece that is bad and not at the end of the message.
struct UTF8Validator: Sendable, Equatable {
  /// Continuation bytes that are still due.
  private var due = 0
  /// The range of the next continuation byte.
  private var range: ClosedRange<UInt8> = 0x80...0xBF

  /// Whether no scalar is cut in two.
  var isComplete: Bool { due == 0 }

  /// Takes `bytes` in; false when they cannot be part of UTF-8.
  mutating func take(_ bytes: some Collection<UInt8>) -> Bool {
    for byte in bytes {
      if due == 0, byte < 0x80 { continue }
      guard due == 0 ? begin(byte) : range.contains(byte) else { return false }
      if byte & 0xC0 == 0x80 {
        due -= 1
        range = 0x80...0xBF
      }
    }
    return true
  }

  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: (due, range) = (1, 0x80...0xBF)
    case 0xE0: (due, range) = (2, 0xA0...0xBF)
    case 0xED: (due, range) = (2, 0x80...0x9F)
    case 0xE1...0xEF: (due, range) = (2, 0x80...0xBF)
    case 0xF0: (due, range) = (3, 0x90...0xBF)
    case 0xF1...0xF3: (due, range) = (3, 0x80...0xBF)
    case 0xF4: (due, range) = (3, 0x80...0x8F)
    default: return false
    }
    return true
  }
}
