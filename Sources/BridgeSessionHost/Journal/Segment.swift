import BridgeSessionProtocol

/// Where output of one stream begins within a segment.
struct Run: Equatable {
  var offset: UInt64
  var stream: ProgramStream
}

/// The files of one segment: `out.OFFSET` has the bytes, `idx.OFFSET` the runs (records of 16
/// bytes: offset (8), kind (1: run, 2: seal), stream (1), zeros; after a seal the checksum).
struct Segment {
  let start: UInt64
  var length: UInt64 = 0
  /// The runs; nil where they are only on disk.
  var runs: [Run]?

  var end: UInt64 { start + length }
  var dataName: String { "out." + Self.digits(start) }
  var indexName: String { "idx." + Self.digits(start) }

  /// Escape sequences that bring a terminal into its state at the start of the segment.
  var modesName: String { "mod." + Self.digits(start) }

  static let recordLength = 16
  static let modesLimit = 16 << 10
  /// The longest index that is read.
  static let indexLimit = (Segment.maximumRuns + 4) * recordLength
  static let maximumRuns = 16 << 10
  static let shortest: UInt64 = 1 << 20
  /// A segment goes beyond its length by one read, or what was kept in memory, at most; what is
  /// longer is not this program's.
  static let longest: UInt64 = maximumLength + MemoryRing.capacity
  private static let maximumLength: UInt64 = 8 << 20

  /// How long the segments of a session are. A terminal's are short: who attaches to it has the
  /// start of one read and tracked. Each file of others costs more than its bytes.
  static func length(_ kind: ProgramKind, cap: UInt64) -> UInt64 {
    kind == .terminal ? shortest : min(max(cap / 8, shortest), maximumLength)
  }

  static func record(_ run: Run) -> [UInt8] {
    var bytes = number(run.offset)
    bytes += [1, run.stream.rawValue, 0, 0, 0, 0, 0, 0]
    return bytes
  }

  static func seal(at offset: UInt64, _ checksum: Checksum) -> [UInt8] {
    number(offset) + [2, 0, 0, 0, 0, 0, 0, 0] + checksum.bytes
  }

  /// The runs of an index file. What a keeper that died left half written is not a run.
  static func runs(in bytes: [UInt8]) -> [Run] {
    var runs: [Run] = []
    var position = 0
    while position + recordLength <= bytes.count {
      guard bytes[position + 8] == 1, let stream = ProgramStream(rawValue: bytes[position + 9])
      else { break }
      let offset = bytes[position..<(position + 8)].reduce(0) { $0 << 8 | UInt64($1) }
      runs.append(Run(offset: offset, stream: stream))
      position += recordLength
    }
    return runs
  }

  /// Where the seal of an index file says that the segment ends, and its checksum; nil for a
  /// segment that was not ended.
  static func seal(in bytes: [UInt8], after runs: Int) -> (end: UInt64, checksum: [UInt8])? {
    let position = runs * recordLength
    guard bytes.count >= position + 2 * recordLength, bytes[position + 8] == 2 else { return nil }
    let end = bytes[position..<(position + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    return (end, Array(bytes[(position + recordLength)..<(position + 2 * recordLength)]))
  }

  /// The offset in a data file's name.
  static func offset(ofName name: String) -> UInt64? {
    guard name.hasPrefix("out."), name.utf8.count == 20 else { return nil }
    let offset = UInt64(name.dropFirst(4), radix: 16)
    return offset.flatMap { $0 < Limits.offset - longest ? $0 : nil }
  }

  private static func digits(_ value: UInt64) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }

  private static func number(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - $0 * 8)) }
  }
}

extension [Run] {
  /// The pieces of `range`, each of one stream.
  func pieces(from offset: UInt64, to end: UInt64) -> [(
    stream: ProgramStream, range: Range<UInt64>
  )] {
    guard var index = lastIndex(atOrBelow: offset) else { return [] }
    var pieces: [(stream: ProgramStream, range: Range<UInt64>)] = []
    var position = offset
    while position < end {
      let next = index + 1 < count ? Swift.min(self[index + 1].offset, end) : end
      if next > position { pieces.append((self[index].stream, position..<next)) }
      position = Swift.max(position, next)
      index += 1
    }
    return pieces
  }

  private func lastIndex(atOrBelow offset: UInt64) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].offset <= offset { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }
}
