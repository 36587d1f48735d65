import Glibc
import Synchronization

/// Ports for peers that go away and come back under the same number.
package enum LoopbackPort {
  // Below Linux' ephemeral range (32768…60999): a client that redials a closed ephemeral port can
  // be given that very port as its source and connect to itself, and while a peer is down
  // any outgoing connection may take its number.
  private static let range = 10_240..<32_768
  private static let next = Atomic<Int>(0)

  /// A port without a listener; two calls never give the same one, also not in two programs of
  /// this machine that run at the same time.
  package static func reserve() throws(FaultError) -> Int {
    let start = Int(getpid()) * 131
    for _ in range {
      let step = next.wrappingAdd(1, ordering: .relaxed).oldValue
      let port = range.lowerBound + (start + step) % range.count
      guard let claim = claim(port) else { continue }
      if let descriptor = bind(port) {
        defer { close(descriptor) }
        if Glibc.listen(descriptor, 1) == 0 { return port }
      }
      close(claim)
    }
    throw .cannotListen(detail: "no free port in \(range)")
  }

  /// Tells other programs that a port is ours: a name that only one socket can have, for as long as
  /// this program runs (unix(7), abstract sockets). Nil when it is taken.
  private static func claim(_ port: Int) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array("\0bridge-faults-port-\(port)".utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let size = MemoryLayout<sa_family_t>.size + name.count
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.bind(descriptor, $0, socklen_t(size))
      }
    }
    guard bound == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Stops a listening socket at once.
  ///
  /// Closing it is not enough: a child that was just forked has a copy of it until it executes its
  /// program, and the kernel would go on accepting.
  static func stopListening(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RD)) }

  /// A TCP socket bound to a port of 127.0.0.1, not yet listening; nil when the port is taken.
  static func bind(_ port: Int) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var on: Int32 = 1
    let length = socklen_t(MemoryLayout<Int32>.size)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, length)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}
