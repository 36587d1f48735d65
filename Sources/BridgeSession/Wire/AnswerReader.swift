package import BridgeSessionProtocol

/// Finds the frames of an answer after the marker, whatever start-up files print before it.
package struct AnswerReader: Sendable {
  /// Why an answer cannot be read.
  package enum Failure: Error, Sendable, Equatable {
    /// More than `preambleLimit` bytes and no marker.
    case noMarker
    /// A frame breaks the protocol.
    case violation(ProtocolError)
  }

  /// Bytes before the marker at most.
  package static let preambleLimit = 1 << 20
  private static let kept = 1024

  /// Whether the marker came.
  package private(set) var hasBegun = false
  /// The end of what came before the marker.
  package private(set) var preamble: [UInt8] = []

  private let marker: [UInt8]
  private var parser = FrameParser(splitsOutput: true)
  private var seen = 0

  /// A reader of an answer that `marker` comes before.
  package init(marker: String) { self.marker = Array(marker.utf8) }

  /// Takes bytes in; call `next` until it returns nil before the next ones.
  ///
  /// - Throws: `noMarker`.
  package mutating func append(_ bytes: [UInt8]) throws(Failure) {
    guard !hasBegun else { return parser.append(bytes) }
    seen += bytes.count
    preamble += bytes
    if let range = preamble.firstRange(of: marker) {
      hasBegun = true
      parser.append(Array(preamble[range.upperBound...]))
      preamble = Array(preamble[..<range.lowerBound].suffix(Self.kept))
      return
    }
    guard seen <= Self.preambleLimit else { throw .noMarker }
    preamble = Array(preamble.suffix(Self.kept + marker.count))
  }

  /// The next frame; nil until more bytes come.
  ///
  /// - Throws: `violation`.
  package mutating func next() throws(Failure) -> Frame? {
    guard hasBegun else { return nil }
    do throws(ProtocolError) {
      return try parser.next()
    } catch {
      throw .violation(error)
    }
  }

  /// Whether the answer ended between two frames.
  package var isComplete: Bool { hasBegun && parser.isAtBoundary }
}
