public import BridgeRecovery
import BridgeTransport
import BridgeWaiting

/// The events of a supervisor from the call of `events()` on, for one reader.
///
/// Nothing is lost on a reader that is at most `RecoveryDefaults.eventBuffer` events behind. One
/// that is further behind loses the oldest; in their place stands one `.missed` that says how many,
/// and `Link.state` has the resulting state. The sequence ends with the supervisor: after
/// `shutDown`, or when a supervisor without links is released.
public struct RecoveryEvents: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = RecoveryEvent
  /// It does not fail.
  public typealias Failure = Never

  let subscription: Subscription

  /// A reader; two of one subscription share its events.
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: subscription)
  }

  /// One pass over the events.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription

    /// The next event; nil when the supervisor is gone or the task is canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> RecoveryEvent? {
      await subscription.next()
    }
  }

  /// The registration of one reader, while the reader exists.
  final class Subscription: Sendable {
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
