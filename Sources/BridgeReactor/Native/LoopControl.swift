import BridgeWaiting
import CLibUV
import Dispatch
import Glibc

/// The three handles that turn a libuv loop into an executor: a wake-up from other threads, a drain
/// before each poll, and an idle handle that keeps the poll from blocking while jobs are left.
///
/// Until there is a loop a semaphore does for the wake-up.
@safe final class LoopControl: @unchecked Sendable {
  private enum Phase {
    case withoutLoop
    case open
    case closed
  }

  private let wakeUp: UnsafeMutablePointer<uv_async_t>
  private let drain: UnsafeMutablePointer<uv_prepare_t>
  private let turn: UnsafeMutablePointer<uv_idle_t>
  private let phase = Mutex(Phase.withoutLoop)
  private let wakeSignal = DispatchSemaphore(value: 0)
  private var reactor: Unmanaged<Reactor>?

  init() {
    unsafe wakeUp = .allocate(capacity: 1)
    unsafe drain = .allocate(capacity: 1)
    unsafe turn = .allocate(capacity: 1)
  }

  /// The reactor outlives its loop: it is retained here until `detach`.
  func attach(_ reactor: Reactor) {
    unsafe self.reactor = Unmanaged.passRetained(reactor)
  }

  /// On the loop's thread, or before that runs: from now on the loop has the handles.
  func open(on loop: UnsafeMutablePointer<uv_loop_t>) {
    unsafe uv_async_init(loop, wakeUp) { _ in }
    unsafe uv_prepare_init(loop, drain)
    unsafe uv_idle_init(loop, turn)
    unsafe drain.pointee.data = reactor?.toOpaque()
    unsafe uv_prepare_start(drain) { handle in
      guard let data = unsafe handle?.pointee.data else { return }
      unsafe Unmanaged<Reactor>.fromOpaque(data).takeUnretainedValue().drain()
    }
    phase.withLock { $0 = .open }
  }

  /// When the loop has ended: the handles' memory and the retain are given back.
  func detach() {
    guard let reactor = unsafe reactor else { return }
    unsafe self.reactor = nil
    unsafe wakeUp.deallocate()
    unsafe drain.deallocate()
    unsafe turn.deallocate()
    unsafe reactor.release()
  }

  /// From any thread.
  func wake() {
    phase.withLock { phase in
      switch phase {
      case .withoutLoop: wakeSignal.signal()
      case .open: unsafe uv_async_send(wakeUp)
      case .closed: break
      }
    }
  }

  /// On the reactor's thread while there is no loop: returns after the next `wake`.
  func wait() { wakeSignal.wait() }

  func keepTurning(_ isBusy: Bool) {
    switch phase.withLock({ $0 }) {
    case .withoutLoop: if isBusy { wakeSignal.signal() }
    case .open where isBusy: unsafe uv_idle_start(turn) { _ in }
    case .open: unsafe uv_idle_stop(turn)
    case .closed: break
    }
  }

  /// On the loop: whether `uv_run` returns when no other handle is active. These three go on
  /// working either way.
  func mayEnd(_ mayEnd: Bool) {
    guard phase.withLock({ $0 }) == .open else { return }
    unsafe count(UnsafeMutableRawPointer(wakeUp), !mayEnd)
    unsafe count(UnsafeMutableRawPointer(drain), !mayEnd)
    unsafe count(UnsafeMutableRawPointer(turn), !mayEnd)
  }

  /// Whether the loop runs for the sake of this handle.
  private func count(_ handle: UnsafeMutableRawPointer, _ counts: Bool) {
    let handle = unsafe handle.assumingMemoryBound(to: uv_handle_t.self)
    if counts { unsafe uv_ref(handle) } else { unsafe uv_unref(handle) }
  }

  /// On the loop, once: the next `uv_run` lets go of the handles.
  func close() {
    phase.withLock { $0 = .closed }
    unsafe uv_close(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self), nil)
    unsafe uv_close(UnsafeMutableRawPointer(drain).assumingMemoryBound(to: uv_handle_t.self), nil)
    unsafe uv_close(UnsafeMutableRawPointer(turn).assumingMemoryBound(to: uv_handle_t.self), nil)
  }
}
