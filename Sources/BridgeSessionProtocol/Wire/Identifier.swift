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

  /// A random identifier of the system's generator.
  public static func random() -> Identifier {
    var generator = SystemRandomNumberGenerator()
    return Identifier(using: &generator)
  }

  /// Reads exactly 32 lower-case hexadecimal digits.
  public init?(text: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(text) else { return nil }
    self.init(bytes: bytes)
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
}

extension Identifier: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String { Hexadecimal.text(bytes) }
}

extension Identifier: Codable {
  /// Reads the 32 digits of its text.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let identifier = Identifier(text: text) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "An identifier has 32 lower-case hexadecimal digits."))
    }
    self = identifier
  }

  /// Writes its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// The name of a session, chosen by the client before the first attempt to start it.
public typealias SessionID = Identifier
/// The name of a client, kept by it over all its attachments.
public typealias ClientID = Identifier
