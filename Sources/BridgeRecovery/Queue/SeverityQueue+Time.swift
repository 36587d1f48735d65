import BridgeErrors

extension SeverityQueue {
  /// When `advance(to:)` would change something; nil when time changes nothing.
  public var deadline: Moment? {
    let settling = lists.first(of: Level.held).flatMap { entries[$0]?.heldUntil }
    let aging = agingHeads.compactMap { entries[$0]?.levelSince }.min()
    return [settling, aging.map { $0 + RecoveryDefaults.agingPeriod }].compactMap(\.self).min()
  }

  /// The levels of what is shown and waits, in that order, as numbers that never rise.
  package var ranks: [Int] {
    visibleSlots.compactMap { entries[$0]?.level }.map { level in
      2 * level.severity.rawValue + (level.isFirst ? 1 : 0)
    }
  }

  /// Shows what was held back long enough, and lifts what has waited long enough by one level, to
  /// the end of it, but never among the critical.
  public mutating func advance(to now: Moment) {
    while let slot = lists.first(of: Level.held), let due = entries[slot]?.heldUntil, due <= now {
      show(slot, at: now)
    }
    for slot in agingHeads {
      var oldest: Int? = slot
      while let slot = oldest, let since = entries[slot]?.levelSince,
        now - since >= RecoveryDefaults.agingPeriod
      {
        oldest = lists.next(after: slot)
        lift(slot, at: now)
      }
    }
  }

  /// The oldest of each list that could rise: below `error`, with something more severe above it.
  private var agingHeads: [Int] {
    guard let shown = visibleSlots.first, let top = entries[shown]?.level.severity,
      top > .info
    else { return [] }
    var heads: [Int] = []
    for list in Level.agingLists {
      guard let slot = lists.first(of: list), let level = entries[slot]?.level.severity else {
        continue
      }
      if level < top { heads.append(slot) }
    }
    return heads
  }

  private mutating func lift(_ slot: Int, at now: Moment) {
    guard let severity = entries[slot]?.level.severity,
      let higher = ErrorSeverity(rawValue: severity.rawValue + 1)
    else { return }
    entries[slot]?.level.severity = higher
    show(slot, at: now)
  }

  /// The slots of what is not held back, in the order of showing.
  var visibleSlots: VisibleSlots { VisibleSlots(lists: lists) }

  struct VisibleSlots: Sequence, IteratorProtocol {
    private let lists: EntryLists
    private var remaining = Level.showOrder[...]
    private var current: Int?

    init(lists: EntryLists) {
      self.lists = lists
    }

    /// The first of them.
    var first: Int? {
      var copy = self
      return copy.next()
    }

    mutating func next() -> Int? {
      current = current.flatMap { lists.next(after: $0) }
      while current == nil, let list = remaining.popFirst() { current = lists.first(of: list) }
      return current
    }
  }
}
