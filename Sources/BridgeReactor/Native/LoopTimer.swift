import CLibUV

/// Calls a closure once, on the loop, after a delay. Make and cancel it on the reactor's thread.
@safe public final class LoopTimer {
  private var timer: UnsafeMutablePointer<uv_timer_t>?

  private final class Callback {
    let fire: () -> Void
    weak var owner: LoopTimer?

    init(_ fire: @escaping () -> Void) { self.fire = fire }
  }

  /// Calls `fire` on `reactor` after `delay` (rounded up to milliseconds), unless cancelled before.
  public init(after delay: Duration, on reactor: Reactor, _ fire: @escaping () -> Void) {
    reactor.preconditionIsolated()
    let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    unsafe self.timer = timer
    // The loop's time is cached: without this a short timer made late in a long turn fires at once.
    unsafe uv_update_time(reactor.native)
    unsafe uv_timer_init(reactor.native, timer)
    let callback = Callback(fire)
    callback.owner = self
    unsafe timer.pointee.data = Unmanaged.passRetained(callback).toOpaque()
    unsafe uv_timer_start(timer, { unsafe LoopTimer.fired($0) }, delay.wholeMilliseconds, 0)
  }

  deinit { cancel() }

  /// Stops the timer; `fire` is not called after this. Cancelling twice does nothing.
  public func cancel() {
    guard let timer = unsafe timer else { return }
    unsafe self.timer = nil
    unsafe uv_timer_stop(timer)
    unsafe uv_close(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self)) {
      guard let handle = unsafe $0 else { return }
      if let data = unsafe handle.pointee.data {
        unsafe Unmanaged<Callback>.fromOpaque(data).release()
      }
      unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_timer_t.self).deallocate()
    }
  }

  private static func fired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    guard let data = unsafe timer?.pointee.data else { return }
    let callback = unsafe Unmanaged<Callback>.fromOpaque(data).takeUnretainedValue()
    callback.owner?.cancel()
    callback.fire()
  }
}

extension Duration {
  /// Rounded up, never negative.
  var wholeMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return UInt64(seconds) * 1000 + UInt64(milliseconds)
  }
}
