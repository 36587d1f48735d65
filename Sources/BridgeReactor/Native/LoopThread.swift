import BridgeTransport
import BridgeWaiting
import Glibc

/// The thread of a reactor: started once, ended when its body returns.
@safe final class LoopThread: Sendable {
  private struct State {
    var hasEnded = false
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// Whether the caller runs on this thread. The mark is the thread's own: a thread's identifier
  /// would be given to another one after this one's end.
  var isCurrent: Bool {
    unsafe pthread_getspecific(currentThread) == identity
  }

  private var identity: UnsafeMutableRawPointer {
    unsafe Unmanaged.passUnretained(self).toOpaque()
  }

  /// Runs `body` on a new thread; false when there is none to be had.
  func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    DetachedThread.start(name: name) { [self] in
      unsafe pthread_setspecific(currentThread, identity)
      body()
      pthread_setspecific(currentThread, nil)
      let waiters = state.withLock { state in
        state.hasEnded = true
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter() }
    }
  }

  /// Calls `waiter` when the thread has left its body, at once when it already has.
  func whenEnded(_ waiter: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.waiters.append(waiter) }
      return state.hasEnded
    }
    if hasEnded { waiter() }
  }
}

/// Where each thread keeps whose it is.
private let currentThread: pthread_key_t = {
  var key = pthread_key_t()
  let result = unsafe pthread_key_create(&key, nil)
  precondition(result == 0, "no thread-specific key: errno \(result)")
  return key
}()
