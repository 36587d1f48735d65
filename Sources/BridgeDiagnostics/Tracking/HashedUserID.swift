public import BridgeErrors

/// A user's id that cannot be turned back: HMAC-SHA-256 under a key of this installation, in hex.
///
/// A plain hash would not suffice: ids are few or guessable, and all of them could be tried.
public struct HashedUserID: Sendable, Hashable, CustomStringConvertible {
  /// 64 hexadecimal digits.
  public let description: String

  /// The hash of `userID` under `key`; nil where libcrypto refuses.
  public init?(_ userID: String, key: Secret) {
    let digest = key.reveal { KeyedHash.sha256(key: $0, message: Array(userID.utf8)) }
    guard let digest else { return nil }
    description = digest.reduce(into: "") { text, byte in
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
}
