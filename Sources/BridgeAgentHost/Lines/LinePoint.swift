public import BridgeSessionProtocol

/// How far the lines of a session were committed: what an application stores with its own data, to
/// go on behind it after a restart.
public struct LinePoint: Sendable, Hashable, Codable {
  /// How far one stream was committed, which may be farther than the output as a whole: while a
  /// line of one stream is unfinished, whole lines of the other one are handed over.
  public struct Stream: Sendable, Hashable, Codable {
    /// What the next byte belongs to.
    public enum Place: String, Sendable, Codable {
      /// A new line.
      case lineStart
      /// A line of which a part was handed over.
      case insideLine
      /// Perhaps a line whose beginning is lost.
      case afterGap
    }

    /// All bytes of the stream below this offset were committed.
    public var end: UInt64
    /// What the byte at `end` belongs to.
    public var place: Place

    /// A point in a stream.
    public init(end: UInt64, place: Place = .lineStart) {
      self.end = end
      self.place = place
    }
  }

  /// Where the output begins that is read again.
  public var output: ResumePoint
  /// Streams that were committed farther, or to within a line, by `ProgramStream.rawValue`.
  public var streams: [Int: Stream]

  /// A point in the output.
  public init(output: ResumePoint, streams: [Int: Stream] = [:]) {
    self.output = output
    self.streams = streams
  }
}

/// How far each stream of a program was handed over, or committed.
package struct StreamEnds: Sendable, Equatable {
  private var ends = Array(
    repeating: LinePoint.Stream(end: 0), count: ProgramStream.allCases.count)

  subscript(stream: ProgramStream) -> LinePoint.Stream {
    get { ends[Int(stream.rawValue) - 1] }
    set { ends[Int(stream.rawValue) - 1] = newValue }
  }

  /// Goes on to `other`, where that is farther.
  mutating func advance(to other: StreamEnds) {
    for stream in ProgramStream.allCases where other[stream].end >= self[stream].end {
      self[stream] = other[stream]
    }
  }
}
