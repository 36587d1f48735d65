import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// AES-GCM, ChaCha20-Poly1305 and encrypt-then-MAC, where libssh2 has them: on request, against a
/// real sshd, over links that end or change bytes.
@Suite(
  .enabled(if: LibraryVersion.linked.hasModernProtection), .serialized, .timeLimit(.minutes(30)))
struct ModernProtectionTests {
  /// A cipher and a MAC, as they are asked for.
  struct Pair: Sendable, CustomStringConvertible {
    var cipher: String
    var mac = "hmac-sha2-256"

    var description: String { "\(cipher) \(mac)" }

    /// The configuration of a client that wants these and no others.
    func configuration(for server: SSHServer) throws -> SSHConfiguration {
      var configuration = trusting(server)
      for kind in [AlgorithmKind.cipherToServer, .cipherToClient] {
        configuration.algorithms = try configuration.algorithms.asking(for: [cipher], of: kind)
      }
      for kind in [AlgorithmKind.macToServer, .macToClient] {
        configuration.algorithms = try configuration.algorithms.asking(for: [mac], of: kind)
      }
      return configuration
    }
  }

  private static let aeads = [
    "chacha20-poly1305@openssh.com", "aes256-gcm@openssh.com", "aes128-gcm@openssh.com",
  ]
  private static let others = ["aes128-ctr", "aes192-ctr", "aes256-ctr", "aes256-cbc", "3des-cbc"]
  private static let macs = [
    "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha1-etm@openssh.com",
    "hmac-sha2-256",
  ]
  private static let pairs = (aeads + others).flatMap { cipher in
    macs.map { Pair(cipher: cipher, mac: $0) }
  }
  /// One of each kind of packet.
  private static let kinds = [
    Pair(cipher: aeads[0]), Pair(cipher: aeads[2]), Pair(cipher: "aes128-ctr", mac: macs[0]),
  ]

  private func withServer(
    rekeyLimit: String? = nil, _ body: (SSHServer) async throws -> Void
  ) async throws {
    var server = SSHServerConfiguration()
    server.ciphers = (Self.aeads + Self.others).joined(separator: ",")
    server.messageAuthenticationCodes = Self.macs.joined(separator: ",")
    server.rekeyLimit = rekeyLimit
    try await BridgeSSHTests.withServer(server, body)
  }

  /// The keys are renewed several times, which resets the numbers of the packets where both sides
  /// have strict key exchange.
  @Test func everyPairCarriesBothWays() async throws {
    var line = 0
    var expected: [UInt8] = []
    while expected.count < 3_000_000 {
      line += 1
      expected += Array("\(line)\n".utf8)
    }
    expected = Array(expected.prefix(3_000_000))
    try await withServer(rekeyLimit: "1M") { server in
      for pair in Self.pairs {
        try await withConnection(to: server, pair.configuration(for: server)) { connection in
          let isAEAD = Self.aeads.contains(pair.cipher)
          #expect(await connection.agreement?.cipher == pair.cipher)
          #expect(await connection.agreement?.mac == (isAEAD ? "<implicit>" : pair.mac))
          let down = try await connection.execute("seq 1 600000 | head -c 3000000; exit 3")
          down.standardError.discard()
          var output: [UInt8] = []
          for try await bytes in down.standardOutput { output += bytes }
          let isWhole = output == expected
          #expect(isWhole, "\(pair)")
          #expect(try await down.exitStatus() == .status(3), "\(pair)")
          let up = try await connection.execute("cksum")
          up.standardError.discard()
          try await up.write(Array(expected.prefix(1_000_000)))
          try await up.finishInput()
          let sum = try await text(up.standardOutput)
          #expect(sum == "\(Self.sum)\n", "\(pair)")
        }
      }
    }
  }

  /// `seq 1 600000 | head -c 1000000 | cksum`.
  private static let sum = "918406907 1000000"

  @Test(arguments: kinds, [Portion.Ending.reset, .finish])
  func aLinkThatIsCutNearTheEndOfACommand(pair: Pair, by ending: Portion.Ending) async throws {
    try await withServer { server in
      let command = "head -c 100000 /dev/zero; exit 3"
      let configuration = try pair.configuration(for: server)
      let total = try await IntegrityTests.bytes(server, of: command, configuration)
      let rows = Array(stride(from: 0, to: 400, by: wantsAllRows ? 1 : 13))
      await IntegrityTests.inGroups(rows) { back in
        let proxy = try await FaultProxy(to: server.port)
        try await proxy.inject(.cut(after: total - back, by: ending))
        let run = await IntegrityTests.run(command, proxy.port, configuration)
        IntegrityTests.check(
          run, size: 100_000, status: .status(3), "\(pair), \(ending), \(back) bytes before the end"
        )
        await proxy.stop()
      }
    }
  }

  /// The status is among them: a changed one is no status.
  @Test(arguments: kinds)
  func aBitThatIsFlippedNearTheEndOfACommand(pair: Pair) async throws {
    try await flip(pair) { total in
      let bits = wantsAllRows ? Array(0..<8) : [0]
      return (0..<240).flatMap { back in bits.map { (total - 1 - back, $0) } }
    }
  }

  @Test(arguments: kinds) func aBitThatIsFlippedAnywhereInASession(pair: Pair) async throws {
    try await flip(pair) { total in
      stride(from: 45, to: total, by: wantsAllRows ? 101 : 2_503).map { ($0, $0 / 64 % 8) }
    }
  }

  private func flip(_ pair: Pair, _ places: (Int) -> [(Int, Int)]) async throws {
    let size = 100_000
    try await withServer { server in
      let command = "head -c \(size) /dev/zero; exit 3"
      var configuration = try pair.configuration(for: server)
      let total = try await IntegrityTests.bytes(server, of: command, configuration)
      // A length that became a larger one is waited for.
      configuration.timeouts.handshake = .seconds(2)
      configuration.timeouts.authenticate = .seconds(2)
      configuration.timeouts.channel = .seconds(2)
      let altered = configuration
      await IntegrityTests.inGroups(places(total)) { (place, bit) in
        let proxy = try await FaultProxy(to: server.port)
        try await proxy.inject(.corrupt(at: place, bit: bit))
        let run = await IntegrityTests.run(command, proxy.port, altered, isProbed: true)
        IntegrityTests.check(
          run, size: size, status: .status(3), "\(pair), bit \(bit) of byte \(place) of \(total)")
        await proxy.stop()
      }
    }
  }
}
