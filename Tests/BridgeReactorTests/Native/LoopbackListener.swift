import BridgeReactor
import Foundation

/// A listening TCP socket on a loopback address; gone with the value.
final class LoopbackListener: Sendable {
  struct CallFailure: Error {
    let errno: Int32
  }

  let descriptor: Int32
  let port: Int

  /// Listens at `address` (an ephemeral port unless one is given).
  init(at address: NetworkAddress, port: Int = 0, backlog: Int32 = 16) throws(CallFailure) {
    let isV4 = address.family == .v4
    let listener = socket(
      isV4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    descriptor = listener
    let wanted = SocketName(address, port: port)
    guard listener >= 0, unsafe wanted.call({ unsafe bind(listener, $0, $1) }) == 0,
      listen(listener, backlog) == 0, let bound = SocketName.own(of: listener)
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
    Socket(descriptor: Foundation.accept(descriptor, nil, nil))
  }
}

/// A listener whose backlog is full: Linux drops every further SYN, so that a dial to it neither
/// connects nor fails (tcp(7), tcp_abort_on_overflow = 0).
final class BlackHole: Sendable {
  let listener: LoopbackListener
  private let fillers: [Int32]

  var port: Int { listener.port }

  init(at address: NetworkAddress, port: Int = 0) throws(LoopbackListener.CallFailure) {
    listener = try LoopbackListener(at: address, port: port, backlog: 0)
    let name = SocketName(address, port: listener.port)
    let family = address.family == .v4 ? AF_INET : AF_INET6
    // The first is completed and fills the queue; the others are never answered, which the last
    // one's silence shows.
    fillers = (0..<4).map { _ in
      let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
      let filler = socket(family, Int32(kind), 0)
      _ = unsafe name.call { unsafe connect(filler, $0, $1) }
      return filler
    }
  }

  deinit {
    for filler in fillers { close(filler) }
  }
}

/// A `sockaddr` with its length.
struct SocketName {
  private var storage = sockaddr_storage()
  private var length: socklen_t

  init(_ address: NetworkAddress, port: Int) {
    let port = UInt16(truncatingIfNeeded: port).bigEndian
    switch address.family {
    case .v4:
      length = socklen_t(MemoryLayout<sockaddr_in>.size)
      var v4 = sockaddr_in()
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port
      unsafe withUnsafeMutableBytes(of: &v4.sin_addr) { unsafe $0.copyBytes(from: address.bytes) }
      unsafe withUnsafeMutableBytes(of: &storage) {
        unsafe $0.storeBytes(of: v4, as: sockaddr_in.self)
      }
    case .v6:
      length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      var v6 = sockaddr_in6()
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port
      unsafe withUnsafeMutableBytes(of: &v6.sin6_addr) { unsafe $0.copyBytes(from: address.bytes) }
      unsafe withUnsafeMutableBytes(of: &storage) {
        unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self)
      }
    }
  }

  static func own(of descriptor: Int32) -> SocketName? {
    var name = SocketName(empty: ())
    let result = unsafe withUnsafeMutablePointer(to: &name.storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &name.length)
      }
    }
    return result == 0 ? name : nil
  }

  private init(empty: Void) {
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
  }

  /// The port is at the same place in both families.
  var port: Int {
    unsafe withUnsafeBytes(of: storage) {
      Int(UInt16(bigEndian: unsafe $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    }
  }

  func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    unsafe withUnsafePointer(to: storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }
}
