import BridgeTransport
import BridgeWaiting
import Foundation

/// Opens descriptors as fast as it can, on a thread of its own, and so has every number that
/// another owner closed.
final class DescriptorTaker: Sendable {
  private struct State {
    var taken: [Int32] = []
    /// How many were closed by another owner.
    var lost = 0
    var isDone = false
  }

  private let state = Mutex(State())
  private let hasEnded = DispatchSemaphore(value: 0)
  private static let most = 512

  init() {
    Thread.detachNewThread { [self] in
      while state.withLock({ !$0.isDone }) { take() }
      hasEnded.signal()
    }
  }

  private func take() {
    let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    state.withLock { state in
      state.taken.append(descriptor)
      guard state.taken.count > Self.most else { return }
      if close(state.taken.removeFirst()) != 0 { state.lost += 1 }
    }
  }

  /// Closes all it has; returns how many of them another owner had closed.
  func end() -> Int {
    state.withLock { $0.isDone = true }
    hasEnded.wait()
    return state.withLock { state in
      state.taken.reduce(state.lost) { $0 + (close($1) == 0 ? 0 : 1) }
    }
  }
}
