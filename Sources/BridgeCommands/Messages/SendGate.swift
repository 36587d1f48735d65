import BridgeTransport
import BridgeWaiting

/// Holds messages back while a link is only suspected: what would be lost with it goes over the
/// next generation, for none but the newest may pass.
package final class SendGate: Sendable {
  private struct State {
    var isShut = false
    var newest = 0
    /// Each is answered with nil when the gate has changed.
    var callers = WaitList<Bool?>()

    /// The answer to one of `generation`; nil while it must wait.
    func answer(to generation: Int) -> Bool? {
      generation < newest ? false : isShut ? nil : true
    }
  }

  private let state = Mutex(State())

  /// Open.
  package init() {}

  /// How many wait.
  package var count: Int { state.withLock { $0.callers.count } }

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
    let callers = state.withLock { state in
      body(&state)
      return state.callers.takeAll()
    }
    for caller in callers { caller.resume(returning: nil) }
  }

  /// Waits until it is open; false when a newer generation is in use, or the task was canceled.
  package func pass(_ generation: Int) async -> Bool {
    while true {
      let answer = await state.wait(in: \.callers, canceled: false) { state in
        state.answer(to: generation).map { Optional.some($0) }
      }
      if let answer { return answer }
    }
  }
}
