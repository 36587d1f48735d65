import Foundation

/// Where one thread waits for another.
struct Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  /// Blocks the calling thread until `open`.
  func wait() { semaphore.wait() }

  func open() { semaphore.signal() }
}

/// Runs `body` on `count` threads at once and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await withCheckedContinuation { done in
    let group = DispatchGroup()
    for index in 0..<count {
      group.enter()
      Thread {
        body(index)
        group.leave()
      }.start()
    }
    group.notify(queue: .global()) { done.resume() }
  }
}

/// Cancels the task that calls.
func cancelCurrentTask() {
  unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
}
