import BridgeTransport
import BridgeWaiting

/// A clock that stands still until it is moved.
///
/// Its instants are those of the continuous clock, so that they compare with what a connection
/// says about when it heard its peer last.
public final class ManualClock: Clock, Sendable {
  /// Instants of the continuous clock.
  public typealias Instant = ContinuousClock.Instant

  private struct Sleeper {
    var deadline: Instant
    var caller: Promise<Bool>
  }

  private struct Watcher {
    var sleepers: Int
    var caller: Promise<Void>
  }

  private struct State {
    var now: Instant
    var lastID = 0
    var sleepers: [Int: Sleeper] = [:]
    var watchers: [Watcher] = []
  }

  /// When it was made; the first instant.
  public let start: Instant
  private let state: Mutex<State>

  /// Creates a clock at `start`.
  public init(start: Instant = ContinuousClock.now) {
    self.start = start
    state = Mutex(State(now: start))
  }

  /// The current instant.
  public var now: Instant { state.withLock { $0.now } }

  /// How far it was moved.
  public var elapsed: Duration { now - start }

  /// The least it can be moved.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How many wait for it.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The earliest deadline that a task waits for.
  public var nextDeadline: Instant? {
    state.withLock { $0.sleepers.values.lazy.map(\.deadline).min() }
  }

  /// Returns when the clock has been moved to `deadline`.
  ///
  /// - Throws: `CancellationError` when the task is canceled first.
  public func sleep(
    until deadline: Instant, tolerance: Duration? = nil
  ) async throws(CancellationError) {
    let caller = Promise<Bool>()
    let id = register(caller, deadline: deadline)
    guard await caller.value(onCancel: { self.cancel(id) }) else { throw CancellationError() }
  }

  /// Moves it by `duration` and wakes all tasks whose deadline that reaches, the earliest first.
  public func advance(by duration: Duration) {
    advance(to: now + duration)
  }

  /// Moves it to `instant`, never backwards.
  public func advance(to instant: Instant) {
    let due = state.withLock { state in
      state.now = max(state.now, instant)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
    }
    for (_, sleeper) in due { sleeper.caller.fulfill(true) }
  }

  /// Moves it to the earliest deadline that a task waits for.
  ///
  /// - Returns: false when no task waits.
  @discardableResult
  public func advanceToNext() -> Bool {
    guard let next = nextDeadline else { return false }
    advance(to: next)
    return true
  }

  /// Returns once `count` or more wait for the clock, so that a test moves it only then.
  public func sleepers(atLeast count: Int) async {
    let caller = Promise<Void>()
    let isThere = state.withLock { state in
      if state.sleepers.count >= count { return true }
      state.watchers.append(Watcher(sleepers: count, caller: caller))
      return false
    }
    if !isThere { await caller.value() }
  }

  /// A canceled task does not become a sleeper.
  private func register(_ caller: Promise<Bool>, deadline: Instant) -> Int {
    let isCanceled = Task.isCancelled
    let (id, watchers) = state.withLock { state -> (Int, [Watcher]) in
      state.lastID += 1
      if isCanceled || deadline <= state.now {
        caller.fulfill(!isCanceled)
        return (state.lastID, [])
      }
      state.sleepers[state.lastID] = Sleeper(deadline: deadline, caller: caller)
      let count = state.sleepers.count
      let ready = state.watchers.filter { $0.sleepers <= count }
      state.watchers.removeAll { $0.sleepers <= count }
      return (state.lastID, ready)
    }
    for watcher in watchers { watcher.caller.fulfill() }
    return id
  }

  private func cancel(_ id: Int) {
    let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
    sleeper?.caller.fulfill(false)
  }
}
