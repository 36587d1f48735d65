public import BridgeErrors
import BridgeTransport

/// What a person sees, from the call of `Supervisor.presented` on, for one reader: the shown error
/// first, then those behind it, most severe first.
///
/// The first element is the present state, empty where all is well. A new one follows when an error
/// is added, changed or removed, and each second while one counts down to the next attempt. A slow
/// reader skips states and has the newest one next. The sequence ends with the supervisor: after
/// `shutDown`, or when a supervisor without links is released.
public struct PresentedErrors: AsyncSequence, Sendable {
  /// The errors on the screen. The time of a plan is what is left of its wait.
  public typealias Element = [PresentedError]
  /// It does not fail.
  public typealias Failure = Never

  let reader: NewestValue<[PresentedError]>.Reader

  /// A reader; two of one sequence share its elements.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

  /// One pass over the states.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: NewestValue<[PresentedError]>.Reader

    /// The newest state that was not read yet; nil when the supervisor is gone or the task is
    /// canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> [PresentedError]? {
      await reader.next()
    }
  }
}
