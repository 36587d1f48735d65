import NIOCore

/// The newest events of a peer or proxy, bounded, with the callers that wait for one.
struct EventLog<Event: Sendable> {
  private(set) var events: [Event] = []
  /// How many older ones were lost.
  private(set) var dropped = 0
  private var watchers: [Int: Watcher] = [:]
  private var count = 0
  private let capacity: Int

  private struct Watcher {
    var matches: @Sendable (Event) -> Bool
    var caller: EventLoopPromise<Event?>
  }

  init(capacity: Int = 4_096) { self.capacity = capacity }

  mutating func append(_ event: Event) {
    // Dropped by the half, so that a full journal costs nothing per event.
    if events.count == capacity {
      events.removeFirst(capacity / 2)
      dropped += capacity / 2
    }
    events.append(event)
    for (number, watcher) in watchers where watcher.matches(event) {
      answer(number, with: event)
    }
  }

  mutating func reserve() -> Int {
    count += 1
    return count
  }

  mutating func watch(
    _ number: Int, for matches: @escaping @Sendable (Event) -> Bool,
    _ caller: EventLoopPromise<Event?>
  ) { watchers[number] = Watcher(matches: matches, caller: caller) }

  mutating func answer(_ number: Int, with event: Event?) {
    watchers.removeValue(forKey: number)?.caller.succeed(event)
  }

  /// Ends the journal: waiting callers receive nil.
  mutating func end() {
    for number in watchers.keys.sorted() { answer(number, with: nil) }
  }
}

/// An actor that lives on an event loop and keeps a journal.
protocol Journaling: Actor {
  associatedtype Event: Sendable
  nonisolated var loop: any EventLoop { get }
  var journal: EventLog<Event> { get set }
  var isStopped: Bool { get }
}

extension Journaling {
  /// The first event that matches, once there is one.
  func awaitEvent(
    where matches: @escaping @Sendable (Event) -> Bool
  ) async throws(FaultError) -> Event {
    if let event = journal.events.first(where: matches) { return event }
    guard !isStopped else { throw .stopped }
    let number = journal.reserve()
    let caller = loop.makePromise(of: Event?.self)
    journal.watch(number, for: matches, caller)
    let event = await withTaskCancellationHandler {
      try? await caller.futureResult.get()
    } onCancel: {
      loop.execute { self.assumeIsolated { $0.journal.answer(number, with: nil) } }
    }
    guard let event else { throw .stopped }
    return event
  }
}
