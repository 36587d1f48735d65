public import BridgeRecovery

/// The events of one link, for one reader; bounded like those of the supervisor, by its own events
/// alone. They end after `.closed`, which no reader misses, or with the supervisor.
public struct LinkEvents: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = RecoveryEvent
  /// It does not fail.
  public typealias Failure = Never

  let events: RecoveryEvents

  /// A reader; two of one sequence share its events.
  public func makeAsyncIterator() -> Iterator {
    Iterator(events: events.makeAsyncIterator())
  }

  /// One pass over the events.
  public struct Iterator: AsyncIteratorProtocol {
    var events: RecoveryEvents.Iterator

    /// The next event; nil when the link is closed, or the task is canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> RecoveryEvent? {
      await events.next(isolation: actor)
    }
  }
}
