import BridgeTransport
import CLibUV
import Foundation

/// The thread of a reactor: started once, ended when its loop has nothing left to do.
@safe final class LoopThread: @unchecked Sendable {
  private struct State {
    var id: pthread_t?
    var hasEnded = false
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  /// Written by the thread itself before anything runs on it, read by everybody after `start`
  /// returned.
  private var id: pthread_t?

  var isCurrent: Bool {
    guard let id else { return false }
    return pthread_equal(id, pthread_self()) != 0
  }

  /// Runs `loop` on a new thread until it ends, frees it, then calls `ended`.
  func start(
    name: String, loop: UnsafeMutablePointer<uv_loop_t>, ended: @escaping @Sendable () -> Void
  ) {
    let begun = DispatchSemaphore(value: 0)
    let body = unsafe Body(name: name, loop: loop) { [self] in
      id = pthread_self()
      begun.signal()
    } ended: { [self] in
      ended()
      let waiters = state.withLock { state in
        state.hasEnded = true
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter() }
    }
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil, { unsafe LoopThread.main($0) }, Unmanaged.passRetained(body).toOpaque())
    precondition(result == 0, "no thread for a reactor: errno \(result)")
    pthread_detach(thread)
    begun.wait()
  }

  /// Calls `waiter` when the thread has left its loop, at once when it already has.
  func whenEnded(_ waiter: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.waiters.append(waiter) }
      return state.hasEnded
    }
    if hasEnded { waiter() }
  }

  @safe private final class Body {
    let name: String
    let loop: UnsafeMutablePointer<uv_loop_t>
    let begun: () -> Void
    let ended: () -> Void

    init(
      name: String, loop: UnsafeMutablePointer<uv_loop_t>, begun: @escaping () -> Void,
      ended: @escaping () -> Void
    ) {
      self.name = name
      unsafe self.loop = loop
      self.begun = begun
      self.ended = ended
    }
  }

  private static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
    unsafe bridge_name_thread(body.name)
    body.begun()
    unsafe uv_run(body.loop, UV_RUN_DEFAULT)
    unsafe uv_loop_close(body.loop)
    unsafe body.loop.deallocate()
    body.ended()
    return nil
  }
}
