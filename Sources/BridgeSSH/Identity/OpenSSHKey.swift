/// OpenSSH's private key container (openssh-portable, PROTOCOL.key).
enum OpenSSHKey {
  private static let magic = Array("openssh-key-v1\0".utf8)

  /// What the decoded `bytes` of a container say. An unencrypted one is also looked into: its two
  /// check numbers must agree.
  static func info(_ bytes: [UInt8]) throws(KeyFileProblem) -> PrivateKeyInfo {
    var reader = WireReader(bytes)
    guard reader.take(magic.count) == magic, let cipher = reader.name(),
      let derivation = reader.name(), let options = reader.string(limit: 1024),
      reader.uint32() == 1, let blob = reader.string(), let secret = reader.string(),
      let key = HostKey(blob: blob)
    else { throw .damaged }
    let isEncrypted = cipher != "none"
    guard isEncrypted || hasChecks(secret, type: key.type) else { throw .damaged }
    return PrivateKeyInfo(
      .openSSH, PrivateKeyInfo.kind(named: key.type), isEncrypted: isEncrypted, publicBlob: blob,
      rounds: isEncrypted ? try rounds(derivation, options) : 0)
  }

  private static func hasChecks(_ secret: [UInt8], type: String) -> Bool {
    var reader = WireReader(secret)
    guard let first = reader.uint32(), let second = reader.uint32() else { return false }
    return first == second && reader.name() == type
  }

  private static func rounds(_ name: String, _ options: [UInt8]) throws(KeyFileProblem) -> Int {
    var reader = WireReader(options)
    guard name == "bcrypt", reader.string() != nil, let rounds = reader.uint32(), rounds > 0 else {
      throw .damaged
    }
    return Int(rounds)
  }
}
