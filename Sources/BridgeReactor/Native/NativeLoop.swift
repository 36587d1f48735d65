import BridgeWaiting
import CLibUV
import Glibc

/// Makes libuv loops, also where descriptors may have run out.
enum NativeLoop {
  /// Whether the process has a loop, or had one.
  private static let isInUse = Mutex(false)
  /// Descriptors of a loop: epoll, an eventfd, a pipe for signals. With the first loop libuv makes
  /// another pipe for the whole process, and aborts where it cannot.
  private static let (first, further) = (6, 4)

  /// Makes a loop in memory that holds none; the `errno` of why it cannot be made.
  static func make(at loop: UnsafeMutablePointer<uv_loop_t>) -> Int32? {
    isInUse.withLock { isInUse in
      if !isInUse, let shortage = shortage(of: first) { return shortage }
      let status = unsafe uv_loop_init(loop)
      guard status == 0 else { return -status }
      isInUse = true
      return nil
    }
  }

  /// The `errno` of why another loop cannot be made now; nil where it can.
  static func shortage() -> Int32? {
    shortage(of: isInUse.withLock { $0 } ? further : first)
  }

  private static func shortage(of count: Int) -> Int32? {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    while opened.count < count {
      let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return errno }
      opened.append(descriptor)
    }
    return nil
  }
}
