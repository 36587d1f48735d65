import BridgeErrors

/// The properties of a private key file, read without its passphrase and before the network is
/// touched.
package struct PrivateKeyInfo: Sendable, Equatable {
  /// How the key is written.
  package enum Format: String, Sendable, CaseIterable {
    /// OpenSSH's own (PROTOCOL.key), the default of ssh-keygen.
    case openSSH
    /// One of OpenSSL's traditional forms, encrypted by RFC 1421 headers.
    case pem
    /// PKCS #8 (RFC 5958).
    case pkcs8
  }

  /// The kind of key.
  package enum Kind: Sendable, Hashable {
    case ed25519
    case ecdsa
    case rsa
    case dsa
    /// A key that lives on a FIDO device (`sk-…@openssh.com`).
    case securityKey
    /// Another one; its name is escaped and bounded.
    case other(String)
    /// It does not show until the file is decrypted.
    case hidden
  }

  /// How it is written.
  package let format: Format
  /// The kind of key.
  package let kind: Kind
  /// Whether a passphrase is needed.
  package let isEncrypted: Bool
  /// The public key as it stands on the wire, where the file shows it.
  package let publicBlob: [UInt8]?
  /// The cipher, where libssh2 cannot decrypt the file.
  package let unreadableCipher: String?
  /// How often the passphrase is hashed (bcrypt); 0 where it is not.
  package let rounds: Int

  /// The largest file that is read, in bytes.
  package static let limit = 65_536
  /// The most hashing that is waited for: about two minutes. ssh-keygen's default is 16.
  package static let roundLimit = 16_384

  /// Parses the `bytes` of a file.
  package init(_ bytes: [UInt8]) throws(KeyFileProblem) {
    try self.init(bytes.span)
  }

  /// What the file with these bytes holds. None of what is secret is copied to memory that is not
  /// overwritten after.
  init(_ text: Span<UInt8>) throws(KeyFileProblem) {
    guard text.count <= Self.limit else { throw .tooLarge }
    let armor = try KeyArmor(text)
    let format: (Span<UInt8>) throws(KeyFileProblem) -> Self
    switch armor.label {
    case "OPENSSH PRIVATE KEY": format = OpenSSHKey.info
    case "RSA PRIVATE KEY": format = Self.pem(.rsa, isEncrypted: armor.isEncrypted)
    case "DSA PRIVATE KEY": format = Self.pem(.dsa, isEncrypted: armor.isEncrypted)
    case "EC PRIVATE KEY": format = Self.pem(.ecdsa, isEncrypted: armor.isEncrypted)
    case "PRIVATE KEY": format = Self.pkcs8
    case "ENCRYPTED PRIVATE KEY": format = Self.encryptedPKCS8
    default: throw armor.problem
    }
    self = try armor.body(in: text).withSpan(format)
  }

  init(
    _ format: Format, _ kind: Kind, isEncrypted: Bool, publicBlob: [UInt8]? = nil,
    unreadableCipher: String? = nil, rounds: Int = 0
  ) {
    self.format = format
    self.kind = kind
    self.isEncrypted = isEncrypted
    self.publicBlob = publicBlob
    self.unreadableCipher = unreadableCipher
    self.rounds = rounds
  }

  private static func pem(
    _ kind: Kind, isEncrypted: Bool
  ) -> (Span<UInt8>) throws(KeyFileProblem) -> Self {
    func info(_ body: Span<UInt8>) throws(KeyFileProblem) -> Self {
      guard isEncrypted || DERCursor.isSequence(body) else { throw .damaged }
      return Self(.pem, kind, isEncrypted: isEncrypted)
    }
    return info
  }

  private static func pkcs8(_ body: Span<UInt8>) throws(KeyFileProblem) -> Self {
    Self(.pkcs8, try PKCS8.kind(body), isEncrypted: false)
  }

  private static func encryptedPKCS8(_ body: Span<UInt8>) throws(KeyFileProblem) -> Self {
    guard DERCursor.isSequence(body) else { throw .damaged }
    return Self(.pkcs8, .hidden, isEncrypted: true)
  }

  /// The kind of the wire's `name`.
  static func kind(named name: String) -> Kind {
    switch name {
    case "ssh-ed25519": .ed25519
    case "ssh-rsa": .rsa
    case "ssh-dss": .dsa
    case _ where name.hasPrefix("ecdsa-sha2-"): .ecdsa
    case _ where name.hasPrefix("sk-"): .securityKey
    default: .other(PeerText.escaped(name, limit: 64))
    }
  }
}

/// Why a file is no private key that could be used. Nothing of its content is repeated.
package enum KeyFileProblem: Error, Sendable, Hashable, CaseIterable {
  case empty
  case tooLarge
  case publicKey
  case putty
  case ssh1
  case notAKey
  case damaged
  case exposed

  /// The problem in words, of the file at this path, which may be shown.
  package func reason(of path: String) -> String { "\(path): \(reason)" }

  /// The problem in words.
  package var reason: String {
    switch self {
    case .empty: "The key file is empty."
    case .tooLarge: "The key file is larger than \(PrivateKeyInfo.limit) bytes."
    case .publicKey:
      "This is a public key; the private key is needed (the file without .pub), or an "
        + "ssh-agent that holds it."
    case .putty:
      "This is a PuTTY key; convert it: puttygen KEY.ppk -O private-openssh-new -o KEY"
    case .ssh1: "This is an SSH 1 key, which servers no longer accept."
    case .notAKey: "The file holds no private key."
    case .damaged: "The key file is damaged or cut off."
    case .exposed: "Others can read this private key, so it is not used."
    }
  }
}

extension PrivateKeyInfo {
  /// Why this key cannot be used with `library`; nil when it can be tried.
  package func refusal(library: LibraryVersion, hasPassphrase: Bool) -> String? {
    switch kind {
    case .dsa: return "This is a DSA key (ssh-dss), which servers refuse; use an ed25519 key."
    case .securityKey:
      return "This key is on a security key (FIDO): it is used through an ssh-agent that holds it "
        + "(ssh-add)."
    case .other(let name): return "Keys of type \(name) are not supported by libssh2 \(library)."
    case .rsa, .ed25519, .ecdsa, .hidden: break
    }
    if let unreadableCipher {
      return "The \(kindWords)key is encrypted with \(unreadableCipher), which libssh2 cannot "
        + "decrypt: put it into an ssh-agent (ssh-add), or give the file another cipher "
        + "(ssh-keygen -p -Z aes256-ctr -f FILE)."
    }
    if isEncrypted, !hasPassphrase {
      return "The \(kindWords)key is encrypted, and no passphrase was given."
    }
    if rounds > Self.roundLimit {
      return "The passphrase of this key is hashed \(rounds) times; "
        + "at most \(Self.roundLimit) are accepted."
    }
    return nil
  }

  private var kindWords: String {
    switch kind {
    case .ed25519: "ed25519 "
    case .ecdsa: "ECDSA "
    case .rsa: "RSA "
    case .dsa: "DSA "
    case .securityKey: "security "
    case .other(let name): name + " "
    case .hidden: ""
    }
  }
}
