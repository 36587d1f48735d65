import Foundation

/// Opens descriptors as fast as it can, on a thread of its own, and so has every number that
/// somebody else gave back.
final class DescriptorTaker: @unchecked Sendable {
  private let lock = NSLock()
  private var taken: [Int32] = []
  private var isDone = false
  private let hasEnded = DispatchSemaphore(value: 0)
  private static let most = 512

  init() {
    Thread.detachNewThread { [self] in
      while lock.withLock({ !isDone }) {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { continue }
        let dropped = lock.withLock {
          taken.append(descriptor)
          return taken.count > Self.most ? taken.removeFirst() : -1
        }
        if dropped >= 0, close(dropped) != 0 { lock.withLock { lost += 1 } }
      }
      hasEnded.signal()
    }
  }

  private var lost = 0

  /// Closes all it has; how many of them somebody else had closed.
  func end() -> Int {
    lock.withLock { isDone = true }
    hasEnded.wait()
    return lock.withLock { taken.reduce(lost) { $0 + (close($1) == 0 ? 0 : 1) } }
  }
}
