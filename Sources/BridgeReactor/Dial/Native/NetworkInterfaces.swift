import Glibc

/// The machine's network interfaces.
package enum NetworkInterfaces {
  /// Whether one that leads somewhere (not loopback) is up, has a carrier and an address
  /// (getifaddrs(3)); true when that cannot be determined.
  @Sendable package static func hasOneUp() -> Bool {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&list) == 0 else { return true }
    defer { unsafe freeifaddrs(list) }
    var next = unsafe list
    while let interface = unsafe next {
      if unsafe isUsable(interface.pointee) { return true }
      unsafe next = interface.pointee.ifa_next
    }
    return false
  }

  /// The addresses of the interface `name`, nil for all of them, those first that are not of a link
  /// alone; none where there is no such interface, or it is down.
  @Sendable package static func addresses(of name: String? = nil) -> [NetworkAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&list) == 0 else { return [] }
    defer { unsafe freeifaddrs(list) }
    var addresses: [NetworkAddress] = []
    var next = unsafe list
    while let interface = unsafe next {
      let isUp = unsafe interface.pointee.ifa_flags & UInt32(IFF_UP) != 0
      let itsName = unsafe String(cString: interface.pointee.ifa_name)
      if isUp, name == nil || itsName == name,
        let address = unsafe NetworkAddress(interface.pointee.ifa_addr)
      {
        addresses.append(address)
      }
      unsafe next = interface.pointee.ifa_next
    }
    return addresses.filter { $0.scope == 0 } + addresses.filter { $0.scope != 0 }
  }

  private static func isUsable(_ interface: ifaddrs) -> Bool {
    let flags = unsafe interface.ifa_flags
    let isUp = flags & UInt32(IFF_UP) != 0 && flags & UInt32(IFF_RUNNING) != 0
    let isLoopback = flags & UInt32(IFF_LOOPBACK) != 0
    guard isUp, !isLoopback, let address = unsafe interface.ifa_addr else { return false }
    return unsafe NetworkAddress(address) != nil
  }
}
