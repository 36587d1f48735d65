import BridgeSessionProtocol

/// The newest output, where the disk takes none.
struct MemoryRing {
  private(set) var start: UInt64 = 0
  private var bytes: [UInt8] = []
  private var runs: [Run] = []

  static let capacity: UInt64 = 4 << 20
  private static let limit = Int(capacity)

  init(start: UInt64 = 0) { self.start = start }

  /// 0 while it was never used.
  var end: UInt64 { bytes.isEmpty ? 0 : start + UInt64(bytes.count) }
  /// True when the next output may push out the oldest.
  var isFull: Bool {
    bytes.count + Journal.longestAppend > Self.limit || runs.count >= Segment.maximumRuns
  }

  mutating func append(_ stream: ProgramStream, _ more: [UInt8]) {
    if runs.last?.stream != stream {
      runs.append(Run(offset: start + UInt64(bytes.count), stream: stream))
    }
    bytes += more
    guard bytes.count > Self.limit || runs.count > Segment.maximumRuns else { return }
    // A quarter at once: moving the rest costs as much for one byte.
    drop(max(bytes.count - Self.limit, Self.limit / 4))
  }

  mutating func drop(below offset: UInt64) {
    // All of it would lose where it ends.
    drop(min(Int(clamping: offset - min(start, offset)), bytes.count - 1))
  }

  private mutating func drop(_ count: Int) {
    let dropped = max(0, min(count, bytes.count))
    bytes.removeFirst(dropped)
    start += UInt64(dropped)
    let kept = runs.pieces(from: start, to: start + UInt64(bytes.count))
    runs = kept.map { Run(offset: $0.range.lowerBound, stream: $0.stream) }
  }

  /// Everything, in pieces of one stream.
  var contents: [(ProgramStream, [UInt8])] {
    runs.pieces(from: start, to: end).map { ($0.stream, slice($0.range)) }
  }

  func bytes(from offset: UInt64, to end: UInt64, framed: Bool) -> [UInt8] {
    guard framed else { return slice(offset..<min(end, self.end)) }
    var frames: [UInt8] = []
    for piece in runs.pieces(from: offset, to: min(end, self.end)) {
      let part = slice(piece.range)
      frames += Frame.header(
        .output, stream: piece.stream, length: part.count, offset: piece.range.lowerBound)
      frames += part
    }
    return frames
  }

  private func slice(_ range: Range<UInt64>) -> [UInt8] {
    Array(bytes[Int(range.lowerBound - start)..<Int(range.upperBound - start)])
  }
}
