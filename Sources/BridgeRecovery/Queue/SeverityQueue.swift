public import BridgeErrors

/// What a person sees: the most severe error, and the rest in the order in which they will be seen.
///
/// A level is first in, first out, with a changed host key first. A more severe arrival pre-empts,
/// and what it displaces is next of its level again. Equal errors of one source are one entry with
/// a count. What operations report is bounded: the oldest of the lowest level is dropped and
/// counted; critical entries are never dropped, what does not fit is folded into the newest one.
///
/// The entry of a link shows that link's state: there is one at most, it is never dropped, and
/// while the link needs a person only its recovery or its end takes it away.
public struct SeverityQueue: Sendable {
  /// Reports of operations it holds at most, the shown one included.
  public let capacity: Int
  /// Entries dropped so far because the queue was full.
  public private(set) var dropped = 0
  /// Entries in it, those that are held back included.
  public private(set) var count = 0
  /// Those of them that show the state of a link.
  public var linkCount: Int { linkSlots.count }

  var entries: [Entry?] = []
  var lists = EntryLists(count: Level.listCount)
  private var free: [Int] = []
  private var slots: [EntryKey: Int] = [:]
  private var slotsBySource: [String: Set<Int>] = [:]
  private var linkSlots: [ConnectionID: Int] = [:]

  /// Counts what may have changed what is shown or when time changes it.
  package private(set) var changes: UInt64 = 0

  private var generator: SeededGenerator

  /// An empty queue for `capacity` entries, at least one; `seed` makes the ids of its entries.
  public init(
    capacity: Int = RecoveryDefaults.queueCapacity, seed: UInt64 = SeededGenerator.anySeed()
  ) {
    self.capacity = max(1, capacity)
    generator = SeededGenerator(seed: seed)
  }

  /// The error to show.
  public var shown: PresentedError? { visibleSlots.first.flatMap { entries[$0]?.presented } }

  /// The errors behind the shown one, the next first. Takes time for each.
  public var waiting: [PresentedError] {
    visibleSlots.dropFirst().compactMap { entries[$0]?.presented }
  }

  /// The entry with this id, shown, waiting or held back.
  public func entry(_ id: PresentedError.ID) -> PresentedError? {
    slot(of: id).flatMap { entries[$0]?.presented }
  }

  /// Takes an error in. A cancellation is none.
  public mutating func push(_ error: AppError, source: String? = nil) {
    push(Report(error: error, source: source))
  }

  /// Takes a report in at `now`; without an instant it is shown at once and does not age.
  public mutating func push(_ report: Report, at now: Moment? = nil) {
    guard report.error != .cancelled else { return }
    let key = EntryKey(report)
    if let slot = slots[key] {
      entries[slot]?.presented.count += report.count
      entries[slot]?.refresh(report, at: now)
      changes += 1
      return
    }
    insert(Entry(report, id: PresentedError.id(from: &generator), key: key, at: now))
  }

  /// Takes the shown error away; the next one is shown.
  public mutating func dismiss() {
    if let slot = visibleSlots.first { dismiss(slot: slot) }
  }

  /// Takes the error with this id away, shown or not.
  public mutating func dismiss(_ id: PresentedError.ID) {
    if let slot = slot(of: id) { dismiss(slot: slot) }
  }

  /// The entry of a link that still needs a person is moved to the end of its level.
  private mutating func dismiss(slot: Int) {
    guard let entry = entries[slot], entry.isStanding else { return remove(slot) }
    lists.remove(slot)
    lists.append(slot, to: entry.list)
    changes += 1
  }

  /// Removes the entries of the operation `source`, which works again.
  public mutating func resolve(source: String) {
    for slot in slotsBySource[source] ?? [] { remove(slot) }
  }

  /// Removes the entry of a link that is up, suspended or closed.
  public mutating func resolve(_ link: ConnectionID) {
    if let slot = linkSlots[link] { remove(slot) }
  }

  /// A link failed: its entry stays the same one, with the newest error. Without such an entry, or
  /// without a link, this is a new report.
  public mutating func recoveryFailed(_ report: Report, at now: Moment? = nil) {
    guard report.error != .cancelled else { return }
    guard let link = report.link, let slot = linkSlots[link] else {
      push(report, at: now)
      return
    }
    if !report.settles, entries[slot]?.heldUntil != nil { show(slot, at: now) }
    update(slot, with: report, at: now)
  }

