/// Finds what follows a marker, whatever start-up files print before it.
struct MarkedBytes: Sendable {
  /// Whether the marker came.
  private(set) var hasBegun = false
  /// The end of what came before it.
  private(set) var preamble: [UInt8] = []
  private let marker: [UInt8]
  private var seen = 0

  init(marker: String) { self.marker = Array(marker.utf8) }

  /// What of these bytes follows the marker; nil for more than `AnswerReader.preambleLimit` bytes
  /// without one.
  mutating func take(_ bytes: [UInt8]) -> [UInt8]? {
    guard !hasBegun else { return bytes }
    seen += bytes.count
    preamble += bytes
    if let range = preamble.firstRange(of: marker) {
      hasBegun = true
      let rest = Array(preamble[range.upperBound...])
      preamble = Array(preamble[..<range.lowerBound].suffix(Self.kept))
      return rest
    }
    preamble = Array(preamble.suffix(Self.kept + marker.count))
    return seen <= AnswerReader.preambleLimit ? [] : nil
  }

  private static let kept = 1024
}
