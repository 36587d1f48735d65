import BridgeTransport
import BridgeWaiting

/// Typed bytes that are not sent yet: bounded, so that a remote side that takes nothing holds
/// back the terminal and not this process's memory.
///
/// While the link is only suspected it is held: nothing is taken out, and what is typed beyond the
/// bound is lost and counted, because the keyboard must be read on for the escapes.
package final class Outbox: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var lost = 0
    var isHeld = false
    var heldLimit = Outbox.limit
    var isClosed = false
    var takers = WaitList<Void>()
    var givers = WaitList<Void>()
  }

  /// How much is kept, in bytes.
  package static let limit = 64 << 10

  private let state = Mutex(State())

  /// Nothing waits yet.
  package init() {}

  /// How many bytes wait.
  package var count: Int { state.withLock { $0.bytes.count } }

  /// Keeps at most `limit` bytes while it is held.
  package func limitHeld(to limit: Int) { state.withLock { $0.heldLimit = limit } }

  /// How many bytes were lost since the last call, because the buffer was full.
  package func takeLost() -> Int {
    state.withLock { state in
      defer { state.lost = 0 }
      return state.lost
    }
  }

  /// So many bytes that were taken could not be sent, and count as lost.
  package func countUnsent(_ count: Int) { state.withLock { $0.lost += count } }

  /// Adds `bytes`; waits while the box is full and not held.
  package func append(_ bytes: [UInt8]) async {
    let (takers, isFull) = state.withLock { state in
      guard !state.isClosed else { return ([WaitList<Void>.Caller](), false) }
      let free = state.isHeld ? max(0, state.heldLimit - state.bytes.count) : bytes.count
      state.bytes += bytes.prefix(free)
      state.lost += max(0, bytes.count - free)
      guard !state.isHeld else { return ([], false) }
      return (state.takers.takeAll(), state.bytes.count >= Self.limit)
    }
    for taker in takers { taker.resume() }
    if isFull { await waitForSpace() }
  }

  /// All that waits, as soon as there is some; nil once closed, or when the task is canceled.
  package func take() async -> [UInt8]? {
    while !Task.isCancelled {
      let (bytes, givers, isClosed) = state.withLock { state in
        guard !state.isHeld else { return ([UInt8](), [WaitList<Void>.Caller](), false) }
        defer { state.bytes = [] }
        return (state.bytes, state.givers.takeAll(), state.isClosed)
      }
      for giver in givers { giver.resume() }
      if !bytes.isEmpty { return bytes }
      if isClosed { return nil }
      await waitForBytes()
    }
    return nil
  }

  /// Holds what is typed, or lets it go.
  package func hold(_ isHeld: Bool) {
    let waiters = state.withLock { state in
      state.isHeld = isHeld
      return isHeld ? state.givers.takeAll() : state.takers.takeAll()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Discards the pending bytes and returns how many were lost, including those that did not fit.
  package func drop() -> Int {
    let (count, givers) = state.withLock { state in
      defer { (state.bytes, state.lost, state.isHeld) = ([], 0, false) }
      return (state.bytes.count + state.lost, state.givers.takeAll())
    }
    for giver in givers { giver.resume() }
    return count
  }

  /// No more comes; what waits can still be taken.
  package func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      return state.takers.takeAll() + state.givers.takeAll()
    }
    for waiter in waiters { waiter.resume() }
  }

  private func waitForBytes() async {
    await state.wait(in: \.takers, canceled: ()) { state in
      // Nothing is taken while it is held, closed or not.
      state.isHeld || (state.bytes.isEmpty && !state.isClosed) ? nil : ()
    }
  }

  private func waitForSpace() async {
    await state.wait(in: \.givers, canceled: ()) { state in
      state.bytes.count >= Self.limit && !state.isClosed && !state.isHeld ? nil : ()
    }
  }
}
