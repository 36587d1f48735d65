import BridgeTransport
import CLibUV

/// Calls a closure once, on the loop, after a delay. Make and cancel it on the reactor's thread.
@safe public final class LoopTimer {
  private let reactor: Reactor
  private var handle: LoopHandle?
  /// It fires at the end of the turn: there is no loop.
  private var isDue = false

  private final class Callback {
    let fire: () -> Void
    /// What is left of the delay, in milliseconds.
    var rest: UInt64
    /// At most so much of it is counted at a time.
    let step: UInt64
    weak var owner: LoopTimer?

    init(_ fire: @escaping () -> Void, _ delay: UInt64, inSteps step: UInt64) {
      self.fire = fire
      rest = delay
      self.step = step
    }
  }

  /// Calls `fire` on `reactor` after `delay` (in whole milliseconds, rounded up, at least one),
  /// unless canceled before.
  public convenience init(after delay: Duration, on reactor: Reactor, _ fire: @escaping () -> Void)
  {
    // At least one: libuv runs timers until none is due, so that a timer of 0 ms that makes
    // another one would keep it from I/O.
    let milliseconds = max(1, delay.wholeMilliseconds)
    self.init(milliseconds, inSteps: milliseconds, on: reactor, fire)
  }

  /// Calls `fire` on `reactor` after `delay`, unless canceled before; time in which the loop does
  /// not run is not counted.
  ///
  /// For what is said of a peer: a process that was stopped, or whose machine was, takes what came
  /// meanwhile before it calls the peer silent. A stop counts as a sixteenth of `delay` at most.
  public convenience init(
    deadline delay: Duration, on reactor: Reactor, _ fire: @escaping () -> Void
  ) {
    let milliseconds = max(1, delay.wholeMilliseconds)
    self.init(
      milliseconds, inSteps: max(1, milliseconds / UInt64(RunningTime.parts)), on: reactor, fire)
  }

  private init(
    _ delay: UInt64, inSteps step: UInt64, on reactor: Reactor, _ fire: @escaping () -> Void
  ) {
    reactor.preconditionIsolated()
    self.reactor = reactor
    // Without a loop nothing that a timer bounds can succeed: it is due at once.
    guard reactor.openLoop() == nil else {
      isDue = true
      reactor.atEndOfTurn { [weak self] in
        guard let self, isDue else { return }
        isDue = false
        fire()
      }
      return
    }
    let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    handle = unsafe LoopHandle(timer)
    // The loop's time is cached: without this a short timer made late in a long turn fires at once.
    unsafe uv_update_time(reactor.native)
    unsafe uv_timer_init(reactor.native, timer)
    let callback = Callback(fire, delay, inSteps: step)
    callback.owner = self
    unsafe timer.pointee.data = Unmanaged.passRetained(callback).toOpaque()
    _ = unsafe Self.startStep(of: timer, callback)
  }

  deinit { cancel() }

  /// Stops the timer; `fire` is not called after this. Cancelling twice does nothing.
  public func cancel() {
    handle?.close(on: reactor)
    handle = nil
    isDue = false
  }

  private static func fired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    guard let data = unsafe timer?.pointee.data else { return }
    let callback = unsafe Unmanaged<Callback>.fromOpaque(data).takeUnretainedValue()
    if unsafe startStep(of: timer, callback) { return }
    callback.owner?.cancel()
    callback.fire()
  }

  /// False when all of the delay is over.
  private static func startStep(
    of timer: UnsafeMutablePointer<uv_timer_t>?, _ callback: Callback
  ) -> Bool {
    let step = min(callback.rest, callback.step)
    guard step > 0 else { return false }
    callback.rest -= step
    unsafe uv_timer_start(timer, { unsafe LoopTimer.fired($0) }, step, 0)
    return true
  }
}

extension Duration {
  /// Rounded up, never negative; a duration beyond all measure is as long as libuv can count.
  var wholeMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let milliseconds = UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    let (whole, isTooMuch) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
    return isTooMuch ? .max : whole.addingReportingOverflow(milliseconds).partialValue
  }
}
