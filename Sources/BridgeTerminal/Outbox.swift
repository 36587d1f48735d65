import BridgeTransport
import BridgeWaiting

/// Typed bytes that are not sent yet: bounded, so that a remote side that takes nothing holds
/// back the terminal and not this process's memory.
///
/// While the link is only suspected it is held: nothing is taken out, and what is typed beyond the
/// bound is lost and counted, because the keyboard must be read on for the escapes.
package final class Outbox: Sendable {
  /// What stays in it.
  package enum Hold: Sendable, Equatable {
    case nothing
    /// What was typed; what the terminal has sent by itself goes on.
    case typing
    case all
  }

  fileprivate struct State {
    var bytes: [UInt8] = []
    /// What the terminal has sent by itself while something is held.
    var reports: [UInt8] = []
    var lost = 0
    var hold = Hold.nothing
    /// Among all that was typed, and among what was taken.
    var pasted = Paste()
    var taken = Paste()
    /// Whether the rest of what is pasted is dropped: its beginning was.
    var isSkipping = false
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

  /// How many typed bytes wait.
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
      let isHeld = state.hold != .nothing
      state.keep(bytes, limit: isHeld ? state.heldLimit : .max)
      guard !isHeld else { return ([], false) }
      return (state.takers.takeAll(), state.bytes.count >= Self.limit)
    }
    for taker in takers { taker.resume() }
    if isFull { await waitForSpace() }
  }

  /// Adds what the terminal has sent by itself: it is not counted, and goes before what is held. Of
  /// what does not fit while all is held nothing is kept.
  package func append(report bytes: [UInt8]) async {
    let isOpen = state.withLock { $0.hold == .nothing }
    guard !isOpen else { return await append(bytes) }
    let takers = state.withLock { state in
      if state.reports.count + bytes.count <= state.heldLimit { state.reports += bytes }
      return state.hold == .all ? [] : state.takers.takeAll()
    }
    for taker in takers { taker.resume() }
  }

  /// All that waits, as soon as there is some; nil once closed, or when the task is canceled.
  package func take() async -> [UInt8]? {
    while !Task.isCancelled {
      let (bytes, givers, isClosed) = state.withLock { state in
        guard state.hold != .all else { return ([UInt8](), [WaitList<Void>.Caller](), false) }
        defer { state.reports = [] }
        guard state.hold == .nothing else { return (state.reports, [], false) }
        defer { state.bytes = [] }
        for byte in state.bytes { state.taken.see(byte) }
        return (state.reports + state.bytes, state.givers.takeAll(), state.isClosed)
      }
      for giver in givers { giver.resume() }
      if !bytes.isEmpty { return bytes }
      if isClosed { return nil }
      await waitForBytes()
    }
    return nil
  }

  /// Holds what is typed, or lets it go.
  package func hold(_ hold: Hold) {
    let waiters = state.withLock { state in
      state.hold = hold
      let takers = hold == .all ? [] : state.takers.takeAll()
      return takers + (hold == .nothing ? [] : state.givers.takeAll())
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Discards what was typed and waits; returns how many bytes were lost, including those that did
  /// not fit.
  ///
  /// - Parameter keepsReports: whether what the terminal has sent by itself goes on.
  package func drop(keepsReports: Bool = false) -> Int {
    let (count, waiters) = state.withLock { state in
      let count = state.bytes.count + state.lost
      (state.bytes, state.lost, state.hold) = ([], 0, .nothing)
      if keepsReports {
        state.endPaste()
      } else {
        (state.reports, state.pasted, state.taken, state.isSkipping) = ([], Paste(), Paste(), false)
      }
      let isEmpty = state.reports.isEmpty && state.bytes.isEmpty
      return (count, (isEmpty ? [] : state.takers.takeAll()) + state.givers.takeAll())
    }
    for waiter in waiters { waiter.resume() }
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
      switch state.hold {
      // Nothing is taken then, closed or not.
      case .all: nil
      case .typing: state.reports.isEmpty ? nil : ()
      case .nothing:
        state.reports.isEmpty && state.bytes.isEmpty && !state.isClosed ? nil : ()
      }
    }
  }

  private func waitForSpace() async {
    await state.wait(in: \.givers, canceled: ()) { state in
      state.bytes.count >= Self.limit && !state.isClosed && state.hold == .nothing ? nil : ()
    }
  }
}

extension Outbox.State {
  /// Adds typed bytes up to `limit`. What is pasted and does not fit ends there: a program that has
  /// its beginning, and not its end, takes every key after it for text.
  fileprivate mutating func keep(_ typed: [UInt8], limit: Int) {
    for byte in typed {
      let before = pasted
      pasted.see(byte)
      let goesOn = pasted.isOpen || before.isOpen || pasted.unfinished > max(1, before.unfinished)
      if isSkipping, goesOn {
        lost += 1
      } else if bytes.count < limit {
        bytes.append(byte)
        isSkipping = false
        continue
      } else {
        // What came of its beginning, or of its end, goes with the rest.
        let unfinished = min(before.unfinished, bytes.count)
        bytes.removeLast(unfinished)
        lost += unfinished + 1
        if before.isOpen { bytes += Paste.end }
      }
      isSkipping = pasted.isOpen || pasted.unfinished > 0
    }
  }

  /// What was typed is dropped: the program gets the end of what it has the beginning of.
  fileprivate mutating func endPaste() {
    if taken.isOpen { bytes = Paste.end }
    isSkipping = pasted.isOpen
  }
}
