import BridgeWaiting
import Glibc

/// The use of a terminal by jobs: those in its foreground read it and set its modes, and the shell
/// has it while they are in the background (termios(3)).
package enum JobControl {
  /// How often a job in the background looks whether it is in the foreground, in milliseconds: a
  /// shell that brings a running job there sends no signal.
  static let interval: Int32 = 200

  /// Whether this process may read the terminal at `descriptor` and set its modes. So it may where
  /// another terminal controls it, or none, and at the end of one that hung up.
  static func isForeground(on descriptor: Int32) -> Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  /// Stops the job as the kernel does one that reads from the background. A job without a shell to
  /// continue it goes on, and one that ignores the signal. One that a signal ends does so.
  static func stop() {
    if !Signals.isEnding { kill(0, SIGTTIN) }
  }

  /// Waits in the background of the terminal at `descriptor` for the foreground, where it can be
  /// stopped; false when the task was canceled.
  package static func untilForeground(on descriptor: Int32) async -> Bool {
    guard !isForeground(on: descriptor) else { return true }
    let arrival = Promise<Bool>()
    let wake = Wake()
    let isStarted = NativeThread.start {
      while !isForeground(on: descriptor) {
        stop()
        // The first wait is over when the job is continued: a signal that ends it may come then.
        for _ in 0..<2 where wake.wait(milliseconds: interval) != nil {
          arrival.fulfill(false)
          return
        }
      }
      arrival.fulfill(true)
    }
    if !isStarted { return true }
    return await arrival.value { wake.signal() }
  }
}
