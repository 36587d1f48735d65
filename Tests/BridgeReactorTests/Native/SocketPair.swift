import BridgeReactor
import Foundation

/// Two connected stream sockets of this process; gone with the value.
struct SocketPair {
  let near: Socket
  let far: Socket

  init() throws(LoopbackListener.CallFailure) {
    var ends: [Int32] = [-1, -1]
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    guard unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else {
      throw LoopbackListener.CallFailure(errno: errno)
    }
    near = Socket(descriptor: ends[0])
    far = Socket(descriptor: ends[1])
  }
}

extension Socket {
  /// What a read or write did, as a test can compare it.
  @discardableResult func write(_ bytes: [UInt8]) -> Transfer {
    unsafe bytes.withUnsafeBytes { unsafe send($0) }
  }

  /// At most `count` bytes, and how the read ended.
  func read(_ count: Int = 64) -> (bytes: [UInt8], result: Transfer) {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = unsafe bytes.withUnsafeMutableBytes { unsafe receive(into: $0) }
    if case .bytes(let count) = result { return (Array(bytes.prefix(count)), result) }
    return ([], result)
  }

  /// Writes until nothing more is taken.
  func fill() {
    let bytes = [UInt8](repeating: 7, count: 65536)
    while case .bytes = write(bytes) {}
  }

  /// Reads all there is.
  func drain() {
    while case .bytes = read(65536).result {}
  }

  /// Lets the close of the socket be a reset (socket(7), SO_LINGER).
  func resetWhenClosed() {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// The kernel's value of a TCP option.
  func tcpOption(_ name: Int32) -> Int32 {
    var value: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), name, &value, &length)
    return value
  }

  /// Flags of the descriptor: whether it blocks, whether a child inherits it.
  var isNonBlocking: Bool { fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0 }
  var isCloseOnExec: Bool { fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0 }
}
