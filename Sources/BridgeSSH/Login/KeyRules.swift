import BridgeErrors

/// Which keys may be used, of the user and of the host: PubkeyAcceptedAlgorithms and
/// RequiredRSASize of ssh_config(5).
package struct KeyRules: Sendable, Equatable {
  /// The algorithms of requests that may be made (PubkeyAcceptedAlgorithms); nil for all.
  private var accepted: [String]?
  /// The fewest bits of an RSA key (RequiredRSASize).
  package var smallestRSA = 1024

  /// The defaults of OpenSSH.
  package init() {}

  /// The algorithms of requests that may be made, of all that there are.
  package var algorithms: [String] { accepted ?? PublicKeyAlgorithm.methods }

  /// These rules with another list of algorithms; nil where that leaves none.
  package func accepting(_ request: AlgorithmRequest) -> KeyRules? {
    var rules = self
    let all = PublicKeyAlgorithm.methods
    let names = request.names(from: all, all: all)
    rules.accepted = names
    return names.isEmpty ? nil : rules
  }

  /// Why the user's key in `blob`, or the certificate, may not be offered; nil where it may.
  package func refusal(ofUserKey blob: [UInt8]) -> String? {
    var reader = WireReader(blob)
    if let algorithm = reader.name().flatMap(PublicKeyAlgorithm.init(keyType:)),
      !algorithms.contains(algorithm.method)
    {
      return "PubkeyAcceptedAlgorithms leaves \(algorithm.method) out."
    }
    return refusal(ofRSAKey: blob, "The")
  }

  /// Why the host's key in `blob` is not taken; nil where it is.
  package func refusal(ofHostKey blob: [UInt8]) -> String? {
    refusal(ofRSAKey: blob, "The host's")
  }

  /// Whether a reason not to use a key is one of these rules.
  package static func isReason(_ reason: String) -> Bool {
    reason.hasPrefix("PubkeyAcceptedAlgorithms ") || reason.contains("; RequiredRSASize ")
  }

  private func refusal(ofRSAKey blob: [UInt8], _ owner: String) -> String? {
    guard let bits = Self.bitsOfRSA(blob), bits < smallestRSA else { return nil }
    return "\(owner) RSA key has \(bits) bits; RequiredRSASize asks for \(smallestRSA)."
  }

  /// The bits of the modulus of an RSA key, or of one that is certified (RFC 4253, 6.6;
  /// PROTOCOL.certkeys); nil where it is none.
  private static func bitsOfRSA(_ blob: [UInt8]) -> Int? {
    var reader = WireReader(blob)
    guard let algorithm = reader.name().flatMap(PublicKeyAlgorithm.init(keyType:)),
      algorithm.isRSA
    else { return nil }
    // The nonce of a certificate, then the exponent.
    if algorithm.isCertificate, reader.string() == nil { return nil }
    guard reader.string() != nil, let modulus = reader.string() else { return nil }
    let digits = modulus.drop { $0 == 0 }
    guard let first = digits.first else { return 0 }
    return digits.count * 8 - first.leadingZeroBitCount
  }
}
