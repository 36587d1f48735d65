import BridgeTransport
import BridgeWaiting
import Glibc

/// A thread of its own for what may block: reading a terminal, writing to a full pipe, waiting for
/// signals. Never for work.
enum NativeThread {
  /// Runs `body` on a new thread; false when the system gives none.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    DetachedThread.start(body)
  }

  /// What `body` returns on a new thread; nil when the system gives none.
  static func result<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result? {
    let result = Promise<Result?>()
    if !start({ result.fulfill(body()) }) { result.fulfill(nil) }
    return await result.value()
  }
}

/// A pipe of our own: what wakes a thread that waits in poll(2).
final class Wake: Sendable {
  /// Readable after `signal`, until `clear`.
  let descriptor: Int32
  private let source: Int32

  /// False where there was no descriptor left for it.
  var isOpen: Bool { descriptor >= 0 }

  init() {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (descriptor, source) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(source)
  }

  /// Safe in a signal handler.
  func signal(_ byte: UInt8 = 1) {
    var byte = byte
    // A full pipe wakes as well.
    _ = unsafe write(source, &byte, 1)
  }

  /// The next byte; nil when none has come for so long (-1: forever).
  func wait(milliseconds: Int32) -> UInt8? {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    while unsafe poll(&wait, 1, milliseconds) < 0, errno == EINTR {}
    return unsafe read(descriptor, &byte, 1) == 1 ? byte : nil
  }

  func clear() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
  }
}
