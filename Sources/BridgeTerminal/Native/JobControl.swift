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

  /// Likewise, for a terminal that another process has passed.
  package static func mayRead(_ descriptor: Int32) -> Bool { isForeground(on: descriptor) }

  /// Whether nothing could continue this job: its process group is orphaned (setpgid(2)), as far as
  /// its line of parents shows. The kernel stops no such group by SIGTSTP, and SIGSTOP must not.
  static var isOrphaned: Bool {
    let (group, session) = (getpgrp(), getsid(0))
    var parent = getppid()
    // A shell without jobs of its own is in the group of what it runs.
    while parent > 0, getpgid(parent) == group {
      guard let next = Self.parent(of: parent) else { return false }
      parent = next
    }
    // That of another process namespace is 0.
    return parent == 0 || getsid(parent) != session
  }

  /// The parent of another process (proc(5), stat: the second field behind the name, which may hold
  /// anything); nil where it cannot be read.
  private static func parent(of process: pid_t) -> pid_t? {
    guard let file = unsafe fopen("/proc/\(process)/stat", "re") else { return nil }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(end + 1)..<count].split(separator: UInt8(ascii: " "))
    return fields.count > 1 ? pid_t(String(decoding: fields[1], as: UTF8.self)) : nil
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
