import BridgeTransport

/// Holds messages back while a link is only suspected: what would be lost with it goes over the
/// next generation, for none but the newest may pass.
package final class SendGate: Sendable {
  private typealias Caller = CheckedContinuation<Bool, Never>

  private struct State {
    var isShut = false
    var newest = 0
    var lastID = 0
    var waiters: [Int: (generation: Int, caller: Caller)] = [:]

    /// The answer to one of `generation`; nil while it must wait.
    func answer(to generation: Int) -> Bool? {
      generation < newest ? false : isShut ? nil : true
    }

    mutating func takeAnswered() -> [(Caller, Bool)] {
      var answered: [(Caller, Bool)] = []
      for (id, waiter) in waiters {
        guard let answer = answer(to: waiter.generation) else { continue }
        answered.append((waiter.caller, answer))
        waiters[id] = nil
      }
      return answered
    }
  }

  private let state = Mutex(State())

  /// Open.
  package init() {}

  /// How many wait.
  package var count: Int { state.withLock { $0.waiters.count } }

  /// Shuts it, or opens it for those of the newest generation.
  package func set(isShut: Bool) { change { $0.isShut = isShut } }

  /// Opens it for `generation`, and turns those of older ones away.
  package func open(for generation: Int) {
    change {
      $0.newest = max($0.newest, generation)
      $0.isShut = false
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let answered = state.withLock { state in
      body(&state)
      return state.takeAnswered()
    }
    for (caller, answer) in answered { caller.resume(returning: answer) }
  }

  /// Waits until it is open; false when a newer generation is in use, or the task was cancelled.
  package func pass(_ generation: Int) async -> Bool {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { (caller: Caller) in
        let answer = state.withLock { state -> Bool? in
          if Task.isCancelled { return false }
          if let answer = state.answer(to: generation) { return answer }
          state.waiters[id] = (generation, caller)
          return nil
        }
        if let answer { return caller.resume(returning: answer) }
        // A cancellation that came between the check above and now found no waiter.
        if Task.isCancelled { dismiss(id) }
      }
    } onCancel: {
      dismiss(id)
    }
  }

  private func dismiss(_ id: Int) {
    let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
    waiter?.caller.resume(returning: false)
  }
}
