import BridgeTransport
import BridgeWaiting

/// A value that is set once, until it is unset or replaced, for any number of callers that wait for
/// it.
final class OnceValue<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var callers = WaitList<Value?>()
  }

  private let state = Mutex(State())

  /// The value; nil while it is not set.
  var current: Value? { state.withLock { $0.value } }

  /// Sets it; only the first value counts.
  func set(_ value: Value) {
    let callers = state.withLock { state -> [WaitList<Value?>.Caller] in
      guard state.value == nil else { return [] }
      state.value = value
      return state.callers.takeAll()
    }
    for caller in callers { caller.resume(returning: value) }
  }

  /// Sets it to another value than that of before.
  func replace(with value: Value) {
    unset()
    set(value)
  }

  /// Forgets the value, which is to be set again.
  func unset() { state.withLock { $0.value = nil } }

  /// The value, as soon as it is set; nil when the task is canceled before.
  func value() async -> Value? {
    await state.wait(in: \.callers, canceled: nil) { $0.value.map(Optional.some) }
  }
}
