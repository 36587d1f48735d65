public import BridgeRecovery
import BridgeTransport

/// The events of a supervisor from the moment it was asked for, for one reader.
///
/// A reader that is more than `RecoveryDefaults.eventBuffer` events behind loses the oldest; in
/// their place stands one `.missed` that says how many. The sequence ends with the supervisor.
public struct RecoveryEvents: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = RecoveryEvent
  /// It does not fail.
  public typealias Failure = Never

  fileprivate let stream: AsyncStream<RecoveryEvent>
  fileprivate let start: UInt64

  /// A reader at the beginning.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: stream.makeAsyncIterator(), last: start)
  }

  /// One pass over the events.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<RecoveryEvent>.Iterator
    fileprivate var last: UInt64
    private var pending: RecoveryEvent?

    fileprivate init(base: AsyncStream<RecoveryEvent>.Iterator, last: UInt64) {
      self.base = base
      self.last = last
    }

    /// The next event; nil when the supervisor is gone or the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> RecoveryEvent? {
      if let event = pending {
        pending = nil
        return event
      }
      guard let event = await base.next(isolation: actor) else { return nil }
      let missed = event.sequence - last - 1
      last = event.sequence
      guard missed > 0 else { return event }
      pending = event
      return RecoveryEvent(
        sequence: event.sequence - 1, at: event.at, step: .missed(count: Int(missed)))
    }
  }
}

/// Hands events to many readers without ever waiting for one.
final class EventFeed: Sendable {
  private struct State {
    var readers: [(id: Int, continuation: AsyncStream<RecoveryEvent>.Continuation)] = []
    var lastReader = 0
    var last: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  func subscribe() -> RecoveryEvents {
    let (stream, continuation) = AsyncStream.makeStream(
      of: RecoveryEvent.self, bufferingPolicy: .bufferingNewest(RecoveryDefaults.eventBuffer))
    let (reader, start, isFinished) = state.withLock { state in
      state.lastReader += 1
      if !state.isFinished { state.readers.append((state.lastReader, continuation)) }
      return (state.lastReader, state.last, state.isFinished)
    }
    continuation.onTermination = { _ in self.remove(reader) }
    if isFinished { continuation.finish() }
    return RecoveryEvents(stream: stream, start: start)
  }

  func publish(_ event: RecoveryEvent) {
    let readers = state.withLock { state in
      state.last = event.sequence
      return state.readers
    }
    for reader in readers { reader.continuation.yield(event) }
  }

  func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.continuation.finish() }
  }

  private func remove(_ reader: Int) {
    state.withLock { $0.readers.removeAll { $0.id == reader } }
  }
}
