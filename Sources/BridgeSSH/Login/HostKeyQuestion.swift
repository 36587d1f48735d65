/// A host key that no known_hosts file vouches for, for a person to verify.
public struct HostKeyQuestion: Sendable, Hashable {
  /// What is known of the host.
  public enum Finding: Sendable, Hashable {
    /// Nothing. With a `doubt` no policy may accept the key: a known_hosts line that could not be
    /// read may be about this host.
    case unknown(doubt: String? = nil)
    /// Keys of other types only, which `detail` names.
    case otherTypes(detail: String)
    /// Another key of this type, which `detail` names, with its file and line.
    case changed(detail: String)

    /// What a person should know besides.
    public var detail: String? {
      switch self {
      case .unknown(let doubt): doubt
      case .otherTypes(let detail), .changed(let detail): detail
      }
    }
  }

  /// The host that is dialed, with its port where that is not 22.
  public var host: String
  /// The host as the user named it, where that is another name.
  public var name: String?
  /// The key's type as people know it: `ED25519`, `ECDSA`.
  public var keyType: String
  /// `SHA256:` and the base64 of the key's digest.
  public var fingerprint: String
  /// What is known of the host.
  public var finding: Finding

  /// A question about the key with this fingerprint.
  public init(
    host: String, name: String? = nil, keyType: String, fingerprint: String, finding: Finding
  ) {
    self.host = host
    self.name = name
    self.keyType = keyType
    self.fingerprint = fingerprint
    self.finding = finding
  }
}
