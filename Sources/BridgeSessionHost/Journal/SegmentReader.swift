import BridgeSessionProtocol

/// Output of a journal from one offset on.
enum Piece: Equatable {
  /// Frames, or the bytes alone, up to `through`.
  case bytes([UInt8], through: UInt64)
  /// Nothing up to `to` can be read.
  case missing(to: UInt64)
}

/// The files of the segment that is written.
struct LiveSegment {
  let start: UInt64
  let data: Descriptor
  let index: Descriptor
  var checksum = Checksum()
  /// Records of the index.
  var records: UInt64 = 0
}

/// Reads one segment.
struct SegmentReader {
  let start: UInt64
  let end: UInt64
  let isSealed: Bool
  private let data: Descriptor
  private let runs: [Run]

  /// The segment that is written, by its open file.
  init(_ segment: Segment, data: Descriptor, runs: [Run]) {
    start = segment.start
    end = segment.end
    isSealed = false
    self.data = data
    self.runs = runs
  }

  /// Opens a segment; nil where its files are not what was written: the index is no index of it, or
  /// its seal and the bytes differ.
  init?(_ segment: Segment, in directory: Directory) {
    guard let data = try? directory.openForReading(segment.dataName),
      let index = try? directory.read(segment.indexName, limit: Segment.indexLimit)
    else { return nil }
    let runs = Segment.runs(in: index)
    let isOrdered = zip(runs, runs.dropFirst()).allSatisfy { $0.offset < $1.offset }
    guard runs.first?.offset == segment.start, isOrdered else { return nil }
    let seal = Segment.seal(in: index, after: runs.count)
    if let seal {
      // The keeper may have gone on with it, and sealed it, since it was found.
      guard seal.end >= segment.end, seal.end - segment.start <= Segment.longest,
        let bytes = try? data.read(at: 0, count: Int(seal.end - segment.start))
      else { return nil }
      var checksum = Checksum()
      checksum.add(bytes)
      guard checksum.bytes == seal.checksum else { return nil }
    }
    start = segment.start
    end = segment.end
    isSealed = seal != nil
    self.data = data
    self.runs = runs
  }

  /// Nil where the file has fewer bytes than it had.
  func bytes(from offset: UInt64, to end: UInt64, framed: Bool) -> [UInt8]? {
    guard framed else { return read(offset..<end) }
    var frames: [UInt8] = []
    for piece in runs.pieces(from: offset, to: end) {
      guard let bytes = read(piece.range) else { return nil }
      frames += Frame.header(
        .output, stream: piece.stream, length: bytes.count, offset: piece.range.lowerBound)
      frames += bytes
    }
    return frames
  }

  private func read(_ range: Range<UInt64>) -> [UInt8]? {
    let count = Int(range.upperBound - range.lowerBound)
    let bytes = try? data.read(at: range.lowerBound - start, count: count)
    return bytes?.count == count ? bytes : nil
  }
}
