import Foundation

/// A port of ::1 whose backlog is full: Linux drops every further SYN, so that a dial to it neither
/// connects nor fails (tcp(7), tcp_abort_on_overflow = 0). Gone with the value.
final class BlackHole: Sendable {
  private let listener: Int32
  private let filler: Int32

  /// Nil where the port is taken, or there is no IPv6.
  init?(at port: Int) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    listener = socket(AF_INET6, kind, 0)
    filler = socket(AF_INET6, kind, 0)
    var name = sockaddr_in6()
    name.sin6_family = sa_family_t(AF_INET6)
    name.sin6_port = in_port_t(truncatingIfNeeded: port).bigEndian
    name.sin6_addr = in6addr_loopback
    let length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let (listener, filler) = (listener, filler)
    let isFull = unsafe withUnsafePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe bind(listener, name, length) == 0 && listen(listener, 0) == 0
          && connect(filler, name, length) == 0
      }
    }
    guard isFull else { return nil }
  }

  deinit {
    close(filler)
    close(listener)
  }
}
