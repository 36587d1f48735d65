/// How far the output of a session was printed, and what of it is no longer kept.
package struct OutputProgress: Sendable, Equatable {
  /// The offset of the next byte.
  package private(set) var position: UInt64 = 0
  /// The first bytes that were asked for and are no longer kept: from an offset or in the middle,
  /// or all of the output.
  package var missing: Range<UInt64>? { asked ?? (hasPrinted ? nil : oldest) }
  private var asked: Range<UInt64>?
  /// What is missing before the oldest byte that is kept.
  private var oldest: Range<UInt64>?
  /// Whether it is known where to begin.
  package private(set) var hasBegun = false
  private var isExact = false
  private var hasPrinted = false

  /// At the oldest output.
  package init() {}

  /// Begins at an offset, once; nil for the oldest that is kept.
  package mutating func begin(at offset: UInt64?) {
    guard !hasBegun else { return }
    (hasBegun, isExact, position) = (true, offset != nil, offset ?? 0)
  }

  /// Goes on at `offset`, where what lies before was not requested.
  package mutating func go(to offset: UInt64) { position = max(position, offset) }

  /// All below `end` was printed.
  package mutating func print(through end: UInt64) { (position, hasPrinted) = (end, true) }

  /// The bytes to below `end` are no longer kept.
  package mutating func skip(to end: UInt64) {
    let range = position..<end
    position = end
    if isExact || range.lowerBound > 0 { asked = asked ?? range } else { oldest = range }
  }
}
