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
  public var count: Int { order.count }
  /// Those of them that show the state of a link.
  public private(set) var linkCount = 0

  /// Where the entries are, in the order of showing; what is held back comes last.
  private(set) var order: [Place] = []
  private(set) var entries: [PresentedError.ID: Entry] = [:]
  private var ids: [Subject: PresentedError.ID] = [:]
  private var arrivals: UInt64 = 0

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
  public var shown: PresentedError? { top?.presented }

  /// The errors behind the shown one, the next first. Takes time for each.
  public var waiting: [PresentedError] { visible.dropFirst().map(\.presented) }

  /// The entry with this id, shown, waiting or held back.
  public func entry(_ id: PresentedError.ID) -> PresentedError? { entries[id]?.presented }

  /// The shown entry.
  var top: Entry? {
    guard let place = order.first, place.list != .held else { return nil }
    return entries[place.id]
  }

  /// What is not held back, in the order of showing.
  var visible: [Entry] {
    order.prefix(upTo: start(of: .held)).compactMap { entries[$0.id] }
  }

  /// Takes an error in. A cancellation is none.
  public mutating func push(_ error: AppError, source: String? = nil) {
    push(Report(error: error, source: source))
  }

  /// Takes a report in at `now`; without an instant it is shown at once and does not age.
  public mutating func push(_ report: Report, at now: Moment? = nil) {
    guard report.error != .cancelled else { return }
    let key = EntryKey(report)
    if let id = ids[.report(key)] {
      entries[id]?.presented.count += report.count
      entries[id]?.refresh(report, at: now)
      changes += 1
      return
    }
    insert(Entry(report, id: PresentedError.id(from: &generator), key: key, at: now))
  }

  /// Takes the shown error away; the next one is shown.
  public mutating func dismiss() {
    if let shown { dismiss(shown.id) }
  }

  /// Takes the error with this id away, shown or not. The entry of a link that still needs a
  /// person is moved to the end of its level.
  public mutating func dismiss(_ id: PresentedError.ID) {
    guard let entry = entries[id] else { return }
    guard entry.isStanding else { return remove(id) }
    move(id)
    changes += 1
  }

  /// Removes the entries of the operation `source`, which works again.
  public mutating func resolve(source: String) {
    let resolved = entries.values.filter { entry in
      entry.presented.link == nil && entry.presented.source == source
    }
    for entry in resolved { remove(entry.presented.id) }
  }

  /// Removes the entry of a link that is up, suspended or closed.
  public mutating func resolve(_ link: ConnectionID) {
    if let id = ids[.link(link)] { remove(id) }
  }

  /// A link failed: its entry stays the same one, with the newest error. Without such an entry, or
  /// without a link, this is a new report.
  public mutating func recoveryFailed(_ report: Report, at now: Moment? = nil) {
    guard report.error != .cancelled else { return }
    guard let link = report.link, let id = ids[.link(link)] else {
      push(report, at: now)
      return
    }
    if !report.settles, entries[id]?.heldUntil != nil { show(id, at: now) }
    update(id, with: report, at: now)
  }

  /// A chosen option of the entry with this id failed (G-39); nil means with the same error.
  public mutating func recoveryFailed(
    _ id: PresentedError.ID, with error: AppError?, context: FailureContext? = nil,
    at now: Moment? = nil
  ) {
    guard let entry = entries[id] else { return }
    let newest = error ?? entry.presented.error
    var report = Report(
      error: newest, source: entry.presented.source, context: context,
      plan: entry.plan(at: now))
    report.link = entry.presented.link
    update(id, with: report, at: now)
  }

  /// What the entries of `links` report is the echo of what happened to `root`: those about which
  /// something happens by itself become a count on its entry. Without such an entry nothing
  /// changes.
  public mutating func inhibit(_ links: [ConnectionID], under root: ConnectionID) {
    guard let target = ids[.link(root)] else { return }
    for link in links where link != root {
      guard let id = ids[.link(link)], let entry = entries[id],
        entry.presented.plan?.next.isAutomatic == true
      else { continue }
      entries[target]?.presented.count += entry.presented.count
      remove(id)
    }
  }

  private mutating func insert(_ entry: Entry) {
    let isFull = count - linkCount >= capacity
    if entry.presented.link == nil, isFull, !makeSpace(for: entry) { return }
    let id = entry.presented.id
    entries[id] = entry
    ids[.report(entry.key)] = id
    if let link = entry.presented.link {
      ids[.link(link)] = id
      linkCount += 1
    }
    place(id)
    changes += 1
  }

  private mutating func remove(_ id: PresentedError.ID) {
    unplace(id)
    guard let entry = entries.removeValue(forKey: id) else { return }
    if ids[.report(entry.key)] == id { ids[.report(entry.key)] = nil }
    if let link = entry.presented.link {
      ids[.link(link)] = nil
      linkCount -= 1
    }
    changes += 1
  }

  private mutating func update(
    _ id: PresentedError.ID, with report: Report, at now: Moment?
  ) {
    guard var entry = entries[id] else { return }
    changes += 1
    entry.presented.recoveryFailed(with: report.failure)
    entry.presented.count += report.count
    (entry.presented.plan, entry.planSince) = (report.plan, now)
    if ids[.report(entry.key)] == id { ids[.report(entry.key)] = nil }
    entry.key = EntryKey(report)
    if ids[.report(entry.key)] == nil { ids[.report(entry.key)] = id }
    entry.level = Level(entry.presented.error)
    entries[id] = entry
    if entry.list != entry.place?.list { move(id) }
  }

  /// Makes space for one more; false when `newcomer` itself is dropped.
  private mutating func makeSpace(for newcomer: Entry) -> Bool {
    guard let victim = firstVictim else {
      fold(newcomer)
      return false
    }
    dropped += 1
    guard victim.level.severity <= newcomer.level.severity else { return false }
    remove(victim.presented.id)
    return true
  }

  /// The oldest report of the lowest level; what shows the state of a link is none.
  private var firstVictim: Entry? {
    for list in List.evicted {
      let victim = places(in: list).first { entries[$0.id]?.presented.link == nil }
      if let victim { return entries[victim.id] }
    }
    return nil
  }

  private mutating func fold(_ newcomer: Entry) {
    guard newcomer.level.severity == .critical else {
      dropped += 1
      return
    }
    let newest = List.critical.compactMap { places(in: $0).last }.first
    if let newest { entries[newest.id]?.presented.count += newcomer.presented.count }
    changes += 1
  }

  /// Raises the level of an entry by one.
  mutating func lift(_ id: PresentedError.ID, at now: Moment) {
    guard let severity = entries[id]?.level.severity,
      let higher = ErrorSeverity(rawValue: severity.rawValue + 1)
    else { return }
    entries[id]?.level.severity = higher
    show(id, at: now)
  }

  /// Puts an entry, held back or not, at the end of its level.
  mutating func show(_ id: PresentedError.ID, at now: Moment?) {
    changes += 1
    entries[id]?.heldUntil = nil
    entries[id]?.levelSince = now
    move(id)
  }

  // MARK: The order

  /// The first place of `list`, taken or not: the order is sorted.
  private func start(of list: List) -> Int {
    order.partitioningIndex { $0.list >= list }
  }

  /// The places of what is in `list`, the oldest first.
  func places(in list: List) -> ArraySlice<Place> {
    order[start(of: list)..<order.partitioningIndex { $0.list > list }]
  }

  /// The oldest of what is in `list`.
  func oldest(in list: List) -> Entry? {
    places(in: list).first.flatMap { entries[$0.id] }
  }

  private mutating func move(_ id: PresentedError.ID) {
    unplace(id)
    place(id)
  }

  /// Puts an entry without a place at the end of its list.
  private mutating func place(_ id: PresentedError.ID) {
    guard let list = entries[id]?.list else { return }
    arrivals += 1
    let place = Place(list: list, arrival: arrivals, id: id)
    order.insert(place, at: order.partitioningIndex { $0.list > list })
    entries[id]?.place = place
  }

  private mutating func unplace(_ id: PresentedError.ID) {
    guard let place = entries[id]?.place else { return }
    order.remove(at: order.partitioningIndex { !($0 < place) })
    entries[id]?.place = nil
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

extension [SeverityQueue.Place] {
  /// The first index of a sorted array at which `predicate` holds; the end where it nowhere does.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
