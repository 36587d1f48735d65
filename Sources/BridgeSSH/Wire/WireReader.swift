/// Reads the data types of the SSH protocol (RFC 4251, 5) from untrusted bytes. Every length is
/// checked against what is left; a short or hostile one answers nil and leaves the reader as it
/// was.
package struct WireReader: Sendable {
  private let bytes: [UInt8]
  private var position: Int

  /// A reader at the first of `bytes`.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
  }

  /// How many bytes are left.
  package var remaining: Int { bytes.count - position }

  /// The remaining bytes, without reading them.
  package var rest: [UInt8] { Array(bytes[position...]) }

  /// One byte.
  package mutating func byte() -> UInt8? {
    guard remaining >= 1 else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  /// A 32-bit number, network order.
  package mutating func uint32() -> UInt32? {
    guard remaining >= 4 else { return nil }
    defer { position += 4 }
    return bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The next `count` bytes.
  package mutating func take(_ count: Int) -> [UInt8]? {
    guard count >= 0, count <= remaining else { return nil }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// A `string`: a length, then so many bytes, at most `limit`.
  package mutating func string(limit: Int = .max) -> [UInt8]? {
    let start = position
    guard let length = uint32(), Int(length) <= limit, let value = take(Int(length)) else {
      position = start
      return nil
    }
    return value
  }

  /// A `string` that holds only printable ASCII, as names of algorithms and methods do.
  package mutating func name(limit: Int = 64) -> String? {
    let start = position
    guard let value = string(limit: limit), value.allSatisfy({ (33...126).contains($0) }) else {
      position = start
      return nil
    }
    return String(decoding: value, as: UTF8.self)
  }

  /// A `name-list`: names separated by commas; empty names are left out.
  package mutating func nameList() -> [String]? {
    guard let value = string() else { return nil }
    return value.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Writes the data types of the SSH protocol (RFC 4251, 5).
package struct WireWriter: Sendable {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8] = []

  /// An empty message.
  package init() {}

  /// One byte.
  package mutating func byte(_ value: UInt8) {
    bytes.append(value)
  }

  /// A 32-bit number, network order.
  package mutating func uint32(_ value: UInt32) {
    for shift: UInt32 in [24, 16, 8, 0] { bytes.append(UInt8(value >> shift & 255)) }
  }

  /// A `string`: the length, then the bytes.
  package mutating func string(_ value: [UInt8]) {
    uint32(UInt32(value.count))
    bytes += value
  }

  /// A `string` of UTF-8 text.
  package mutating func string(_ value: String) {
    string(Array(value.utf8))
  }
}
