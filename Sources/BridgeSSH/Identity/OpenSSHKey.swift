/// OpenSSH's private key container (openssh-portable, PROTOCOL.key).
enum OpenSSHKey {
  private static let magic = Array("openssh-key-v1\0".utf8)
  /// What `ssh-keygen -Z` offers beside the others, and libssh2 decrypts no key file with.
  private static let authenticated: Set = [
    "aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
  ]

  /// What the decoded `bytes` of a container say. An unencrypted one is also looked into: its two
  /// check numbers must agree.
  static func info(_ bytes: Span<UInt8>) throws(KeyFileProblem) -> PrivateKeyInfo {
    var cursor = SpanCursor(0..<bytes.count)
    guard let mark = cursor.take(magic.count), bytes.starts(mark, with: magic),
      let cipher = cursor.name(in: bytes), let derivation = cursor.name(in: bytes),
      let options = cursor.string(in: bytes), options.count <= 1024,
      cursor.uint32(in: bytes) == 1, let blob = cursor.string(in: bytes),
      let secret = cursor.string(in: bytes), let key = HostKey(blob: bytes.bytes(blob))
    else { throw .damaged }
    let isEncrypted = cipher != "none"
    guard isEncrypted || hasChecks(secret, in: bytes, type: key.type) else { throw .damaged }
    return PrivateKeyInfo(
      .openSSH, PrivateKeyInfo.kind(named: key.type), isEncrypted: isEncrypted,
      publicBlob: bytes.bytes(blob),
      unreadableCipher: authenticated.contains(cipher) ? cipher : nil,
      rounds: isEncrypted ? try rounds(derivation, bytes.bytes(options)) : 0)
  }

  /// Where the private part stands in the decoded `bytes` of a container that is not encrypted.
  static func secret(in bytes: Span<UInt8>) -> Range<Int>? {
    var cursor = SpanCursor(0..<bytes.count)
    guard let mark = cursor.take(magic.count), bytes.starts(mark, with: magic),
      cursor.name(in: bytes) == "none", cursor.string(in: bytes) != nil,
      cursor.string(in: bytes) != nil, cursor.uint32(in: bytes) == 1,
      cursor.string(in: bytes) != nil
    else { return nil }
    return cursor.string(in: bytes)
  }

  private static func hasChecks(
    _ secret: Range<Int>, in bytes: Span<UInt8>, type: String
  ) -> Bool {
    var cursor = SpanCursor(secret)
    guard let first = cursor.uint32(in: bytes), let second = cursor.uint32(in: bytes) else {
      return false
    }
    return first == second && cursor.name(in: bytes) == type
  }

  private static func rounds(_ name: String, _ options: [UInt8]) throws(KeyFileProblem) -> Int {
    var reader = WireReader(options)
    guard name == "bcrypt", reader.string() != nil, let rounds = reader.uint32(), rounds > 0 else {
      throw .damaged
    }
    return Int(rounds)
  }
}
