import BridgeErrors
import BridgeWaiting

/// The changes of all approvals from the call of `Approvals.attach()` on, for one reader.
///
/// Nothing is lost on a reader that is at most `ApprovalEvents.limit` changes behind. One that is
/// further behind loses the oldest; one `.missed` in their place says how many. It ends with the
/// approvals, and when its task is canceled.
public struct ApprovalEvents: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = ApprovalEvent
  /// It does not fail.
  public typealias Failure = Never

  /// How many changes are kept for a reader.
  public static let limit = 256

  let queue: ApprovalEventQueue

  /// A reader; two of one value share its events.
  public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

  /// One pass over the events.
  public struct Iterator: AsyncIteratorProtocol {
    let queue: ApprovalEventQueue

    /// The next event; nil when the approvals are gone or the task is canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Never) -> ApprovalEvent? {
      await queue.next()
    }
  }
}

/// The changes that a reader has not had.
final class ApprovalEventQueue: Sendable {
  private struct State {
    var events: ArraySlice<ApprovalChange> = []
    var missed = 0
    var isOver = false

    mutating func take() -> ApprovalEvent? {
      guard missed == 0 else {
        defer { missed = 0 }
        return .missed(count: missed)
      }
      return events.popFirst().map { .changed($0) }
    }
  }

  private let state = Mutex(State())
  private let changes = Changes()

  func append(_ change: ApprovalChange) {
    state.withLock { state in
      state.events.append(change)
      guard state.events.count > ApprovalEvents.limit else { return }
      state.events.removeFirst()
      state.missed += 1
    }
    changes.announce()
  }

  func finish() {
    state.withLock { $0.isOver = true }
    changes.announce()
  }

  func next() async -> ApprovalEvent? {
    while true {
      let version = changes.version
      let (event, isOver) = state.withLock { ($0.take(), $0.isOver) }
      if event != nil || isOver { return event }
      do throws(AppError) {
        try await changes.wait(after: version)
      } catch {
        return nil
      }
    }
  }
}
