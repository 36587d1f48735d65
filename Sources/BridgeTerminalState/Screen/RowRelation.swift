/// What the rows of a screen have to do with those of a terminal that showed something before, and
/// whose cursor was anywhere.
enum RowRelation: Sendable, Equatable {
  /// The cursor took the same steps from row to row, over rows that it came to first, or that were
  /// cleared. The terminal's is `lag` rows further up at most.
  case sameSteps(isCleared: Bool, lag: Int)
  /// The cursor is in the same row of both where it is aligned; what else it shows is not known.
  case unknown(isAligned: Bool)
  /// The rows show the same. Where one was addressed by its number since the screen scrolled last,
  /// a program may do so again.
  case same(isAddressed: Bool)
  /// The terminal shows all rows so many further up: its first ones have left at the top, and below
  /// the last one are blank ones. Each row that this screen scrolls brings both closer.
  case raised(by: Int)
  /// A program has relied on a row while they were raised.
  case torn

  /// What is known at first.
  static let initial = RowRelation.sameSteps(isCleared: false, lag: 0)

  /// Whether the row of the cursor is known.
  var isKnown: Bool {
    switch self {
    case .sameSteps, .same, .raised: true
    case .unknown, .torn: false
    }
  }

  /// Whether the cursor is in the same row.
  var isAligned: Bool {
    switch self {
    case .same, .unknown(isAligned: true): true
    case .sameSteps, .unknown(isAligned: false), .raised, .torn: false
    }
  }

  /// Whether the rows show the same.
  var isSame: Bool { if case .same = self { true } else { false } }

  /// How many rows further up the terminal shows all rows.
  var raise: Int { if case .raised(let count) = self { count } else { 0 } }

  /// A row is addressed by its number; of a screen that is blank all over nothing else is to be
  /// known.
  mutating func address(isBlank: @autoclosure () -> Bool) {
    switch self {
    case .sameSteps(isCleared: true, _) where isBlank(), .same: self = .same(isAddressed: true)
    case .sameSteps, .unknown: self = .unknown(isAligned: true)
    case .raised: self = .torn
    case .torn: break
    }
  }

  /// All rows go up, for the cursor goes below the last one: of the terminal it was the last one
  /// then, too, and all those above it have been written.
  ///
  /// - Parameter isPlain: whether the row that comes at the bottom has no color.
  mutating func scroll(_ rows: Int = 1, isPlain: Bool = true) {
    switch self {
    case .sameSteps(let isCleared, let lag):
      let lag = lag - rows
      self = lag < 0 ? .same(isAddressed: false) : .sameSteps(isCleared: isCleared, lag: lag)
    case .raised(let count) where isPlain:
      self = count <= rows ? .same(isAddressed: false) : .raised(by: count - rows)
    case .raised: self = .torn
    case .same: self = .same(isAddressed: false)
    case .unknown, .torn: break
    }
  }

  /// The cursor goes up from `row`.
  mutating func goUp(_ count: Int, from row: Int) {
    switch self {
    // From where it was first.
    case .sameSteps(_, let lag) where row - lag < count: self = .unknown(isAligned: false)
    case .raised(let raise) where row - raise < count: self = .torn
    case .sameSteps, .unknown, .same, .raised, .torn: break
    }
  }

  /// The cursor goes to a row where it was saved: in the same one of both, or not.
  mutating func returnTo(isAligned: Bool) {
    if self != .torn, !(isAligned && self.isAligned) { self = .unknown(isAligned: false) }
  }

  /// A program relies on a row, or on the last one.
  mutating func rely() { if case .raised = self { self = .torn } }

  /// The screen is cleared: all of it, or from its first cell on.
  mutating func clear(isWhole: Bool) {
    switch self {
    case .unknown(isAligned: true): self = .same(isAddressed: true)
    case .unknown: if isWhole { self = .sameSteps(isCleared: true, lag: TerminalScreen.largest) }
    case .sameSteps(_, let lag): if isWhole { self = .sameSteps(isCleared: true, lag: lag) }
    case .same, .raised, .torn: break
    }
  }
}
