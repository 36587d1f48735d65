package import BridgeSessionProtocol

/// Finds the frames of an answer after the marker, whatever start-up files print before it.
///
/// What a wrapper prints of a command that it runs may have the marker, too: the answer is where a
/// frame follows, which no text does.
package struct AnswerReader: Sendable {
  /// Why an answer cannot be read.
  package enum Failure: Error, Sendable, Equatable {
    /// More than `preambleLimit` bytes and no marker.
    case noMarker
    /// A frame breaks the protocol.
    case violation(ProtocolError)
  }

  /// How far an answer has come.
  package enum Progress: Sendable, Equatable {
    /// No marker yet, with a frame behind it.
    case preamble
    /// The marker came, and nothing behind it: a `bridge-host` without a greeting, which waits for
    /// the first frame of the client, or the first part of something else.
    case marked
    /// `bridge-host` answers, and reads what it is sent.
    case begun
  }

  /// Bytes before the marker at most.
  package static let preambleLimit = 16 << 20
  private static let kept = 1024

  /// How far it has come.
  package private(set) var progress = Progress.preamble
  /// Where the host keeps sessions; empty before its greeting, and where that does not say it.
  package private(set) var places: [Identifier] = []
  /// The end of what came before the answer.
  package private(set) var preamble: [UInt8] = []

  private let marker: [UInt8]
  private var parser = FrameParser(splitsOutput: true)
  private var seen = 0

  /// A reader of an answer that `marker` comes before.
  package init(marker: String) { self.marker = Array(marker.utf8) }

  /// Whether `bridge-host` answers.
  package var hasBegun: Bool { progress == .begun }

  /// Takes bytes in; call `next` until it returns nil before the next ones.
  ///
  /// - Throws: `noMarker`.
  package mutating func append(_ bytes: [UInt8]) throws(Failure) {
    guard !hasBegun else { return parser.append(bytes) }
    seen += bytes.count
    preamble += bytes
    var start = 0
    while let range = preamble[start...].firstRange(of: marker) {
      let rest = preamble[range.upperBound...]
      switch Self.isFrame(rest) {
      case true?:
        // What is sent next depends on what a greeting says.
        let greeting = Greeting.read(rest)
        guard greeting != .partial else {
          progress = .preamble
          return preamble.removeFirst(max(0, range.lowerBound - Self.kept))
        }
        if case .whole(let greeting) = greeting { places = greeting.places }
        return begin(at: range)
      case false?: start = range.upperBound
      case nil:
        progress = range.upperBound == preamble.count ? .marked : .preamble
        return preamble.removeFirst(max(0, range.lowerBound - Self.kept))
      }
    }
    progress = .preamble
    guard seen <= Self.preambleLimit else { throw .noMarker }
    preamble = Array(preamble.suffix(Self.kept + marker.count))
  }

  /// Takes an answer with nothing behind the marker, for some time, for that of a `bridge-host`
  /// without a greeting.
  package mutating func acceptSilence() {
    guard progress == .marked, let range = preamble.lastRange(of: marker) else { return }
    begin(at: range)
  }

  private mutating func begin(at range: Range<Int>) {
    progress = .begun
    parser.append(Array(preamble[range.upperBound...]))
    preamble = Array(preamble[..<range.lowerBound].suffix(Self.kept))
  }

  /// Whether these bytes begin as a frame does, of any version: with two zero bytes after two
  /// others. Nil for too few of them.
  private static func isFrame(_ bytes: ArraySlice<UInt8>) -> Bool? {
    let reserved = bytes.dropFirst(2).prefix(2)
    guard reserved.allSatisfy({ $0 == 0 }) else { return false }
    return reserved.count == 2 ? true : nil
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

extension Array<UInt8> {
  /// Where `other` comes last.
  fileprivate func lastRange(of other: [UInt8]) -> Range<Int>? {
    var found: Range<Int>?
    while let next = self[(found?.upperBound ?? 0)...].firstRange(of: other) { found = next }
    return found
  }
}
