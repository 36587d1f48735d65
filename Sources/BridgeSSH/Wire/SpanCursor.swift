/// A position in bytes that another type owns, read as `WireReader` reads them. A result is given
/// as a range: nothing of a secret is copied.
struct SpanCursor {
  /// The remaining range.
  private(set) var left: Range<Int>

  /// At the first of `range`.
  init(_ range: Range<Int>) { left = range }

  /// One byte.
  mutating func byte(in span: Span<UInt8>) -> UInt8? {
    guard let range = take(1) else { return nil }
    return span[range.lowerBound]
  }

  /// A 32-bit number, network order.
  mutating func uint32(in span: Span<UInt8>) -> UInt32? {
    guard let range = take(4) else { return nil }
    var number: UInt32 = 0
    for index in range { number = number << 8 | UInt32(span[index]) }
    return number
  }

  /// The next `count` bytes.
  mutating func take(_ count: Int) -> Range<Int>? {
    guard count >= 0, count <= left.count else { return nil }
    let range = left.lowerBound..<left.lowerBound + count
    left = range.upperBound..<left.upperBound
    return range
  }

  /// A `string`: a length, then so many bytes.
  mutating func string(in span: Span<UInt8>) -> Range<Int>? {
    guard let length = uint32(in: span) else { return nil }
    return take(Int(length))
  }

  /// A `string` that holds only printable ASCII, at most 64 bytes.
  mutating func name(in span: Span<UInt8>) -> String? {
    guard let range = string(in: span), range.count <= 64 else { return nil }
    let bytes = span.bytes(range)
    guard bytes.allSatisfy({ (33...126).contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Span where Element == UInt8 {
  /// A copy of the bytes in `range`: not of a secret.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for index in range { bytes.append(self[index]) }
    return bytes
  }

  /// Whether the bytes in `range` begin with `mark`.
  func starts(_ range: Range<Int>, with mark: some Collection<UInt8>) -> Bool {
    guard mark.count <= range.count else { return false }
    for (index, byte) in zip(range, mark) where self[index] != byte { return false }
    return true
  }
}
