/// A host key that is in no known_hosts file, for a person to verify.
public struct HostKeyQuestion: Sendable, Equatable {
  /// The host as the user named it, with its port where that is not 22.
  public var host: String
  /// The key's type as people know it: `ED25519`, `ECDSA`.
  public var keyType: String
  /// `SHA256:` and the base64 of the key's digest.
  public var fingerprint: String
  /// Why a policy may not accept it: a known_hosts line that could not be read may be about this
  /// host, or the host is known by keys of other types.
  public var doubt: String?
  /// Whether the host is known, by keys of other types only; `doubt` names them.
  public var isKnownByOtherTypes = false
}
