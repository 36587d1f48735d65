import BridgeTransport

/// What was typed and has not gone yet: bounded, so that a remote side that takes nothing holds
/// back the terminal and not this process's memory.
final class Outbox: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var taker: CheckedContinuation<Void, Never>?
    var giver: CheckedContinuation<Void, Never>?
    var isClosed = false
  }

  /// How much is kept, in bytes.
  static let limit = 64 << 10

  private let state = Mutex(State())

  /// How many bytes wait.
  var count: Int { state.withLock { $0.bytes.count } }

  /// Adds `bytes`; waits while the box is full.
  func append(_ bytes: [UInt8]) async {
    let (taker, isFull) = state.withLock { state in
      guard !state.isClosed else { return (CheckedContinuation<Void, Never>?.none, false) }
      state.bytes += bytes
      return (state.taker.take(), state.bytes.count >= Self.limit)
    }
    taker?.resume()
    if isFull { await waitForRoom() }
  }

  /// All that waits, as soon as there is some; nil once closed, or when the task is cancelled.
  func take() async -> [UInt8]? {
    while !Task.isCancelled {
      let (bytes, giver, isClosed) = state.withLock { state in
        defer { state.bytes = [] }
        return (state.bytes, state.giver.take(), state.isClosed)
      }
      giver?.resume()
      if !bytes.isEmpty { return bytes }
      if isClosed { return nil }
      await waitForBytes()
    }
    return nil
  }

  /// Throws away what waits and tells how much it was.
  func drop() -> Int {
    let (count, giver) = state.withLock { state in
      defer { state.bytes = [] }
      return (state.bytes.count, state.giver.take())
    }
    giver?.resume()
    return count
  }

  /// No more comes; what waits can still be taken.
  func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      return [state.taker.take(), state.giver.take()]
    }
    for waiter in waiters { waiter?.resume() }
  }

  private func waitForBytes() async {
    await wait(in: \.taker) { $0.bytes.isEmpty && !$0.isClosed }
  }

  private func waitForRoom() async {
    await wait(in: \.giver) { $0.bytes.count >= Self.limit && !$0.isClosed }
  }

  private func wait(
    in slot: any WritableKeyPath<State, CheckedContinuation<Void, Never>?> & Sendable,
    while isNeeded: @Sendable (State) -> Bool
  ) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
        let isCancelled = Task.isCancelled
        let waits = state.withLock { state in
          guard !isCancelled, isNeeded(state) else { return false }
          state[keyPath: slot] = waiter
          return true
        }
        if !waits { waiter.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { $0[keyPath: slot].take() }
      waiter?.resume()
    }
  }
}
