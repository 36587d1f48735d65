import BridgeTransport
import CLibUV
import Foundation

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
    let life = Life(name: name) { [self] in
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
    var thread = pthread_t()
    let argument = unsafe Unmanaged.passRetained(life)
    guard
      unsafe pthread_create(&thread, nil, { unsafe LoopThread.main($0) }, argument.toOpaque()) == 0
    else {
      unsafe argument.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  /// Calls `waiter` when the thread has left its body, at once when it already has.
  func whenEnded(_ waiter: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.waiters.append(waiter) }
      return state.hasEnded
    }
    if hasEnded { waiter() }
  }

  private final class Life: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let life = unsafe Unmanaged<Life>.fromOpaque(argument).takeRetainedValue()
    unsafe bridge_name_thread(life.name)
    life.body()
    return nil
  }
}

/// Where each thread keeps whose it is.
private let currentThread: pthread_key_t = {
  var key = pthread_key_t()
  let result = unsafe pthread_key_create(&key, nil)
  precondition(result == 0, "no thread-specific key: errno \(result)")
  return key
}()
