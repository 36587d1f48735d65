import BridgeErrors

/// A server's public key, as it stands on the wire and in known_hosts (RFC 4253, 6.6).
package struct HostKey: Sendable, Hashable {
  /// The type's name as the blob itself gives it: `ssh-ed25519`, `ecdsa-sha2-nistp256`, …
  package let type: String
  /// The whole blob, type included.
  package let blob: [UInt8]

  /// The key in `blob`; nil when it does not start with a type name, holds nothing else, or is
  /// over 16 KiB.
  package init?(blob: [UInt8]) {
    guard blob.count <= 16_384 else { return nil }
    var reader = WireReader(blob)
    guard let type = reader.name(), !type.isEmpty, reader.remaining > 0 else { return nil }
    self.type = type
    self.blob = blob
  }

  /// `SHA256:` and the digest in base64 without padding, as `ssh-keygen -l` prints it.
  package var fingerprint: String {
    "SHA256:" + Base64.encode(Digest.sha256(blob), padded: false)
  }

  /// The type as people say it: `ED25519`, `ECDSA`, `RSA`, `DSA`, else the wire's name.
  package var typeName: String { Self.typeName(of: type) }

  /// The wire's `type` as people say it; an unknown one is escaped.
  package static func typeName(of type: String) -> String {
    switch type {
    case "ssh-ed25519": "ED25519"
    case "ssh-rsa", "rsa-sha2-256", "rsa-sha2-512": "RSA"
    case "ssh-dss": "DSA"
    case _ where type.hasPrefix("ecdsa-sha2-"): "ECDSA"
    default: PeerText.escaped(type, limit: 64)
    }
  }
}

extension HostKey {
  /// Why two words of a file are no public key.
  struct Unreadable: Error {
    let reason: String
  }

  /// The key written as `type` and `base64`.
  static func read(type: Substring?, base64: Substring?) -> Result<HostKey, Unreadable> {
    guard let type, let base64 else { return .failure(Unreadable(reason: "the key is missing")) }
    guard let key = Base64.decode(base64).flatMap({ HostKey(blob: $0) }) else {
      return .failure(Unreadable(reason: "the key is unreadable"))
    }
    guard key.type == type else {
      return .failure(Unreadable(reason: "the key is not of the type it is said to be"))
    }
    return .success(key)
  }

  /// The key of a `.pub` file with these `bytes`: the first line that is not empty and no comment;
  /// nil where that is none.
  init?(publicKeyFile bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let words = TextLines.words(Substring(decoding: rest.prefix { $0 != 10 }, as: UTF8.self))
      rest = rest.drop { $0 != 10 }.dropFirst()
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard case .success(let key) = Self.read(type: first, base64: words.dropFirst().first) else {
        return nil
      }
      self = key
      return
    }
    return nil
  }
}
