public import BridgeSessionProtocol

/// A line of a session's output, or a gap in its place.
public struct SessionLine: Sendable, Equatable {
  /// What it is.
  public enum Content: Sendable, Equatable {
    /// A whole line, without its line feed; also the last one of the output, which may have none.
    case line([UInt8], ProgramStream)
    /// A part of a line: one that is longer than the limit, that a gap cuts, or that another stream
    /// has left behind. The next element of its stream goes on with it, unless it is the last part.
    case part([UInt8], ProgramStream, isLast: Bool)
    /// Output that is no longer kept. It may have had any number of lines.
    case gap(Range<UInt64>)
  }

  /// What it is.
  public var content: Content
  /// How far each stream is handed over with it.
  package var ends: StreamEnds

  /// Its bytes, without the line feed; nil for a gap.
  public var bytes: [UInt8]? {
    switch content {
    case .line(let bytes, _), .part(let bytes, _, isLast: _): bytes
    case .gap: nil
    }
  }

  /// Where it was printed; nil for a gap.
  public var stream: ProgramStream? {
    switch content {
    case .line(_, let stream), .part(_, let stream, isLast: _): stream
    case .gap: nil
    }
  }

  /// The offset after its last byte, with the line feed.
  public var end: UInt64 {
    switch content {
    case .line(_, let stream), .part(_, let stream, isLast: _): ends[stream].end
    case .gap(let range): range.upperBound
    }
  }

  /// Its text, without a carriage return at its end; what is no UTF-8 is replaced. nil for a gap.
  public var text: String? {
    bytes.map { bytes in
      String(decoding: bytes.last == 0x0D ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }
  }
}
