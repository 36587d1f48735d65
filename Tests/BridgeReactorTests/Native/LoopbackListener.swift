import BridgeReactor
import Foundation

/// A listening TCP socket on a loopback address; gone with the value, so hold on to it.
final class LoopbackListener: Sendable {
  struct CallFailure: Error {
    let errno: Int32
  }

  let descriptor: Int32
  let port: Int

  /// Listens at `address`, at an ephemeral port unless one is given. Without a backlog the port is
  /// taken without a listener: a dial is refused.
  init(at address: NetworkAddress, port: Int = 0, backlog: Int32? = 16) throws(CallFailure) {
    let listener = socket(
      address.family == .v4 ? AF_INET : AF_INET6,
      Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    descriptor = listener
    let wanted = SocketName(address, port: port)
    guard listener >= 0, unsafe wanted.call({ unsafe bind(listener, $0, $1) }) == 0,
      backlog.map({ listen(listener, $0) }) ?? 0 == 0, let bound = SocketName.own(of: listener)
    else {
      let failure = CallFailure(errno: errno)
      close(listener)
      throw failure
    }
    self.port = bound.port
  }

  deinit { close(descriptor) }

  /// Takes the next connection, waiting for it.
  func accept() -> Socket {
    while true {
      if let socket = acceptWaiting() { return socket }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, -1)
    }
  }

  /// Takes and closes the connections that are there.
  func acceptAll() {
    while let socket = acceptWaiting() { socket.close() }
  }

  /// Nil when there is none, or none any more: one that was there may have been reset.
  private func acceptWaiting() -> Socket? {
    let accepted = Foundation.accept(descriptor, nil, nil)
    return accepted < 0 ? nil : Socket(descriptor: accepted)
  }

  /// Connections that wait to be accepted (tcp(7), TCP_INFO of a listener).
  fileprivate var waiting: UInt32 {
    var info = tcp_info()
    var length = socklen_t(MemoryLayout<tcp_info>.size)
    unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length)
    return info.tcpi_unacked
  }
}

/// A listener whose backlog is full: Linux drops every further SYN, so that a dial to it neither
/// connects nor fails (tcp(7), tcp_abort_on_overflow = 0).
final class BlackHole: Sendable {
  private let listener: LoopbackListener
  private let filler: Int32

  var port: Int { listener.port }

  init(at address: NetworkAddress, port: Int = 0) throws(LoopbackListener.CallFailure) {
    listener = try LoopbackListener(at: address, port: port, backlog: 0)
    let filler = socket(
      address.family == .v4 ? AF_INET : AF_INET6,
      Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    self.filler = filler
    let name = SocketName(address, port: listener.port)
    guard unsafe name.call({ unsafe connect(filler, $0, $1) }) == 0 else {
      throw LoopbackListener.CallFailure(errno: errno)
    }
    while listener.waiting == 0 { sched_yield() }
  }

  deinit { close(filler) }

  /// A black hole at ::1 and a listener at 127.0.0.1, at one port.
  static func besideListener() throws(LoopbackListener.CallFailure) -> (
    BlackHole, LoopbackListener
  ) {
    for _ in 0..<20 {
      let hole = try BlackHole(at: .loopbackV6)
      // The port may be taken in the other family.
      if let listener = try? LoopbackListener(at: .loopback, port: hole.port) {
        return (hole, listener)
      }
    }
    throw LoopbackListener.CallFailure(errno: EADDRINUSE)
  }
}

/// A TCP socket connected to itself, as a dial to a port without listener may become.
struct SelfConnected {
  let socket: Socket

  init() throws(LoopbackListener.CallFailure) {
    let descriptor = Foundation.socket(
      AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    socket = Socket(descriptor: descriptor)
    let any = SocketName(.loopback, port: 0)
    guard unsafe any.call({ unsafe bind(descriptor, $0, $1) }) == 0,
      let own = SocketName.own(of: descriptor),
      unsafe own.call({ unsafe connect(descriptor, $0, $1) }) == 0
    else { throw LoopbackListener.CallFailure(errno: errno) }
  }
}
