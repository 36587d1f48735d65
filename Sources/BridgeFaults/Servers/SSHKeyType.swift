/// Key types ssh-keygen(1) can make.
public enum SSHKeyType: String, Sendable, CaseIterable {
  /// Ed25519; made in a few milliseconds.
  case ed25519
  /// ECDSA on NIST P-256.
  case ecdsa
  /// RSA, 3072 bits; takes a few hundred milliseconds to make.
  case rsa
}

/// Makes key pairs with ssh-keygen: `name` and `name.pub` in a folder.
enum SSHKeyMaker {
  static func make(
    _ type: SSHKeyType, passphrase: String = "", name: String, in folder: TemporaryFolder
  ) async throws(FaultError) {
    folder.remove(name)
    folder.remove("\(name).pub")
    var child = try ChildProcess(
      "/usr/bin/ssh-keygen",
      ["-q", "-t", type.rawValue, "-N", passphrase, "-C", name, "-f", folder.file(name)],
      log: folder.file("ssh-keygen.log"))
    guard await child.finish() else {
      throw .notReady(program: "ssh-keygen", log: folder.read("ssh-keygen.log"))
    }
  }
}
