/// A network: an address, and how many of its first bits all addresses in it share (CIDR,
/// RFC 4632 and RFC 4291).
package struct NetworkPrefix: Sendable, Equatable {
  /// The address of the network, whose other bits are 0.
  package let address: NetworkAddress
  /// The number of shared bits: 0 to 32, for IPv6 to 128.
  package let length: Int

  /// The network that `text` spells, `192.168.1.0/24` for instance; an address alone is a network
  /// of one. Nil for another text.
  ///
  /// - Parameter isExact: whether bits behind the length are a mistake; else they mean nothing.
  package init?(_ text: String, isExact: Bool = true) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard !parts[0].contains("%"), let address = NetworkAddress(numeric: String(parts[0])) else {
      return nil
    }
    let most = address.bytes.count * 8
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(parts[1]),
        length <= most
      else { return nil }
      self.length = length
    } else {
      length = most
    }
    let masked = Self.masked(address.bytes, length)
    guard !isExact || masked == address.bytes, let network = NetworkAddress(bytes: masked) else {
      return nil
    }
    self.address = network
  }

  /// Whether `other` is in it.
  package func contains(_ other: NetworkAddress) -> Bool {
    other.family == address.family && Self.masked(other.bytes, length) == address.bytes
  }

  /// `bytes` with all bits behind the first `length` set to 0.
  private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let count = min(8, max(0, length - index * 8))
      return byte & ~UInt8(truncatingIfNeeded: 0xFF >> count)
    }
  }
}
