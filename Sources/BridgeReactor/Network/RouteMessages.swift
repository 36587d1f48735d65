/// What the kernel says of its routing tables (rtnetlink(7)), as far as it concerns connections.
enum RouteMessages {
  /// Whether a datagram has a route that came or went and may lead to a peer. Not one within a link
  /// (`fe80::`), which each interface of a container brings, nor one to this machine's own
  /// addresses. What is cut off has none.
  static func haveAPath(_ datagram: [UInt8]) -> Bool {
    var rest = datagram[...]
    while rest.count >= header {
      let length = Int(rest.word(at: 0))
      guard length >= header, length <= rest.count else { return false }
      if isPath(rest.prefix(length)) { return true }
      rest = rest.dropFirst(aligned(length))
    }
    return false
  }

  /// One message: the header (linux/netlink.h), `rtmsg`, attributes (linux/rtnetlink.h).
  private static func isPath(_ message: ArraySlice<UInt8>) -> Bool {
    guard message.count >= header + route,
      [newRoute, deletedRoute].contains(message.half(at: 4))
    else { return false }
    let (family, table, kind) = (message.byte(16), message.byte(20), message.byte(23))
    guard table != localTable, kind == unicast else { return false }
    return family != version6 || !leadsWithinLink(message.dropFirst(header + route))
  }

  private static func leadsWithinLink(_ attributes: ArraySlice<UInt8>) -> Bool {
    var rest = attributes
    while rest.count >= attribute {
      let length = Int(rest.half(at: 0))
      guard length >= attribute, length <= rest.count else { return false }
      if rest.half(at: 2) == destination, length >= attribute + 2 {
        return rest.byte(4) == 0xFE && rest.byte(5) & 0xC0 == 0x80
      }
      rest = rest.dropFirst(aligned(length))
    }
    return false
  }

  private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

  private static let header = 16
  private static let route = 12
  private static let attribute = 4
  private static let newRoute: UInt16 = 24
  private static let deletedRoute: UInt16 = 25
  private static let localTable: UInt8 = 255
  private static let unicast: UInt8 = 1
  private static let destination: UInt16 = 1
  /// `AF_INET6`.
  private static let version6: UInt8 = 10
}

/// Numbers of the kernel, in the order of bytes of this machine.
extension ArraySlice<UInt8> {
  fileprivate func byte(_ offset: Int) -> UInt8 { self[startIndex + offset] }

  fileprivate func half(at offset: Int) -> UInt16 {
    UInt16(littleEndian: UInt16(byte(offset + 1)) << 8 | UInt16(byte(offset)))
  }

  fileprivate func word(at offset: Int) -> UInt32 {
    let bytes = (0..<4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(byte(offset + $1)) }
    return UInt32(littleEndian: bytes)
  }
}
