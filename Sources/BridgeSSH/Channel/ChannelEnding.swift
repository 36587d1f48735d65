package import BridgeErrors
import BridgeTransport

/// How a channel ended, for as many as want to know.
package final class ChannelEnding: Sendable {
  private typealias Answer = Result<ExitStatus, AppError>

  private struct State {
    var answer: Answer?
    var waiters: [Int: CheckedContinuation<Answer, Never>] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  /// Nothing is known yet.
  package init() {}

  /// The first word counts.
  package func settle(_ answer: Result<ExitStatus, AppError>) {
    let waiters = state.withLock { state in
      guard state.answer == nil else { return [CheckedContinuation<Answer, Never>]() }
      state.answer = answer
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: answer) }
  }

  /// What was settled, once it is.
  ///
  /// - Throws: what ended it; `cancelled`.
  package func wait() async throws(AppError) -> ExitStatus {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Answer, Never>) in
        let isCancelled = Task.isCancelled
        let answer = state.withLock { state -> Answer? in
          if let answer = state.answer { return answer }
          if isCancelled { return .failure(.cancelled) }
          state.waiters[id] = waiter
          return nil
        }
        if let answer { waiter.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
      waiter?.resume(returning: .failure(.cancelled))
    }
    return try answer.get()
  }
}
