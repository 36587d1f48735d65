import BridgeTransport
import Foundation

/// Writes to a descriptor that may block, in order, on a thread of its own that is started by the
/// first write.
package final class DescriptorWriter: Sendable {
  private struct Chunk {
    let bytes: [UInt8]
    /// The waiting caller; nil where none waits.
    let caller: Int?
  }

  private struct State {
    var queue: [Chunk] = []
    var callers: [Int: CheckedContinuation<Bool, Never>] = [:]
    var lastCaller = 0
    /// Bytes in the queue without a waiting caller.
    var posted = 0
    var isClosed = false
    var isStarted = false
    var failure: Int32?
  }

  /// The descriptor.
  package let descriptor: Int32
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private static let postLimit = 256 << 10

  /// A writer to `descriptor`, which stays open after it.
  package init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Writes `bytes`; false when they cannot be written (`failure` says why), or the task was
  /// cancelled (the bytes may go yet).
  package func write(_ bytes: [UInt8]) async -> Bool {
    bytes.isEmpty ? true : await queue(bytes)
  }

  /// Queues `text` without waiting; false, and `text` is dropped, where 256 KiB of such texts are
  /// queued and it is not `isUnbounded`.
  @discardableResult package func post(_ text: String, isUnbounded: Bool = false) -> Bool {
    let bytes = Array(text.utf8)
    let fits = state.withLock { state in
      guard isUnbounded || state.posted + bytes.count <= Self.postLimit else { return false }
      state.posted += bytes.count
      return true
    }
    return fits && enqueue(Chunk(bytes: bytes, caller: nil))
  }

  /// The `errno` of the write that ended it; nil while none has.
  package var failure: Int32? { state.withLock { $0.failure } }

  /// Whether something that was posted is not written yet.
  package var hasPosts: Bool { state.withLock { $0.posted > 0 && !$0.isClosed } }

  /// Waits until all that was posted is written.
  package func drain() async {
    guard state.withLock({ $0.isStarted && !$0.isClosed }) else { return }
    _ = await queue([])
  }

  private func queue(_ bytes: [UInt8]) async -> Bool {
    let id = state.withLock { state in
      state.lastCaller += 1
      return state.lastCaller
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { (caller: CheckedContinuation<Bool, Never>) in
        let isCancelled = Task.isCancelled
        if !isCancelled { state.withLock { $0.callers[id] = caller } }
        if isCancelled || !enqueue(Chunk(bytes: bytes, caller: id)) {
          if isCancelled { caller.resume(returning: false) } else { answer(id, false) }
        }
        // A cancellation that came between the check above and the lock found no caller.
        if !isCancelled, Task.isCancelled { answer(id, false) }
      }
    } onCancel: {
      answer(id, false)
    }
  }

  private func answer(_ id: Int, _ isWritten: Bool) {
    let caller = state.withLock { $0.callers.removeValue(forKey: id) }
    caller?.resume(returning: isWritten)
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
      let next = state.withLock { state -> Chunk? in
        guard !state.isClosed, !state.queue.isEmpty else { return nil }
        return state.queue.removeFirst()
      }
      guard let next else { continue }
      let failure = Self.failure(writing: next.bytes, to: descriptor)
      let isWritten = failure == nil
      if !isWritten { state.withLock { $0.failure = failure } }
      if let caller = next.caller {
        answer(caller, isWritten)
      } else {
        state.withLock { $0.posted -= next.bytes.count }
      }
      if !isWritten { return close() }
    }
  }

  private func close() {
    let callers = state.withLock { state in
      state.isClosed = true
      state.queue = []
      defer { state.callers = [:] }
      return state.callers.values
    }
    for caller in callers { caller.resume(returning: false) }
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
        unsafe Foundation.write(
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
