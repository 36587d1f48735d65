package import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// How a channel ended, for any number of waiting callers.
package final class ChannelEnding: Sendable {
  private typealias Answer = Result<ExitStatus, AppError>

  private struct State {
    var answer: Answer?
    var reported: ExitStatus?
    var context: FailureContext?
    /// Callers for which what the server reported is enough, and those for which it is not.
    var early = WaitList<Answer>()
    var late = WaitList<Answer>()

    func known(early isEarly: Bool) -> Answer? {
      if isEarly, let reported { return .success(reported) }
      return answer
    }
  }

  private let state = Mutex(State())

  /// Creates a pending ending.
  package init() {}

  /// How the command ended; the first answer counts. `context` is what is known beside a failure.
  package func settle(
    _ answer: Result<ExitStatus, AppError>, _ context: FailureContext? = nil
  ) {
    let callers = state.withLock { state in
      guard state.answer == nil else { return [WaitList<Answer>.Caller]() }
      state.answer = answer
      state.context = context
      return state.early.takeAll() + state.late.takeAll()
    }
    for caller in callers { caller.resume(returning: answer) }
  }

  /// Records the server's status, though more output may follow.
  package func report(_ status: ExitStatus) {
    let callers = state.withLock { state in
      guard state.answer == nil, state.reported == nil else {
        return [WaitList<Answer>.Caller]()
      }
      state.reported = status
      return state.early.takeAll()
    }
    for caller in callers { caller.resume(returning: .success(status)) }
  }

  /// The status, if it was settled without a failure.
  package var known: ExitStatus? { state.withLock { try? $0.answer?.get() } }

  /// The context of the failure it was settled with.
  package var context: FailureContext? { state.withLock { $0.context } }

  /// Waits for the status, once it is settled; `early` also what was only reported.
  ///
  /// - Throws: what ended it; `cancelled`.
  package func wait(early isEarly: Bool = false) async throws(AppError) -> ExitStatus {
    // What is known is answered to a canceled caller, too.
    if let known = state.withLock({ $0.known(early: isEarly) }) { return try known.get() }
    let list = isEarly ? \State.early : \State.late
    let answer = await state.wait(in: list, canceled: .failure(.cancelled)) { state in
      state.known(early: isEarly)
    }
    return try answer.get()
  }
}
