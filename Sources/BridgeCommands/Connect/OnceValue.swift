import BridgeTransport

/// A value that is set once, for any number of callers that wait for it.
final class OnceValue<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var callers: [Int: CheckedContinuation<Void, Never>] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  /// The value; nil while it is not set.
  var current: Value? { state.withLock { $0.value } }

  /// Sets it; only the first value counts.
  func set(_ value: Value) {
    let callers = state.withLock { state in
      if state.value == nil { state.value = value }
      defer { state.callers = [:] }
      return state.callers.values
    }
    for caller in callers { caller.resume() }
  }

  /// The value, as soon as it is set; nil when the task is canceled before.
  func value() async -> Value? {
    let ticket = state.withLock { state in
      state.last += 1
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { (caller: CheckedContinuation<Void, Never>) in
        let isCanceled = Task.isCancelled
        let waits = state.withLock { state in
          guard state.value == nil, !isCanceled else { return false }
          state.callers[ticket] = caller
          return true
        }
        if !waits { caller.resume() }
        // A cancellation between the check above and the lock found no caller.
        if Task.isCancelled { stopWaiting(ticket) }
      }
    } onCancel: {
      stopWaiting(ticket)
    }
    return current
  }

  private func stopWaiting(_ ticket: Int) {
    let caller = state.withLock { $0.callers.removeValue(forKey: ticket) }
    caller?.resume()
  }
}
