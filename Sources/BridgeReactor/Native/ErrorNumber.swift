import Glibc

/// What `errno` values mean to a dial (errno(3), connect(2), socket(2)).
package enum ErrorNumber {
  /// Something else has the address.
  package static let addressInUse = EADDRINUSE
  static let hostUnreachable = EHOSTUNREACH
  static let invalidArgument = EINVAL
  static let refused = ECONNREFUSED
  static let familyUnsupported = EAFNOSUPPORT
  /// This machine has not the address or interface that is to be connected from.
  static let sourceMissing = ENODEV

  /// From "says most" down: our own shortage (no address was really tried), then an answer of the
  /// host itself, of a firewall, silence, of a router, of our own routing table.
  private static let mostTellingFirst: [Int32] = [
    EMFILE, ENFILE, ENOMEM, ENOBUFS, ECONNREFUSED, ECONNRESET, EACCES, EPERM, ETIMEDOUT,
    EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL,
  ]

  /// The greater, the more it says; 0 for an error that is not listed.
  static func weight(_ errno: Int32) -> Int {
    guard let index = mostTellingFirst.firstIndex(of: errno) else { return 0 }
    return mostTellingFirst.count - index
  }

  /// Whether this process or this machine ran out of something.
  static func isShortage(_ errno: Int32) -> Bool {
    [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno)
  }

  /// Whether our own side knew no way to the host, so that an interface may be down.
  static func isWithoutRoute(_ errno: Int32) -> Bool {
    [ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL].contains(errno)
  }

  static func isInterfaceDown(_ errno: Int32) -> Bool {
    errno == ENETDOWN
  }
}
