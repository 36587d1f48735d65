/// A certificate of a user's key (PROTOCOL.certkeys): what an authority has said of that key.
package struct UserCertificate: Sendable, Equatable {
  /// The certificate as it stands on the wire.
  package let blob: [UInt8]
  /// The key that it is for, as that stands on the wire.
  package let key: [UInt8]
  /// What it grants to whom, and who says so: its identity, principals, critical options (a forced
  /// command is one) and the authority's key. The same in one that is issued again.
  package let grant: [UInt8]

  /// The certificate in `blob`; nil where that is none of a user, or of a key of no known type.
  package init?(blob: [UInt8]) {
    var reader = WireReader(blob)
    guard let type = reader.name(),
      let algorithm = PublicKeyAlgorithm(keyType: type), algorithm.isCertificate,
      reader.string() != nil
    else { return nil }
    var key = WireWriter()
    key.string(algorithm.plainType)
    for _ in 0..<algorithm.keyFields {
      guard let field = reader.string() else { return nil }
      key.string(field)
    }
    guard reader.take(8) != nil, reader.uint32() == Self.ofUser else { return nil }
    self.blob = blob
    self.key = key.bytes
    var grant = WireWriter()
    for _ in 0..<2 { grant.string(reader.string() ?? []) }
    // From when to when.
    _ = reader.take(16)
    let options = reader.string() ?? []
    // Extensions, and what is reserved.
    for _ in 0..<2 { _ = reader.string() }
    for field in [options, reader.string() ?? []] { grant.string(field) }
    self.grant = grant.bytes
  }

  /// SSH_CERT_TYPE_USER.
  private static let ofUser: UInt32 = 1
}
