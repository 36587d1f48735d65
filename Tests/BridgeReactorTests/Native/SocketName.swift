import BridgeReactor
import Foundation

/// A `sockaddr` with its length.
struct SocketName {
  private var storage = sockaddr_storage()
  private var length: socklen_t

  init(_ address: NetworkAddress, port: Int) {
    let port = UInt16(truncatingIfNeeded: port).bigEndian
    switch address.family {
    case .v4:
      var v4 = sockaddr_in()
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port
      unsafe withUnsafeMutableBytes(of: &v4.sin_addr) { unsafe $0.copyBytes(from: address.bytes) }
      length = socklen_t(MemoryLayout<sockaddr_in>.size)
      unsafe withUnsafeMutableBytes(of: &storage) {
        unsafe $0.storeBytes(of: v4, as: sockaddr_in.self)
      }
    case .v6:
      var v6 = sockaddr_in6()
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port
      unsafe withUnsafeMutableBytes(of: &v6.sin6_addr) { unsafe $0.copyBytes(from: address.bytes) }
      length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      unsafe withUnsafeMutableBytes(of: &storage) {
        unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self)
      }
    }
  }

  /// The name `descriptor` is bound to.
  static func own(of descriptor: Int32) -> SocketName? {
    var name = SocketName(.loopback, port: 0)
    name.length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = unsafe withUnsafeMutablePointer(to: &name.storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &name.length)
      }
    }
    return result == 0 ? name : nil
  }

  /// The port is at the same place in both families.
  /// The address of an IPv4 name; nil for another.
  var address: NetworkAddress? {
    guard Int32(storage.ss_family) == AF_INET else { return nil }
    return unsafe withUnsafeBytes(of: storage) {
      let v4 = unsafe $0.loadUnaligned(as: sockaddr_in.self)
      return unsafe NetworkAddress(bytes: withUnsafeBytes(of: v4.sin_addr) { unsafe Array($0) })
    }
  }

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
