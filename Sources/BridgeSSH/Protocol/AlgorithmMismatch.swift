import BridgeErrors

/// A kind of algorithm in which we and the peer have nothing in common.
package struct AlgorithmMismatch: Sendable, Equatable {
  /// The kind.
  package let kind: AlgorithmKind
  /// The offer of this side.
  package let ours: [String]
  /// The offer of the peer, raw.
  package let theirs: [String]
  /// Both lists in a sentence, escaped and bounded.
  package let detail: String

  /// Every kind without a common member, in the order of the message.
  package static func find(
    ours: AlgorithmOffer, theirs: KexInit, library: LibraryVersion
  ) -> [AlgorithmMismatch] {
    AlgorithmKind.allCases.compactMap { kind in
      let peer = theirs[kind].filter { !isSignal($0) }
      guard Set(ours[kind]).isDisjoint(with: peer) else { return nil }
      return AlgorithmMismatch(
        kind: kind, ours: ours[kind], theirs: peer,
        detail: sentence(kind, ours: ours[kind], theirs: peer, library: library))
    }
  }

  /// Names that say something about the peer and are no algorithms (RFC 8308; strict key exchange).
  private static func isSignal(_ name: String) -> Bool {
    name.hasPrefix("ext-info-") || name.hasPrefix("kex-strict-")
  }

  private static func sentence(
    _ kind: AlgorithmKind, ours: [String], theirs: [String], library: LibraryVersion
  ) -> String {
    if kind == .hostKey, !library.hasRSAWithSHA2, !theirs.isEmpty, theirs.allSatisfy(isRSA) {
      return "The server offers only RSA host keys (\(shown(theirs))), and libssh2 \(library) "
        + "has no rsa-sha2: the server needs an ed25519 or ECDSA host key, "
        + "or this side libssh2 1.11."
    }
    return "No common \(kind.words): we offer \(shown(ours)); the server offers \(shown(theirs)). "
      + side(kind, theirs, library)
  }

  /// Which side lacks what, so that the right one is changed.
  private static func side(
    _ kind: AlgorithmKind, _ theirs: [String], _ library: LibraryVersion
  ) -> String {
    let here = theirs.filter(AlgorithmOffer(library: library).available(kind).contains)
    guard here.isEmpty else { return "This side has \(shown(here)) too, and offers it on request." }
    let newer = LibraryVersion(1, 11, 1)
    let later = theirs.filter(AlgorithmOffer(library: newer).available(kind).contains)
    guard library < newer, !later.isEmpty else {
      return "libssh2 has none of these: the server must allow one of ours."
    }
    return "It is this side that lacks \(shown(later)): libssh2 \(newer) has it, and this is "
      + "\(library)."
  }

  private static func isRSA(_ name: String) -> Bool {
    name.hasPrefix("rsa-sha2-") || name.hasPrefix("ssh-rsa")
  }

  /// At most 24 names of at most 64 bytes.
  private static func shown(_ names: [String]) -> String {
    guard !names.isEmpty else { return "nothing" }
    let first = names.prefix(24).map { PeerText.escaped($0, limit: 64) }.joined(separator: ", ")
    return names.count > 24 ? "\(first) and \(names.count - 24) more" : first
  }
}
