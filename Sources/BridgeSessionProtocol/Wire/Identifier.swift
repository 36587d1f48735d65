/// 128 random bits that name a session or a client; 32 hexadecimal digits as text.
public struct Identifier: Sendable, Hashable {
  /// The upper 64 bits.
  public let high: UInt64
  /// The lower 64 bits.
  public let low: UInt64

  /// An identifier from its halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random identifier.
  public init(using generator: inout some RandomNumberGenerator) {
    self.init(high: generator.next(), low: generator.next())
  }

  /// Reads exactly 32 lower-case hexadecimal digits.
  public init?(text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count == 32 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    for digit in digits {
      guard let value = Self.value(of: digit) else { return nil }
      halves = (halves.0 << 4 | halves.1 >> 60, halves.1 << 4 | value)
    }
    self.init(high: halves.0, low: halves.1)
  }

  /// Reads the 16 bytes of the wire.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(
      high: bytes.bigEndian(at: 0, count: 8), low: bytes.bigEndian(at: 8, count: 8))
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: high, count: 8)
    bytes.append(bigEndian: low, count: 8)
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt64? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
    case _: nil
    }
  }
}

extension Identifier: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The name of a session, chosen by the client before the first attempt to start it.
public typealias SessionID = Identifier
/// The name of a client, kept by it over all its attachments.
public typealias ClientID = Identifier
