import BridgeRecovery
import BridgeWaiting

/// Keeps events for many readers without ever waiting for one: once for all who read everything,
/// and once for those who read one source, whose events others cannot push out.
final class EventStream: Sendable {
  enum Answer {
    case event(RecoveryEvent)
    case nothing
    case end
  }

  private typealias Waiter = WaitList<Void>.Caller

  fileprivate struct Reader {
    let ring: Int
    /// The number of the first event that it has not had.
    var next: UInt64
    var waiters = WaitList<Void>()
  }

  fileprivate struct State {
    var readers: [Int: Reader] = [:]
    var rings: [Int: EventRing] = [:]
    /// The ring of everything, and of each source that is read.
    var everything: Int?
    var bySource: [String: Int] = [:]
    var lastNumber = 0
    var isFinished = false

    /// The iterators of one reader that wait; none of a reader that has ended.
    subscript(waitersOf reader: Int) -> WaitList<Void> {
      get { readers[reader]?.waiters ?? WaitList() }
      set { readers[reader]?.waiters = newValue }
    }
  }

  private let state = Mutex(State())

  /// Registers a reader of the events of `source`, or of all.
  func subscribe(to source: String? = nil) -> RecoveryEvents {
    let reader = state.withLock { state in
      let ring = state.ring(of: source)
      state.rings[ring]?.readers += 1
      state.readers[state.nextNumber()] = Reader(ring: ring, next: state.rings[ring]?.end ?? 0)
      return state.lastNumber
    }
    return RecoveryEvents(subscription: .init(self, reader))
  }

  func publish(_ event: RecoveryEvent) {
    let waiters = state.withLock { state -> [Waiter] in
      var waiters: [Waiter] = []
      if let ring = state.everything { waiters += state.keep(event, in: ring) }
      guard let source = event.source, let ring = state.bySource[source] else { return waiters }
      waiters += state.keep(event, in: ring)
      guard case .closed = event.step else { return waiters }
      // Nothing follows: what has this name later is another link.
      state.rings[ring]?.isOver = true
      state.bySource[source] = nil
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func finish() {
    let waiters = state.withLock { state in
      state.isFinished = true
      return state.readers.keys.flatMap { state.readers[$0]?.waiters.takeAll() ?? [] }
    }
    for waiter in waiters { waiter.resume() }
  }

  /// What is next for a reader.
  func take(_ reader: Int) -> Answer { state.withLock { $0.take(reader) } }

  /// Waits until there may be something for a reader, or never will be.
  func wait(_ reader: Int) async {
    await state.wait(in: \.[waitersOf: reader], canceled: ()) { state in
      state.mustWait(reader) ? nil : ()
    }
  }

  /// Nothing more is read by a reader.
  func end(_ reader: Int) {
    let waiters = state.withLock { state -> [Waiter] in
      guard var gone = state.readers.removeValue(forKey: reader) else { return [] }
      state.release(gone.ring)
      return gone.waiters.takeAll()
    }
    for waiter in waiters { waiter.resume() }
  }
}

extension EventStream.State {
  fileprivate mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  fileprivate mutating func ring(of source: String?) -> Int {
    if let known = source.map({ bySource[$0] }) ?? everything { return known }
    let ring = nextNumber()
    rings[ring] = EventRing()
    if let source { bySource[source] = ring } else { everything = ring }
    return ring
  }

  fileprivate mutating func keep(
    _ event: RecoveryEvent, in ring: Int
  ) -> [WaitList<Void>.Caller] {
    rings[ring]?.keep(event)
    return readers.keys.flatMap { reader in
      readers[reader]?.ring == ring ? readers[reader]?.waiters.takeAll() ?? [] : []
    }
  }

  fileprivate mutating func take(_ reader: Int) -> EventStream.Answer {
    guard let (number, next) = readers[reader].map({ ($0.ring, $0.next) }),
      let ring = rings[number]
    else { return .end }
    guard next < ring.end else {
      if readers.values.allSatisfy({ $0.ring != number || $0.next >= ring.end }) {
        rings[number]?.clear()
      }
      return isFinished || ring.isOver ? .end : .nothing
    }
    let (event, following) = ring.event(next)
    readers[reader]?.next = following
    return .event(event)
  }

  fileprivate func mustWait(_ reader: Int) -> Bool {
    guard let reader = readers[reader], let ring = rings[reader.ring] else { return false }
    return reader.next >= ring.end && !ring.isOver && !isFinished
  }

  /// The last reader takes its ring with it.
  fileprivate mutating func release(_ number: Int) {
    rings[number]?.readers -= 1
    guard rings[number]?.readers == 0 else { return }
    rings[number] = nil
    if everything == number { everything = nil }
    bySource = bySource.filter { $0.value != number }
  }
}

/// The newest events of one subject; the oldest make way.
private struct EventRing: Sendable {
  var readers = 0
  /// Nothing is added any more.
  var isOver = false
  /// The number of the next event.
  private(set) var end: UInt64 = 0
  /// From `head` on, events that a reader may still read; before it, events to be discarded.
  private var events: [RecoveryEvent] = []
  private var head = 0

  private var first: UInt64 { end - UInt64(events.count - head) }

  mutating func keep(_ event: RecoveryEvent) {
    end += 1
    events.append(event)
    guard events.count - head > RecoveryDefaults.eventBuffer else { return }
    head += 1
    guard head > RecoveryDefaults.eventBuffer else { return }
    events.removeFirst(head)
    head = 0
  }

  /// Event `number`, which is before `end`, or one in the place of those that made way, and the
  /// number of the one after it.
  func event(_ number: UInt64) -> (RecoveryEvent, following: UInt64) {
    guard number < first else {
      return (events[head + Int(number - first)], number + 1)
    }
    let next = events[head]
    let missed = RecoveryEvent(
      sequence: next.sequence - 1, at: next.at, step: .missed(count: Int(first - number)))
    return (missed, first)
  }

  /// Forgets what all readers have had.
  mutating func clear() {
    events.removeAll(keepingCapacity: events.capacity <= 256)
    head = 0
  }
}
