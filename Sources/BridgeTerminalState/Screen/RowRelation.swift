/// What the rows of a screen have to do with those of a terminal that showed something before, and
/// whose cursor was anywhere.
enum RowRelation: Sendable, Equatable {
  /// The cursor took the same steps from row to row, over rows that it came to first, or that were
  /// cleared.
  case sameSteps(isCleared: Bool)
  /// The cursor is in the same row of both where it is aligned; what else it shows is not known.
  case unknown(isAligned: Bool)
  /// The rows show the same.
  case same

  /// Whether the row of the cursor is known.
  var isKnown: Bool { if case .unknown = self { false } else { true } }

  /// Whether the cursor is in the same row.
  var isAligned: Bool {
    switch self {
    case .same, .unknown(isAligned: true): true
    case .sameSteps, .unknown(isAligned: false): false
    }
  }

  /// A row is addressed by its number; of a screen that is blank all over nothing else is to be
  /// known.
  mutating func address(isBlank: @autoclosure () -> Bool) {
    switch self {
    case .sameSteps(isCleared: true) where isBlank(): self = .same
    case .sameSteps, .unknown: self = .unknown(isAligned: true)
    case .same: break
    }
  }

  /// All rows go up, for the cursor goes below the last one: of the terminal it was the last one
  /// then, too, and all those above it have been written.
  mutating func scroll() { if case .sameSteps = self { self = .same } }

  /// The cursor goes up from where it was first.
  mutating func leaveTop() { if case .sameSteps = self { self = .unknown(isAligned: false) } }

  /// The screen is cleared: all of it, or from its first cell on.
  mutating func clear(isWhole: Bool) {
    switch self {
    case .unknown(isAligned: true): self = .same
    case .unknown, .sameSteps: if isWhole { self = .sameSteps(isCleared: true) }
    case .same: break
    }
  }
}
