package import BridgeErrors
import BridgeTransport

/// How a channel ended, for any number of waiting callers.
package final class ChannelEnding: Sendable {
  private typealias Answer = Result<ExitStatus, AppError>

  private struct State {
    var answer: Answer?
    var reported: ExitStatus?
    var context: FailureContext?
    var waiters: [Int: Waiter] = [:]
    var last = 0
  }

  private struct Waiter {
    let caller: CheckedContinuation<Answer, Never>
    /// Whether what the server reported is enough.
    let isEarly: Bool
  }

  private let state = Mutex(State())

  /// Creates a pending ending.
  package init() {}

  /// How the command ended; the first answer counts. `context` is what is known beside a failure.
  package func settle(
    _ answer: Result<ExitStatus, AppError>, _ context: FailureContext? = nil
  ) {
    let waiters = state.withLock { state in
      guard state.answer == nil else { return [Waiter]() }
      state.answer = answer
      state.context = context
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.caller.resume(returning: answer) }
  }

  /// Records the server's status, though more output may follow.
  package func report(_ status: ExitStatus) {
    let waiters = state.withLock { state in
      guard state.answer == nil, state.reported == nil else { return [Waiter]() }
      state.reported = status
      let early = state.waiters.filter(\.value.isEarly)
      for id in early.keys { state.waiters[id] = nil }
      return Array(early.values)
    }
    for waiter in waiters { waiter.caller.resume(returning: .success(status)) }
  }

  /// The status, if it was settled without a failure.
  package var known: ExitStatus? { state.withLock { try? $0.answer?.get() } }

  /// The context of the failure it was settled with.
  package var context: FailureContext? { state.withLock { $0.context } }

  /// Waits for the status, once it is settled; `early` also what was only reported.
  ///
  /// - Throws: what ended it; `cancelled`.
  package func wait(early isEarly: Bool = false) async throws(AppError) -> ExitStatus {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Answer, Never>) in
        let isCancelled = Task.isCancelled
        let answer = state.withLock { state -> Answer? in
          if isEarly, let status = state.reported { return .success(status) }
          if let answer = state.answer { return answer }
          if isCancelled { return .failure(.cancelled) }
          state.waiters[id] = Waiter(caller: waiter, isEarly: isEarly)
          return nil
        }
        if let answer { waiter.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
      waiter?.caller.resume(returning: .failure(.cancelled))
    }
    return try answer.get()
  }
}
