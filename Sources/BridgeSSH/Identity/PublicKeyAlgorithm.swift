/// How a key of the user logs in: what the request calls it, and what its signature is called.
package struct PublicKeyAlgorithm: Sendable, Equatable {
  /// The type of the key, as it stands at the start of it.
  package let keyType: String
  /// The algorithm of the request (RFC 4252, 7; RFC 8332, 3; PROTOCOL.certkeys).
  package let method: String
  /// The name in front of the signature.
  package let signature: String

  /// That of a key of this type; nil where there is none that a server may take today.
  package init?(keyType: String) {
    let plain = Self.withoutCertificate(keyType)
    guard Self.plainTypes.contains(plain) else { return nil }
    self.keyType = keyType
    // SHA-1 is never used.
    let isRSA = plain == "ssh-rsa"
    signature = isRSA ? "rsa-sha2-256" : plain
    method = isRSA ? keyType.replacing("ssh-rsa", with: signature) : keyType
  }

  /// Whether it signs by rsa-sha2-256.
  var isRSA: Bool { signature == "rsa-sha2-256" }

  /// Whether its signature has more behind it (PROTOCOL.u2f).
  var isSecurityKey: Bool { signature.hasPrefix("sk-") }

  /// Whether the key is a certificate.
  var isCertificate: Bool { keyType.hasSuffix(Self.certificateMark) }

  /// The type of the key, or of the one that is certified.
  var plainType: String { Self.withoutCertificate(keyType) }

  /// How many strings a key of the type has behind its name (RFC 4253, 6.6; RFC 5656, 3.1;
  /// RFC 8709, 4; PROTOCOL.u2f).
  var keyFields: Int {
    switch plainType {
    case "ssh-ed25519": 1
    case "sk-ecdsa-sha2-nistp256@openssh.com": 3
    default: 2
    }
  }

  /// The signature flag of agents for it (draft-miller-ssh-agent, 4.5.1).
  var agentFlags: UInt32 { isRSA ? 2 : 0 }

  /// The algorithms of all requests that can be made: of keys, and of certificates of them.
  static let methods: [String] = {
    let certified = plainTypes.map { $0.replacing("@openssh.com", with: "") + certificateMark }
    return (certified + plainTypes).compactMap { PublicKeyAlgorithm(keyType: $0)?.method }
  }()

  private static let plainTypes = [
    "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
  ]

  private static let certificateMark = "-cert-v01@openssh.com"

  /// The type of the key that is certified.
  private static func withoutCertificate(_ type: String) -> String {
    guard type.hasSuffix(certificateMark) else { return type }
    let plain = String(type.dropLast(certificateMark.count))
    return plain.hasPrefix("sk-") ? plain + "@openssh.com" : plain
  }
}
