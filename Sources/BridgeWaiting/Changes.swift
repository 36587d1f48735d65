package import BridgeErrors

/// Resumes callers that wait for something to change, each time it does.
///
/// An actor reads `version`, checks its condition and calls `wait(after:)` without another `await`
/// in between: a change that comes before the caller is suspended is not missed.
package final class Changes: Sendable {
  private struct State {
    var version = 0
    var callers = WaitList<Void>()
  }

  private let state = Mutex(State())

  /// Nothing has changed.
  package init() {}

  /// Counts the changes.
  package var version: Int { state.withLock { $0.version } }

  /// Resumes all callers.
  package func announce() {
    let callers = state.withLock { state in
      state.version += 1
      return state.callers.takeAll()
    }
    for caller in callers { caller.resume() }
  }

  /// Returns once there was a change after `version`.
  ///
  /// - Throws: `cancelled` when the task is canceled.
  package func wait(after version: Int) async throws(AppError) {
    await state.wait(in: \.callers, canceled: ()) { $0.version > version ? () : nil }
    if Task.isCancelled { throw .cancelled }
  }
}
