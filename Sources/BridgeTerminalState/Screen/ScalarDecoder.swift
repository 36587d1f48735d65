/// Decodes UTF-8 that is cut anywhere; each longest part of a character that is none becomes
/// U+FFFD, as Unicode recommends.
struct ScalarDecoder: Sendable, Equatable {
  /// The bytes of a character that has not ended.
  private(set) var pending: [UInt8] = []
  private var value: UInt32 = 0
  private var missing = 0
  /// What the next byte may be.
  private var low: UInt8 = 0x80
  private var high: UInt8 = 0xBF

  var isEmpty: Bool { missing == 0 }

  enum Step: Equatable {
    /// More bytes are needed.
    case more
    case scalar(UInt32)
    /// What came before is no character; the byte has not been taken in.
    case invalid
  }

  mutating func take(_ byte: UInt8) -> Step {
    guard missing > 0 else { return begin(byte) }
    guard (low...high).contains(byte) else {
      self = ScalarDecoder()
      return .invalid
    }
    (low, high) = (0x80, 0xBF)
    value = value << 6 | UInt32(byte & 0x3F)
    missing -= 1
    guard missing == 0 else {
      pending.append(byte)
      return .more
    }
    pending.removeAll(keepingCapacity: true)
    return .scalar(value)
  }

  private mutating func begin(_ byte: UInt8) -> Step {
    switch byte {
    case 0..<0x80: return .scalar(UInt32(byte))
    case 0xC2...0xDF: (value, missing) = (UInt32(byte & 0x1F), 1)
    case 0xE0...0xEF: (value, missing) = (UInt32(byte & 0x0F), 2)
    case 0xF0...0xF4: (value, missing) = (UInt32(byte & 0x07), 3)
    case _: return .scalar(0xFFFD)
    }
    low = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80
    high = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF
    pending.append(byte)
    return .more
  }
}
