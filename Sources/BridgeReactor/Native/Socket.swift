public import BridgeErrors
import CLibUV
import Glibc

/// A connected, non-blocking stream socket, and what it saw last.
///
/// It owns its descriptor and closes it once. One owner, one thread at a time.
@safe public final class Socket: @unchecked Sendable {
  /// How a read or a write ended.
  package enum Transfer: Equatable {
    case bytes(Int)
    case wouldBlock
    /// End of file or an error: `condition` says which.
    case ended
  }

  /// The descriptor, -1 once closed.
  public private(set) var descriptor: Int32
  /// Stays at the first end of file or error.
  public private(set) var condition: SocketCondition = .open

  /// Takes over `descriptor`, which is connected and does not block.
  public init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit { close() }

  package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    // recv(2) answers 0 to an empty buffer too, which is no end of file.
    guard buffer.count > 0 else { return .bytes(0) }
    while true {
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 {
        record(.endOfFile)
        return .ended
      }
      if errno == EINTR { continue }
      if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
      record(.failed(errno: errno))
      return .ended
    }
  }

  package func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    while true {
      let count = unsafe Glibc.send(
        descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      if count >= 0 { return .bytes(count) }
      if errno == EINTR { continue }
      if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
      record(.failed(errno: errno))
      return .ended
    }
  }

  /// Writes what the kernel takes of `bytes`.
  package func send(_ bytes: [UInt8]) -> Transfer {
    unsafe bytes.withUnsafeBytes { unsafe send($0) }
  }

  /// At most `limit` bytes that have come, which stay where they are.
  package func peek(_ limit: Int) -> (bytes: [UInt8], transfer: Transfer) {
    var bytes = [UInt8](repeating: 0, count: max(1, limit))
    while true {
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_PEEK))
      if count > 0 { return (Array(bytes.prefix(count)), .bytes(count)) }
      if count == 0 {
        record(.endOfFile)
        return ([], .ended)
      }
      if errno == EINTR { continue }
      if errno == EAGAIN || errno == EWOULDBLOCK { return ([], .wouldBlock) }
      record(.failed(errno: errno))
      return ([], .ended)
    }
  }

  /// Takes the first `count` bytes of what `peek` showed.
  package func discard(_ count: Int) {
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe bytes.withUnsafeMutableBytes { _ = unsafe receive(into: $0) }
  }

  /// Whether the peer has closed or the connection failed, with nothing left to read. Takes nothing
  /// and records nothing: the next read does.
  package func isAtEnd() -> Bool {
    var byte: UInt8 = 0
    let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    if count > 0 { return false }
    return count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
  }

  /// Whether both directions are over (poll(2), POLLHUP), whatever is left to read.
  package var isHungUp: Bool {
    var seen = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&seen, 1, 0) > 0 && seen.revents & Int16(POLLHUP) != 0
  }

  /// Asks the kernel to acknowledge at once: a server whose small writes wait for our delayed
  /// acknowledgement answers 40 ms sooner. It lasts until the kernel thinks better of it: ask
  /// after each read. Linux only (tcp(7)).
  package func acknowledgeAtOnce() {
    setOption(TCP_QUICKACK, 1)
  }

  /// Sends small writes at once (tcp(7), TCP_NODELAY).
  package func sendAtOnce() {
    setOption(TCP_NODELAY, 1)
  }

  /// Takes few bytes more than are on their way (tcp(7), TCP_NOTSENT_LOWAT): what is sent next on a
  /// slow way waits for a quarter of a megabyte, and not for all that a send buffer holds.
  package func keepBacklogShort() {
    setOption(TCP_NOTSENT_LOWAT, 256 << 10)
  }

  /// Bytes that the peer's kernel has acknowledged; 0 where the socket is closed or is no TCP one.
  package var acknowledged: UInt64 { information?.acknowledged ?? 0 }

  /// Bytes, and the end, that were sent and that the peer's kernel has not taken (tcp(7),
  /// SIOCOUTQ); nil where it will never take them, 0 where that is not known.
  package var unsent: Int? {
    var count: Int32 = 0
    guard unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0, count > 0 else { return 0 }
    return information?.state == UInt8(TCP_CLOSE) ? nil : Int(count)
  }

  /// Of a TCP socket. tcpi_state is the first byte of struct tcp_info, tcpi_bytes_acked lies 120
  /// bytes into it (linux/tcp.h, since 4.1; glibc's is shorter); it never changes but at its end.
  private var information: (state: UInt8, acknowledged: UInt64)? {
    var info = [UInt64](repeating: 0, count: 16)
    var size = socklen_t(info.count * MemoryLayout<UInt64>.size)
    let isKnown = unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0
    guard isKnown, size >= 128 else { return nil }
    return (UInt8(truncatingIfNeeded: info[0].littleEndian), info[15])
  }

  /// Takes a waiting connection; nil, with `errno`, when there is none.
  convenience init?(acceptedFrom listener: Int32) {
    let kind = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = bridge_accept(listener, kind)
    guard descriptor >= 0 else { return nil }
    self.init(descriptor: descriptor)
  }

  /// Ends what this side sends; the peer may go on.
  package func finish() {
    if descriptor >= 0 { _ = shutdown(descriptor, Int32(SHUT_WR)) }
  }

  /// Tells the peer that nothing more will come, and lets it see the end of file.
  package func shutDown() {
    if descriptor >= 0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  /// Closes the descriptor so that the peer sees an error, and not an end of file.
  package func reset() {
    guard descriptor >= 0 else { return }
    var linger = linger(l_onoff: 1, l_linger: 0)
    let size = socklen_t(MemoryLayout<linger>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, size)
    close()
  }

  /// Closes the descriptor. Closing twice does nothing.
  public func close() {
    guard descriptor >= 0 else { return }
    _ = Glibc.close(descriptor)
    descriptor = -1
  }

  private func record(_ seen: SocketCondition) {
    if condition == .open { condition = seen }
  }

  private func setOption(_ name: Int32, _ value: Int32) {
    var value = value
    _ = unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), name, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
