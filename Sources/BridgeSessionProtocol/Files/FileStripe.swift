/// One of several streams that carry one file together: the file is dealt out to them in turn, a
/// unit at a time, so that each knows its bytes without the length of the file.
package struct FileStripe: Sendable, Hashable {
  /// Which of the streams, from 0 on.
  package let index: Int
  /// How many there are.
  package let count: Int

  /// How many streams one file may have.
  package static let counts = 2...8
  /// Bytes that one stream carries before the next one's begin; a multiple of `FileLimits.data`.
  package static let unit: UInt64 = 4 << 20

  /// Nil where there is no such stream.
  package init?(_ index: Int, of count: Int) {
    guard Self.counts.contains(count), (0..<count).contains(index) else { return nil }
    (self.index, self.count) = (index, count)
  }

  init(_ bytes: [UInt8]) throws(ProtocolError) {
    guard bytes.count == 2, let stripe = Self(Int(bytes[0]), of: Int(bytes[1])) else {
      throw .malformedFields("stripe")
    }
    self = stripe
  }

  var bytes: [UInt8] { [UInt8(index), UInt8(count)] }

  /// All streams of a file.
  package static func all(of count: Int) -> [FileStripe] {
    (0..<count).compactMap { FileStripe($0, of: count) }
  }

  /// How many bytes of a file of `size` bytes it carries.
  package func length(of size: UInt64) -> UInt64 {
    let round = Self.unit * UInt64(count)
    let before = UInt64(index) * Self.unit
    let rest = size % round
    return size / round * Self.unit + min(Self.unit, rest > before ? rest - before : 0)
  }

  /// Where in the file the byte `offset` of the stream lies; the largest offset of a file for one
  /// that lies beyond.
  package func position(of offset: UInt64) -> UInt64 {
    let units = offset / Self.unit * UInt64(count) + UInt64(index)
    let (start, isBeyond) = units.multipliedReportingOverflow(by: Self.unit)
    guard !isBeyond, start < Limits.offset - Self.unit else { return Limits.offset - 1 }
    return start + offset % Self.unit
  }

  /// How many bytes of the stream, from `offset` on, lie side by side in the file.
  package func run(at offset: UInt64) -> UInt64 { Self.unit - offset % Self.unit }
}
