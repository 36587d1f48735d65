import BridgeErrors
import BridgeFaults
import BridgeSSH
import Testing

/// Nothing in common: the error says of which kind, and what each side offers.
@Suite(.timeLimit(.minutes(5))) struct NoCommonAlgorithmTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var offer: SSHAlgorithmOffer
    /// What the error must say.
    var says: [String]

    init(
      _ name: String, _ path: WritableKeyPath<SSHAlgorithmOffer, String>, _ list: String,
      says: [String]
    ) {
      testDescription = name
      offer = SSHAlgorithmOffer()
      offer[keyPath: path] = list
      self.says = says + list.split(separator: ",").map(String.init)
    }
  }

  static let rows = [
    Row(
      "key exchange", \.keyExchanges, "diffie-hellman-group1-sha1,sntrup761x25519-sha512",
      says: ["key exchange method", "curve25519-sha256", "ecdh-sha2-nistp521"]),
    Row("host key", \.hostKeys, "ssh-dss", says: ["host key type", "ssh-ed25519"]),
    // libssh2 1.11 has rsa-sha2-512.
    Row(
      "RSA host key", \.hostKeys,
      LibraryVersion.linked.hasRSAWithSHA2 ? "ssh-rsa" : "rsa-sha2-512,ssh-rsa",
      says: LibraryVersion.linked.hasRSAWithSHA2
        ? ["host key type", "ssh-ed25519"]
        : ["only RSA host keys", "libssh2 \(LibraryVersion.linked)", "ed25519"]),
    Row(
      "cipher", \.ciphers, "chacha20-poly1305@openssh.com,3des-cbc",
      says: ["cipher to the server", "cipher from the server", "aes128-ctr"]),
    Row(
      "MAC", \.macs, "hmac-md5",
      says: ["MAC to the server", "MAC from the server", "hmac-sha2-256"]),
    Row(
      "compression", \.compressions, "zlib@openssh.com",
      says: ["compression to the server", "none"]),
  ]

  @Test(arguments: rows) func namesTheKindAndBothLists(row: Row) async throws {
    let peer = try await ScriptedTCPPeer(.offer(row.offer))
    let error = await expectFailure(
      of: stranger(to: peer.port),
      ExpectedFailure(.algorithmMismatch, in: .keyExchange, exit: .protocolBroken))
    guard case .sshAlgorithmMismatch("127.0.0.1", let detail) = error else {
      Issue.record("\(error)")
      return
    }
    for word in row.says { #expect(detail.contains(word)) }
    await peer.stop()
  }

  /// libssh2 1.11 verifies such a key.
  @Test(.enabled(if: !LibraryVersion.linked.hasRSAWithSHA2))
  func aRealServerWithAnRSAKeyOnlyIsNamedToo() async throws {
    var configuration = SSHServerConfiguration()
    configuration.hostKeys = [.rsa]
    try await withServer(configuration) { server in
      let error = await expectFailure(
        of: stranger(to: server.port),
        ExpectedFailure(.algorithmMismatch, in: .keyExchange, exit: .protocolBroken))
      #expect("\(error)".contains("only RSA host keys"))
      #expect("\(error)".contains("libssh2 \(LibraryVersion.linked)"))
    }
  }
}
