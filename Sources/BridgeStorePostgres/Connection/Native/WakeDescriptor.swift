import CLibPQ
import Glibc

/// What wakes a thread that waits in poll(2) (eventfd(2)).
final class WakeDescriptor: Sendable {
  let descriptor: Int32

  init() { descriptor = bridge_wake_descriptor() }

  deinit { close(descriptor) }

  /// Wakes the thread, now or as soon as it waits.
  func wake() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Forgets the wakes that came.
  func drain() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }

  /// Waits until it is woken, or an instant.
  func wait(until end: ContinuousClock.Instant) {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&wait, 1, end.pollTimeout)
    drain()
  }
}

extension ContinuousClock.Instant {
  /// The time until then as poll(2) takes it, rounded up, at most an hour.
  var pollTimeout: Int32 {
    let (seconds, attoseconds) = ContinuousClock.now.duration(to: self).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return Int32(min(seconds, 3600) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}
