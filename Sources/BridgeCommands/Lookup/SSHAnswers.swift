import BridgeErrors
import BridgeSSH

/// What ssh(1) says of itself: `-V` and `-Q`.
package enum SSHAnswers {
  /// In the form that programs read: the release of OpenSSH whose command line is read, and then
  /// what this is.
  package static var version: String {
    "OpenSSH_9.2p1-compatible bridgectl \(VersionCommand.current), "
      + "libssh2 \(SSHLibraries.libssh2), OpenSSL \(SSHLibraries.openSSL)"
  }

  private static let queries = [
    "cipher", "cipher-auth", "compression", "kex", "key", "key-ca-sign", "key-cert", "key-plain",
    "key-sig", "mac", "protocol-version", "sig",
  ]

  /// The names that `-Q name` lists.
  ///
  /// - Throws: the reason for a name that has no list.
  package static func answer(to name: String) throws(SSHArguments.Refusal) -> [String] {
    let offer = AlgorithmOffer.standard
    switch name.lowercased() {
    case "cipher", "ciphers": return offer.available(.cipherToServer).filter(isCurrent)
    case "cipher-auth":
      return offer.available(.cipherToServer).filter { isCurrent($0) && hasIntegrity($0) }
    case "mac", "macs": return offer.available(.macToServer).filter(isCurrent)
    case "kex", "kexalgorithms": return offer.available(.keyExchange)
    case "compression": return ["none"]
    case "protocol-version": return ["2"]
    case "key", "key-plain": return keys
    case "key-cert": return []
    case "sig", "key-sig", "key-ca-sign", "pubkeyacceptedalgorithms",
      "pubkeyacceptedkeytypes":
      return keys + ["rsa-sha2-256", "rsa-sha2-512"]
    case "hostkeyalgorithms": return offer.available(.hostKey)
    case "help": return queries
    default: throw .because("Unsupported query \"\(PeerText.escaped(name, limit: 64))\"")
    }
  }

  private static let keys = [
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa",
  ]

  /// Whether OpenSSH still has it: of the others libssh2 has some.
  private static func isCurrent(_ name: String) -> Bool {
    !["blowfish", "arcfour", "cast128", "rijndael", "ripemd160"].contains { name.contains($0) }
  }

  private static func hasIntegrity(_ cipher: String) -> Bool {
    Cipher.named(cipher)?.integrated != nil
  }
}
