/// Output in the middle that an attachment is not sent: it takes no space in the window.
struct OmittedOutput: Sendable, Equatable {
  private var ranges: [Range<UInt64>] = []

  var isFull: Bool { ranges.count >= Self.limit }

  /// Drawings are not counted by the window: of those that the reader has not taken there are few.
  private static let limit = 16

  mutating func append(_ range: Range<UInt64>) { ranges.append(range) }

  /// The acknowledged output needs no account any more.
  mutating func drop(below offset: UInt64) { ranges.removeAll { $0.upperBound <= offset } }

  /// How many bytes of it lie at `offset` and above.
  func count(from offset: UInt64) -> UInt64 {
    ranges.reduce(0) { $0 + ($1.upperBound - min(max($1.lowerBound, offset), $1.upperBound)) }
  }
}
