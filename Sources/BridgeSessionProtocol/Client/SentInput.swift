/// Bytes that are kept until the peer has them, by their offset.
struct SentInput: Sendable, Equatable {
  private var bytes: [UInt8] = []
  private var head = 0
  /// The offset of the first byte that is kept.
  private(set) var start: UInt64 = 0

  var count: Int { bytes.count - head }
  /// The offset after the last byte.
  var end: UInt64 { start + UInt64(count) }

  mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

  /// Gives up the bytes below `offset`.
  mutating func drop(below offset: UInt64) {
    guard offset > start else { return }
    let dropped = Int(min(offset - start, UInt64(count)))
    head += dropped
    start += UInt64(dropped)
    if head == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.count <= 64 << 10)
      head = 0
    } else if head >= count {
      bytes.removeSubrange(..<head)
      head = 0
    }
  }

  /// Empties the buffer; the next byte has `offset`.
  mutating func restart(at offset: UInt64) {
    bytes = []
    head = 0
    start = offset
  }

  /// At most `limit` bytes from `offset` on.
  func bytes(from offset: UInt64, limit: Int) -> [UInt8] {
    guard offset >= start, offset < end else { return [] }
    let first = head + Int(offset - start)
    return Array(bytes[first..<min(bytes.count, first + limit)])
  }
}
