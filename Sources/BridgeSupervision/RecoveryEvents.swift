public import BridgeRecovery
import BridgeTransport
import BridgeWaiting

/// The events of a supervisor from the call of `events()` on, for one reader.
///
/// Nothing is lost on a reader that is at most `RecoveryDefaults.eventBuffer` events behind. One
/// that is further behind loses the oldest; in their place stands one `.missed` that says how many,
/// and `Supervisor.state(of:)` has the resulting state. The sequence ends with the supervisor:
/// after `shutDown`, or when it is released.
public struct RecoveryEvents: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = RecoveryEvent
  /// It does not fail.
  public typealias Failure = Never

  fileprivate let subscription: Subscription

  /// A reader; two of one subscription share its events.
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: subscription)
  }

  /// One pass over the events.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription

    /// The next event; nil when the supervisor is gone or the task is canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> RecoveryEvent? {
      await subscription.next()
    }
  }

  /// The registration of one reader, while the reader exists.
  fileprivate final class Subscription: Sendable {
    private let eventStream: EventStream
    private let reader: Int

    init(_ eventStream: EventStream, _ reader: Int) {
      self.eventStream = eventStream
      self.reader = reader
    }

    deinit { eventStream.end(reader) }

    func next() async -> RecoveryEvent? {
      while true {
        switch eventStream.take(reader) {
        case .event(let event): return event
        case .end: return nil
        case .nothing: break
        }
        await eventStream.wait(reader)
        if Task.isCancelled { eventStream.end(reader) }
      }
    }
  }
}

/// Keeps events for many readers, once for all, without ever waiting for one.
final class EventStream: Sendable {
  fileprivate enum Answer {
    case event(RecoveryEvent)
    case nothing
    case end
  }

  fileprivate typealias Waiter = WaitList<Void>.Caller

  fileprivate struct Reader {
    /// The number of the first event it has not had.
    var next: UInt64
    var waiters = WaitList<Void>()
  }

  fileprivate struct State {
    var readers: [Int: Reader] = [:]
    var lastReader = 0
    /// From `head` on, events that a reader may still read; before it, events to be discarded.
    var events: [RecoveryEvent] = []
    var head = 0
    /// The number of the next event.
    var end: UInt64 = 1
    var isFinished = false

    var first: UInt64 { end - UInt64(events.count - head) }

    /// The iterators of one reader that wait; none of a reader that has ended.
    subscript(waitersOf reader: Int) -> WaitList<Void> {
      get { readers[reader]?.waiters ?? WaitList() }
      set { readers[reader]?.waiters = newValue }
    }
  }

  private let state = Mutex(State())

  func subscribe() -> RecoveryEvents {
    let reader = state.withLock { state in
      state.lastReader += 1
      state.readers[state.lastReader] = Reader(next: state.end)
      return state.lastReader
    }
    return RecoveryEvents(subscription: .init(self, reader))
  }

  func publish(_ event: RecoveryEvent) {
    let waiters = state.withLock { state -> [Waiter] in
      state.end = event.sequence + 1
      guard !state.readers.isEmpty else { return [] }
      state.keep(event)
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  func finish() {
    let waiters = state.withLock { state in
      state.isFinished = true
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// What is next for a reader.
  fileprivate func take(_ reader: Int) -> Answer {
    state.withLock { state in
      guard let next = state.readers[reader]?.next else { return .end }
      guard next < state.end else {
        state.forgetWhatAllHave()
        return state.isFinished ? .end : .nothing
      }
      if next < state.first { return .event(state.loss(of: reader, from: next)) }
      state.readers[reader]?.next = next + 1
      return .event(state.events[state.head + Int(next - state.first)])
    }
  }

  /// Waits until there may be something for a reader, or never will be.
  fileprivate func wait(_ reader: Int) async {
    await state.wait(in: \.[waitersOf: reader], canceled: ()) { state in
      guard let next = state.readers[reader]?.next, next >= state.end, !state.isFinished else {
        return ()
      }
      return nil
    }
  }

  /// Nothing more is read by a reader.
  fileprivate func end(_ reader: Int) {
    let waiters = state.withLock { state in
      var gone = state.readers.removeValue(forKey: reader)
      state.forgetWhatAllHave()
      return gone?.waiters.takeAll() ?? []
    }
    for waiter in waiters { waiter.resume() }
  }
}

extension EventStream.State {
  fileprivate mutating func keep(_ event: RecoveryEvent) {
    events.append(event)
    guard events.count - head > RecoveryDefaults.eventBuffer else { return }
    head += 1
    guard head > RecoveryDefaults.eventBuffer else { return }
    events.removeFirst(head)
    head = 0
  }

  fileprivate mutating func takeWaiters() -> [WaitList<Void>.Caller] {
    readers.keys.flatMap { readers[$0]?.waiters.takeAll() ?? [] }
  }

  /// One event in the place of those that `reader` came too late for.
  fileprivate mutating func loss(of reader: Int, from next: UInt64) -> RecoveryEvent {
    let start = first
    readers[reader]?.next = start
    return RecoveryEvent(
      sequence: start - 1, at: events[head].at, step: .missed(count: Int(start - next)))
  }

  fileprivate mutating func forgetWhatAllHave() {
    guard !events.isEmpty, readers.values.allSatisfy({ $0.next >= end }) else { return }
    events.removeAll(keepingCapacity: events.capacity <= 256)
    head = 0
  }
}
