/// Shut until it is opened, once and for good.
package final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var callers = WaitList<Void>()
  }

  private let state = Mutex(State())

  /// Shut.
  package init() {}

  /// Opens it; safe to call again.
  package func open() {
    let callers = state.withLock { state in
      state.isOpen = true
      return state.callers.takeAll()
    }
    for caller in callers { caller.resume() }
  }

  /// Returns when it is open, or when the task is canceled.
  package func wait() async {
    await state.wait(in: \.callers, canceled: ()) { $0.isOpen ? () : nil }
  }
}
