/// A numeric IP address without a port: what a name stands for.
package struct NetworkAddress: Sendable, Hashable {
  /// The protocol the address belongs to.
  package enum Family: Sendable, Hashable, CaseIterable {
    case v4
    case v6
  }

  /// Which protocol it belongs to.
  package let family: Family
  /// 4 bytes (v4) or 16 bytes (v6) in network order.
  package let bytes: [UInt8]
  /// The interface's index for a link-local IPv6 address (RFC 4007), else 0.
  package let scope: UInt32

  /// The address with these `bytes`; nil when their number fits no family.
  package init?(bytes: [UInt8], scope: UInt32 = 0) {
    switch bytes.count {
    case 4: family = .v4
    case 16: family = .v6
    default: return nil
    }
    self.bytes = bytes
    self.scope = scope
  }
}

extension [NetworkAddress] {
  /// Whether both families are there, which makes a race worth its while.
  package var hasTwoFamilies: Bool {
    contains { $0.family == .v4 } && contains { $0.family == .v6 }
  }
}
