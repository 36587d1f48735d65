/// One answer that comes later, and the caller that waits for it.
///
/// The first answer counts, from any thread, also before the caller waits: a caller is answered
/// exactly once. Where many wait for one thing, a `WaitList` holds them.
public final class Promise<Answer: Sendable>: Sendable {
  @usableFromInline enum State {
    case empty
    case waiting(CheckedContinuation<Answer, Never>)
    case answered(Answer)
  }

  @usableFromInline let state = Mutex(State.empty)

  /// Without an answer.
  @inlinable public init() {}

  /// Answers the caller, now or as soon as it waits; false where it has an answer already.
  @inlinable @discardableResult public func fulfill(_ answer: Answer) -> Bool {
    let (caller, isFirst) = state.withLock { state -> (CheckedContinuation<Answer, Never>?, Bool) in
      switch state {
      case .empty:
        state = .answered(answer)
        return (nil, true)
      case .waiting(let caller):
        state = .answered(answer)
        return (caller, true)
      case .answered: return (nil, false)
      }
    }
    caller?.resume(returning: answer)
    return isFirst
  }

  /// The answer; for one caller. Cancellation does not end the wait: the owner must answer.
  @inlinable public func value() async -> Answer {
    await withCheckedContinuation { caller in
      let answer = state.withLock { state -> Answer? in
        switch state {
        case .answered(let answer): return answer
        case .waiting: preconditionFailure("a promise has one caller")
        case .empty:
          state = .waiting(caller)
          return nil
        }
      }
      if let answer { caller.resume(returning: answer) }
    }
  }

  /// The answer; for one caller. `onCancel` is called when its task is canceled, at once where it
  /// was before, and leads to an answer.
  @inlinable public func value(onCancel: @escaping @Sendable () -> Void) async -> Answer {
    await withTaskCancellationHandler {
      await value()
    } onCancel: {
      onCancel()
    }
  }
}

extension Promise<Void> {
  /// Resumes the caller.
  @inlinable @discardableResult public func fulfill() -> Bool { fulfill(()) }
}