  /// A chosen option of the entry with this id failed (G-39); nil means with the same error.
  public mutating func recoveryFailed(
    _ id: PresentedError.ID, with error: AppError?, context: FailureContext? = nil,
    at now: Moment? = nil
  ) {
    guard let slot = slot(of: id), let entry = entries[slot] else { return }
    let newest = error ?? entry.presented.error
    var report = Report(
      error: newest, source: entry.presented.source, context: context,
      plan: entry.plan(at: now))
    report.link = entry.presented.link
    update(slot, with: report, at: now)
  }

  /// What the entries of `links` report is the echo of what happened to `root`: those about which
  /// something happens by itself become a count on its entry. Without such an entry nothing
  /// changes.
  public mutating func inhibit(_ links: [ConnectionID], under root: ConnectionID) {
    guard let target = linkSlots[root] else { return }
    for link in links where link != root {
      guard let slot = linkSlots[link], let entry = entries[slot],
        entry.presented.plan?.next.isAutomatic == true
      else { continue }
      entries[target]?.presented.count += entry.presented.count
      remove(slot)
    }
  }

  private func slot(of id: PresentedError.ID) -> Int? {
    entries.firstIndex { $0?.presented.id == id }
  }

  private var arrivals: UInt64 = 0

  private mutating func insert(_ entry: Entry) {
    let isFull = count - linkCount >= capacity
    if entry.presented.link == nil, isFull, !makeSpace(for: entry) { return }
    var entry = entry
    arrivals += 1
    entry.order = arrivals
    let slot = free.popLast() ?? entries.count
    if slot == entries.count { entries.append(entry) } else { entries[slot] = entry }
    slots[entry.key] = slot
    index(entry, at: slot)
    lists.append(slot, to: entry.list)
    count += 1
    changes += 1
  }

  private mutating func remove(_ slot: Int) {
    guard let entry = entries[slot] else { return }
    lists.remove(slot)
    entries[slot] = nil
    free.append(slot)
    if slots[entry.key] == slot { slots[entry.key] = nil }
    if let link = entry.presented.link {
      linkSlots[link] = nil
    } else if let source = entry.presented.source {
      slotsBySource[source]?.remove(slot)
      if slotsBySource[source]?.isEmpty == true { slotsBySource[source] = nil }
    }
    count -= 1
    changes += 1
  }

  private mutating func index(_ entry: Entry, at slot: Int) {
    if let link = entry.presented.link {
      linkSlots[link] = slot
    } else if let source = entry.presented.source {
      slotsBySource[source, default: []].insert(slot)
    }
  }

  private mutating func update(_ slot: Int, with report: Report, at now: Moment?) {
    guard var entry = entries[slot] else { return }
    changes += 1
    entry.presented.recoveryFailed(with: report.failure)
    entry.presented.count += report.count
    (entry.presented.plan, entry.planSince) = (report.plan, now)
    if slots[entry.key] == slot { slots[entry.key] = nil }
    entry.key = EntryKey(report)
    if slots[entry.key] == nil { slots[entry.key] = slot }
    let list = lists.list(of: slot)
    entry.level = Level(entry.presented.error)
    entries[slot] = entry
    guard entry.list != list else { return }
    lists.remove(slot)
    lists.append(slot, to: entry.list)
  }

  /// Makes space for one more; false when `newcomer` itself is dropped.
  private mutating func makeSpace(for newcomer: Entry) -> Bool {
    guard let victim = firstVictim,
      let level = entries[victim]?.level
    else {
      fold(newcomer)
      return false
    }
    dropped += 1
    guard level.severity <= newcomer.level.severity else { return false }
    remove(victim)
    return true
  }

  /// The oldest report of the lowest level; what shows the state of a link is none.
  private var firstVictim: Int? {
    for list in Level.evictionOrder {
      var slot = lists.first(of: list)
      while let candidate = slot {
        if entries[candidate]?.presented.link == nil { return candidate }
        slot = lists.next(after: candidate)
      }
    }
    return nil
  }

  private mutating func fold(_ newcomer: Entry) {
    guard newcomer.level.severity == .critical else {
      dropped += 1
      return
    }
    let target = Level.criticalLists.compactMap { lists.last(of: $0) }.first
    if let target { entries[target]?.presented.count += newcomer.presented.count }
    changes += 1
  }

  mutating func show(_ slot: Int, at now: Moment?) {
    changes += 1
    lists.remove(slot)
    entries[slot]?.heldUntil = nil
    entries[slot]?.levelSince = now
    if let entry = entries[slot] { lists.append(slot, to: entry.list) }
  }
}

extension RecoveryPlan.Step {
  /// Whether it happens without a person's choice.
  var isAutomatic: Bool {
    switch self {
    case .reconnect, .retry, .awaitNetwork: true
    case .askPerson, .giveUp: false
    }
  }
}
