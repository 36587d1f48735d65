public import BridgeErrors

/// The algorithms we offer, best first.
public struct AlgorithmOffer: Sendable, Equatable {
  private var lists: [[String]]
  private let library: LibraryVersion
  /// Whether a request says which type of host key comes first: those that known_hosts has do not
  /// then, as with OpenSSH.
  private(set) var ordersHostKeys = false

  /// The offer for the linked library.
  public static var standard: AlgorithmOffer { AlgorithmOffer(library: LibSSH2.parsedVersion) }

  /// The offer unless a configuration asks otherwise: nothing weak, nothing that Terrapin
  /// (CVE-2023-48795) applies to, nothing in which libssh2 has known flaws. `library`
  /// decides on RSA host keys.
  package init(library: LibraryVersion) {
    self.library = library
    let hostKeys =
      ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"]
      + (library.hasRSAWithSHA2 ? ["rsa-sha2-512", "rsa-sha2-256"] : [])
    let ciphers = Cipher.names(standard: true, in: library)
    let macs = MessageAuthentication.names(standard: true, in: library)
    lists = [
      [
        "curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256",
        "ecdh-sha2-nistp384", "ecdh-sha2-nistp521",
      ],
      hostKeys, ciphers, ciphers, macs, macs, ["none"], ["none"],
    ]
  }

  /// The names offered for `kind`.
  public subscript(kind: AlgorithmKind) -> [String] {
    lists[kind.rawValue]
  }

  /// The names offered for `kind` as libssh2 takes them: separated by commas.
  package func preference(_ kind: AlgorithmKind) -> String {
    self[kind].joined(separator: ",")
  }

  /// The same offer with host key types in the order of `types`.
  package func preferring(hostKeys types: [String]) -> AlgorithmOffer {
    var offer = self
    offer.lists[AlgorithmKind.hostKey.rawValue] =
      types.filter { self[.hostKey].contains($0) } + self[.hostKey].filter { !types.contains($0) }
    return offer
  }

  /// The same offer with exactly `names` for `kind`, weak ones included: the caller asked for them
  /// by name.
  ///
  /// - Throws: `validationError` for no name, or one that libssh2 does not know.
  public func asking(for names: [String], of kind: AlgorithmKind) throws(AppError)
    -> AlgorithmOffer
  {
    let known = Set(available(kind))
    guard !names.isEmpty else {
      throw .validationError(field: kind.words, message: "no name is given")
    }
    for name in names where !known.contains(name) {
      throw .validationError(
        field: kind.words, message: "\(PeerText.escaped(name, limit: 64)) is not supported")
    }
    var offer = self
    offer.lists[kind.rawValue] = names
    return offer
  }

  /// The same offer as `request` changes it for `kinds`; nil where nothing would be left of one.
  package func applying(_ request: AlgorithmRequest, to kinds: [AlgorithmKind]) -> AlgorithmOffer? {
    var offer = self
    for kind in kinds {
      let names = request.names(from: self[kind], all: available(kind))
      guard !names.isEmpty else { return nil }
      offer.lists[kind.rawValue] = names
      if kind == .hostKey { offer.ordersHostKeys = request.setsOrder }
    }
    return offer
  }

  /// All algorithms that can be offered for `kind`, best first.
  package func available(_ kind: AlgorithmKind) -> [String] {
    let standard = AlgorithmOffer(library: library)[kind]
    return self[kind] + (standard + onRequest(kind)).filter { !self[kind].contains($0) }
  }

  /// Whether the two lists of ciphers differ though one has an AEAD. libssh2 1.11 then protects the
  /// packets of one direction by the rules of the other's cipher (CRYPT_FLAG_R in transport.c).
  package var isLopsided: Bool {
    let (out, back) = (self[.cipherToServer], self[.cipherToClient])
    return out != back && (out + back).contains { Cipher.named($0)?.integrated != nil }
  }

  /// The algorithms that libssh2 has besides (kex.c, hostkey.c, crypt.c, mac.c), on request only.
  private func onRequest(_ kind: AlgorithmKind) -> [String] {
    switch kind {
    case .keyExchange:
      [
        "diffie-hellman-group-exchange-sha256", "diffie-hellman-group16-sha512",
        "diffie-hellman-group18-sha512", "diffie-hellman-group14-sha256",
        "diffie-hellman-group14-sha1", "diffie-hellman-group1-sha1",
        "diffie-hellman-group-exchange-sha1",
      ]
    case .hostKey: ["ssh-rsa", "ssh-dss"]
    case .cipherToServer, .cipherToClient: Cipher.names(standard: false, in: library)
    case .macToServer, .macToClient: MessageAuthentication.names(standard: false, in: library)
    case .compressionToServer, .compressionToClient: []
    }
  }
}
