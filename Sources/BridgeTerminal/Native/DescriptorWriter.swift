import BridgeTransport
import BridgeWaiting
import Dispatch
import Glibc

/// Writes to a descriptor that may block, in order, on a thread of its own that is started by the
/// first write.
package final class DescriptorWriter: Sendable {
  /// What became of bytes that a caller handed over.
  package enum Outcome: Sendable, Equatable {
    /// All of them are written.
    case written
    /// The task was canceled; they are queued, and written in their turn.
    case queued
    /// They cannot be written: `failure` says why.
    case failed

    /// What became of these bytes and others.
    package func worse(_ other: Outcome) -> Outcome {
      switch (self, other) {
      case (.failed, _), (_, .failed): .failed
      case (.queued, _), (_, .queued): .queued
      case (.written, .written): .written
      }
    }
  }

  private struct Chunk {
    let parts: [[UInt8]]
    /// The waiting caller; nil where none waits.
    let caller: Int?
  }

  private struct State {
    var queue: [Chunk] = []
    var callers: [Int: Promise<Outcome>] = [:]
    var lastCaller = 0
    /// Bytes in the queue without a waiting caller.
    var posted = 0
    /// Nothing is taken any more.
    var isClosed = false
    var isStarted = false
    /// The thread ends when all is written.
    var isFinished = false
    /// The descriptor is open, and this writer's.
    var ownsDescriptor: Bool
    var failure: Int32?
  }

  /// The descriptor.
  package let descriptor: Int32
  private let state: Mutex<State>
  private let wake = DispatchSemaphore(value: 0)
  private static let postLimit = 256 << 10

  /// A writer to `descriptor`, which stays open after it unless the writer owns it: `finish` closes
  /// it then.
  package init(_ descriptor: Int32, ownsDescriptor: Bool = false) {
    self.descriptor = descriptor
    state = Mutex(State(ownsDescriptor: ownsDescriptor))
  }

  /// Writes `bytes` after all that was handed over before. A canceled task does not wait, and its
  /// bytes go even so: who is canceled must not hand over more.
  package func write(_ bytes: [UInt8]) async -> Outcome { await write([bytes]) }

  /// Writes `parts` in order likewise, with one change of the thread for all of them.
  package func write(_ parts: [[UInt8]]) async -> Outcome {
    parts.allSatisfy(\.isEmpty) ? .written : await queue(parts)
  }

  /// Queues `text` without waiting; false, and `text` is dropped, where 256 KiB of such texts are
  /// queued and it is not `isUnbounded`.
  @discardableResult package func post(_ text: String, isUnbounded: Bool = false) -> Bool {
    post(Array(text.utf8), isUnbounded: isUnbounded)
  }

  /// Queues `bytes` likewise.
  @discardableResult package func post(_ bytes: [UInt8], isUnbounded: Bool = false) -> Bool {
    let fits = state.withLock { state in
      guard isUnbounded || state.posted + bytes.count <= Self.postLimit else { return false }
      state.posted += bytes.count
      return true
    }
    return fits && enqueue(Chunk(parts: [bytes], caller: nil))
  }

  /// The `errno` of the write that ended it; nil while none has.
  package var failure: Int32? { state.withLock { $0.failure } }

  /// Whether something that was posted is not written yet.
  package var hasPosts: Bool { state.withLock { $0.posted > 0 && !$0.isClosed } }

  /// Whether much of what was posted is not written yet: nothing is taken at the other end.
  package var isBehind: Bool { state.withLock { $0.posted > Self.postLimit / 8 } }

  /// Waits until all that was handed over before is written.
  @discardableResult package func drain() async -> Outcome {
    let (isStarted, isClosed) = state.withLock { ($0.isStarted, $0.isClosed) }
    if isClosed { return .failed }
    return isStarted ? await queue([]) : .written
  }

  /// Ends the thread when all that was handed over is written, and closes a descriptor of its own.
  package func finish() {
    let (isIdle, isOver) = state.withLock { state in
      state.isFinished = true
      return (!state.isStarted, state.isClosed)
    }
    if isIdle || isOver { giveBack() } else { wake.signal() }
  }

  private func giveBack() {
    let isOwn = state.withLock { state in
      defer { state.ownsDescriptor = false }
      state.isClosed = true
      return state.ownsDescriptor
    }
    if isOwn { Glibc.close(descriptor) }
  }

  private func queue(_ parts: [[UInt8]]) async -> Outcome {
    let caller = Promise<Outcome>()
    let id = state.withLock { state in
      state.lastCaller += 1
      state.callers[state.lastCaller] = caller
      return state.lastCaller
    }
    if !enqueue(Chunk(parts: parts, caller: id)) { answer(id, .failed) }
    return await caller.value { self.answer(id, .queued) }
  }

  private func answer(_ id: Int, _ outcome: Outcome) {
    let caller = state.withLock { $0.callers.removeValue(forKey: id) }
    caller?.fulfill(outcome)
  }

  private func enqueue(_ chunk: Chunk) -> Bool {
    let (isTaken, starts) = state.withLock { state -> (Bool, Bool) in
      guard !state.isClosed else { return (false, false) }
      state.queue.append(chunk)
      defer { state.isStarted = true }
      return (true, !state.isStarted)
    }
    guard isTaken else { return false }
    if starts, !NativeThread.start({ [self] in run() }) {
      close()
      return true
    }
    wake.signal()
    return true
  }

  private func run() {
    while true {
      wake.wait()
      let (next, isOver) = state.withLock { state -> (Chunk?, Bool) in
        guard !state.isClosed, !state.queue.isEmpty else { return (nil, state.isFinished) }
        return (state.queue.removeFirst(), false)
      }
      if isOver { return giveBack() }
      guard let next else { continue }
      var failure: Int32?
      for part in next.parts where failure == nil {
        failure = Self.failure(writing: part, to: descriptor)
      }
      let isWritten = failure == nil
      if !isWritten { state.withLock { $0.failure = failure } }
      if let caller = next.caller {
        answer(caller, isWritten ? .written : .failed)
      } else {
        state.withLock { $0.posted -= next.parts.reduce(0) { $0 + $1.count } }
      }
      if !isWritten { return close() }
    }
  }

  private func close() {
    let (callers, isFinished) = state.withLock { state in
      state.isClosed = true
      state.queue = []
      defer { state.callers = [:] }
      return (state.callers.values, state.isFinished)
    }
    for caller in callers { caller.fulfill(.failed) }
    if isFinished { giveBack() }
  }

  /// Writes without a thread: for a process about to end.
  package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    failure(writing: bytes, to: descriptor) == nil
  }

  /// Writes likewise; the `errno` where that fails.
  package static func failure(writing bytes: [UInt8], to descriptor: Int32) -> Int32? {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { all in
        unsafe Glibc.write(
          descriptor, all.baseAddress?.advanced(by: written), all.count - written)
      }
      if count > 0 {
        written += count
      } else if errno == EAGAIN {
        // Another program made it non-blocking; it stays so.
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }
}
