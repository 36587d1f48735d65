import CLibUV
import Glibc

extension NetworkAddress: CustomStringConvertible {
  /// The address that `text` spells in numbers, also with a scope (`fe80::1%eth0`, RFC 4007); nil
  /// when it is a name. Never asks the network (getaddrinfo(3), AI_NUMERICHOST).
  package init?(numeric text: String) {
    guard !text.utf8.contains(0) else { return nil }
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_NUMERICHOST
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(text, nil, &hints, &list) == 0 else { return nil }
    defer { unsafe freeaddrinfo(list) }
    guard let address = unsafe list.flatMap({ unsafe NetworkAddress($0.pointee.ai_addr) }) else {
      return nil
    }
    self = address
  }

  /// What a `sockaddr` of either family holds; nil for another family.
  init?(_ address: UnsafePointer<sockaddr>?) {
    guard let address = unsafe address else { return nil }
    let raw = unsafe UnsafeRawPointer(address)
    switch Int32(unsafe address.pointee.sa_family) {
    case AF_INET:
      let v4 = unsafe raw.loadUnaligned(as: sockaddr_in.self)
      unsafe self.init(bytes: withUnsafeBytes(of: v4.sin_addr) { unsafe Array($0) })
    case AF_INET6:
      let v6 = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
      unsafe self.init(
        bytes: withUnsafeBytes(of: v6.sin6_addr) { unsafe Array($0) }, scope: v6.sin6_scope_id)
    default: return nil
    }
  }

  /// Calls `body` with the `sockaddr` of this address and `port`.
  func withSocketAddress<Result>(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    switch family {
    case .v4:
      var v4 = sockaddr_in()
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &v4.sin_addr) { unsafe $0.copyBytes(from: bytes) }
      return unsafe Self.withGeneric(&v4, body)
    case .v6:
      var v6 = sockaddr_in6()
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = port.bigEndian
      v6.sin6_scope_id = scope
      unsafe withUnsafeMutableBytes(of: &v6.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
      return unsafe Self.withGeneric(&v6, body)
    }
  }

  private static func withGeneric<Address, Result>(
    _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    let length = socklen_t(MemoryLayout<Address>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }

  /// In numbers, as it can be dialed: `127.0.0.1`, `::1`, `fe80::1%2`.
  package var description: String {
    let size = Int(INET6_ADDRSTRLEN)
    let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
      unsafe bytes.withUnsafeBytes { raw in
        let family = family == .v4 ? AF_INET : AF_INET6
        unsafe inet_ntop(family, raw.baseAddress, buffer.baseAddress, socklen_t(size))
      }
      return unsafe buffer.baseAddress.map { unsafe String(cString: $0) } ?? ""
    }
    return scope == 0 ? text : "\(text)%\(scope)"
  }
}
