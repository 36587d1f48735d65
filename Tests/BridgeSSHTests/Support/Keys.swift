import BridgeSSH

/// Host keys made up for tests: right in form, wrong in mathematics.
enum Keys {
  static func blob(_ type: String, _ filling: UInt8) -> [UInt8] {
    var writer = WireWriter()
    writer.string(type)
    writer.string([UInt8](repeating: filling, count: 32))
    return writer.bytes
  }

  static let ed1 = blob("ssh-ed25519", 1)
  static let ed2 = blob("ssh-ed25519", 2)
  static let ecdsa = blob("ecdsa-sha2-nistp256", 3)
  static let rsa = blob("ssh-rsa", 4)

  /// The key as known_hosts writes it: type and base64.
  static func words(_ blob: [UInt8]) -> String {
    "\(HostKey(blob: blob)?.type ?? "?") \(Base64.encode(blob))"
  }
}
