public import BridgeRecovery

/// The events of one link, for one reader; bounded like those of the supervisor. They end after
/// `.closed`, or with the supervisor.
public struct LinkEvents: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = RecoveryEvent
  /// It does not fail.
  public typealias Failure = Never

  let all: RecoveryEvents
  let source: String

  /// A reader; two of one sequence share its events.
  public func makeAsyncIterator() -> Iterator {
    Iterator(all: all.makeAsyncIterator(), source: source)
  }

  /// One pass over the events.
  public struct Iterator: AsyncIteratorProtocol {
    var all: RecoveryEvents.Iterator
    let source: String
    private var isOver = false

    init(all: RecoveryEvents.Iterator, source: String) {
      self.all = all
      self.source = source
    }

    /// The next event; nil when the link is closed, or the task is canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> RecoveryEvent? {
      while !isOver, let event = await all.next(isolation: actor) {
        if case .missed = event.step { return event }
        guard event.source == source else { continue }
        if case .closed = event.step { isOver = true }
        return event
      }
      return nil
    }
  }
}
