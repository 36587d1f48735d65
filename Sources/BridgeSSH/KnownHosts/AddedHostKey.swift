/// A host key that was trusted when connecting and added to known_hosts.
public struct AddedHostKey: Sendable, Equatable {
  /// The key's type as people know it: `ED25519`, `ECDSA`.
  public let keyType: String
  /// `SHA256:` and the base64 of the key's digest.
  public let fingerprint: String
  /// The known_hosts file it was added to.
  public let file: String
}
