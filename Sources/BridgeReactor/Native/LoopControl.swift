import BridgeTransport
import CLibUV

/// The three handles that turn a libuv loop into an executor: a wake-up from other threads, a drain
/// before each poll, and an idle handle that keeps the poll from blocking while jobs are left.
@safe final class LoopControl: @unchecked Sendable {
  private let wakeUp: UnsafeMutablePointer<uv_async_t>
  private let drain: UnsafeMutablePointer<uv_prepare_t>
  private let turn: UnsafeMutablePointer<uv_idle_t>
  private let isClosed = Mutex(false)

  init(loop: UnsafeMutablePointer<uv_loop_t>) {
    unsafe wakeUp = .allocate(capacity: 1)
    unsafe drain = .allocate(capacity: 1)
    unsafe turn = .allocate(capacity: 1)
    unsafe uv_async_init(loop, wakeUp) { _ in }
    unsafe uv_prepare_init(loop, drain)
    unsafe uv_idle_init(loop, turn)
  }

  /// The reactor outlives its loop: it is retained here until `detach`.
  func attach(_ reactor: Reactor) {
    unsafe drain.pointee.data = Unmanaged.passRetained(reactor).toOpaque()
    unsafe uv_prepare_start(drain) { handle in
      guard let data = unsafe handle?.pointee.data else { return }
      unsafe Unmanaged<Reactor>.fromOpaque(data).takeUnretainedValue().drain()
    }
  }

  /// When the loop has ended: the handles' memory and the retain are given back.
  func detach() {
    guard let data = unsafe drain.pointee.data else { return }
    let reactor = unsafe Unmanaged<Reactor>.fromOpaque(data)
    unsafe wakeUp.deallocate()
    unsafe drain.deallocate()
    unsafe turn.deallocate()
    unsafe reactor.release()
  }

  /// From any thread.
  func wake() {
    isClosed.withLock { isClosed in
      if !isClosed { unsafe uv_async_send(wakeUp) }
    }
  }

  func keepTurning(_ isBusy: Bool) {
    if isBusy {
      unsafe uv_idle_start(turn) { _ in }
    } else {
      unsafe uv_idle_stop(turn)
    }
  }

  /// On the loop: from now on `uv_run` returns when nobody else's handle is active. These three go
  /// on working meanwhile.
  func letEnd() {
    unsafe uv_unref(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self))
    unsafe uv_unref(UnsafeMutableRawPointer(drain).assumingMemoryBound(to: uv_handle_t.self))
    unsafe uv_unref(UnsafeMutableRawPointer(turn).assumingMemoryBound(to: uv_handle_t.self))
  }

  /// On the loop, once: the next `uv_run` lets go of the handles.
  func close() {
    isClosed.withLock { $0 = true }
    unsafe uv_close(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self), nil)
    unsafe uv_close(UnsafeMutableRawPointer(drain).assumingMemoryBound(to: uv_handle_t.self), nil)
    unsafe uv_close(UnsafeMutableRawPointer(turn).assumingMemoryBound(to: uv_handle_t.self), nil)
  }
}
