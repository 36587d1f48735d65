import BridgeErrors

extension SeverityQueue {
  /// When `advance(to:)` would change something; nil when time changes nothing.
  public var deadline: Moment? {
    let settling = oldest(in: .held)?.heldUntil
    let aging = agingLists.compactMap { oldest(in: $0)?.levelSince }.min()
    return [settling, aging.map { $0 + RecoveryDefaults.agingPeriod }].compactMap(\.self).min()
  }

  /// The levels of what is shown and waits, in that order, as numbers that never rise.
  package var ranks: [Int] { visible.map(\.level.rank) }

  /// Shows what was held back long enough, and lifts what has waited long enough by one level, to
  /// the end of it, but never among the critical.
  public mutating func advance(to now: Moment) {
    while let entry = oldest(in: .held), let due = entry.heldUntil, due <= now {
      show(entry.presented.id, at: now)
    }
    for list in agingLists {
      while let entry = oldest(in: list), let since = entry.levelSince,
        now - since >= RecoveryDefaults.agingPeriod
      {
        lift(entry.presented.id, at: now)
      }
    }
  }

  /// The lists whose entries rise: below an error, with something more severe above them.
  private var agingLists: [List] {
    guard let top = top?.level.severity, top > .info else { return [] }
    return List.aging.filter { list in
      if case .level(let level) = list { level.severity < top } else { false }
    }
  }
}
