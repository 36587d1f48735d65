/// A certificate of a user's key (PROTOCOL.certkeys): what an authority has said of that key.
package struct UserCertificate: Sendable, Equatable {
  /// The certificate as it stands on the wire.
  package let blob: [UInt8]
  /// The key that it is for, as that stands on the wire.
  package let key: [UInt8]

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
  }

  /// SSH_CERT_TYPE_USER.
  private static let ofUser: UInt32 = 1
}
