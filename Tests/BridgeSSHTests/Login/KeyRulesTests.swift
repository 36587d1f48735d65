import BridgeErrors
import BridgeFaults
import BridgeTransport
import Foundation
import Testing

@testable import BridgeSSH

/// PubkeyAcceptedAlgorithms and RequiredRSASize.
@Suite(.timeLimit(.minutes(5))) struct KeyRulesTests {
  private static func rsa(bits: Int, certified: Bool = false) -> [UInt8] {
    var writer = WireWriter()
    writer.string(certified ? "ssh-rsa-cert-v01@openssh.com" : "ssh-rsa")
    if certified { writer.string([UInt8](repeating: 7, count: 32)) }
    writer.string([1, 0, 1])
    // A number whose first bit is set has a zero before it (RFC 4251, 5).
    let first = UInt8(1 << ((bits - 1) % 8))
    let digits = [first] + [UInt8](repeating: 0, count: (bits - 1) / 8)
    writer.string(first == 0x80 ? [0] + digits : digits)
    return writer.bytes
  }

  private static func rules(_ list: String) throws -> KeyRules? {
    KeyRules().accepting(try #require(AlgorithmRequest(list)))
  }

  private static let certificate = Keys.blob("ssh-ed25519-cert-v01@openssh.com", 5)

  @Test(arguments: [
    ("ssh-ed25519", Keys.ed1, true), ("ssh-ed25519", Keys.ecdsa, false),
    ("ssh-ed25519", rsa(bits: 2048), false), ("ssh-ed25519", certificate, false),
    ("ssh-ed25519*", certificate, true), ("ssh-ed25519-cert-v01@openssh.com", Keys.ed1, false),
    ("-ecdsa-*", Keys.ecdsa, false), ("-ecdsa-*", Keys.ed1, true),
    ("+ssh-rsa", Keys.ecdsa, true), ("^ssh-rsa", rsa(bits: 2048), true),
    ("rsa-sha2-*", rsa(bits: 2048), true), ("rsa-sha2-*", rsa(bits: 2048, certified: true), true),
    ("rsa-sha2-256", rsa(bits: 2048, certified: true), false),
    ("*", Keys.blob("of-another-day", 1), true),
  ])
  func aListSaysWhichKeysAreOffered(_ list: String, _ key: [UInt8], isOffered: Bool) throws {
    let rules = try #require(try Self.rules(list))
    #expect((rules.refusal(ofUserKey: key) == nil) == isOffered)
  }

  /// SHA-1 is never used, so that `ssh-rsa` alone leaves nothing.
  @Test(arguments: ["ssh-rsa", "ssh-dss,unknown", "-*"])
  func aListThatLeavesNothingIsNone(_ list: String) throws {
    #expect(try Self.rules(list) == nil)
  }

  @Test(arguments: [(1023, 1024), (1024, 1024), (2047, 2048), (2048, 2048), (3071, 3072)])
  func theBitsOfAnRSAKeyAreCounted(_ bits: Int, _ least: Int) {
    var rules = KeyRules()
    rules.smallestRSA = least
    for key in [Self.rsa(bits: bits), Self.rsa(bits: bits, certified: true)] {
      let reason = rules.refusal(ofUserKey: key)
      #expect((reason == nil) == (bits >= least))
      #expect(reason?.contains("\(bits) bits") ?? true)
      #expect(reason.map(KeyRules.isReason) ?? true)
    }
    #expect((rules.refusal(ofHostKey: Self.rsa(bits: bits)) == nil) == (bits >= least))
    for cut in 0..<Self.rsa(bits: bits).count {
      _ = rules.refusal(ofHostKey: Array(Self.rsa(bits: bits).prefix(cut)))
    }
  }

  @Test func theDefaultIsThatOfOpenSSH() {
    #expect(KeyRules().refusal(ofUserKey: Self.rsa(bits: 1024)) == nil)
    #expect(KeyRules().refusal(ofUserKey: Self.rsa(bits: 1016)) != nil)
  }

  private func connection(
    to server: SSHServer, _ credentials: [SSHCredential], _ rules: KeyRules?
  ) -> SSHConnection {
    var configuration = SSHConfiguration(
      user: server.user, credentials: credentials, hostKeys: .anyKey)
    if let rules { configuration.keyRules = rules }
    return SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
  }

  /// The server hears of no key that is kept back, of a file or of an agent.
  @Test(arguments: [false, true]) func aKeyThatIsLeftOutIsNotOffered(byAgent: Bool) async throws {
    try await withServer { server in
      let kept = try await server.makeIdentity(.ecdsa, name: "kept", isAuthorized: true)
      let other = try await server.makeIdentity(.ed25519, name: "other", isAuthorized: true)
      let rules = try Self.rules("-ecdsa-*")
      try await withAgent(byAgent ? [kept, other] : []) { socket in
        let keys: [SSHCredential] =
          byAgent ? [.agent(socketPath: socket)] : [.keyFile(kept), .keyFile(other)]
        let connection = connection(to: server, keys, rules)
        try await connection.connect()
        await connection.close()
      }
      let log = await server.log
      #expect(log.contains("ED25519 SHA256:") && !log.contains("ECDSA SHA256:"))
      let error = await expectFailure(
        of: connection(to: server, [.keyFile(kept)], rules),
        ExpectedFailure(.keyUnusable, in: .authenticate, exit: .keyUnusable))
      #expect("\(error)".contains("PubkeyAcceptedAlgorithms leaves ecdsa-sha2-nistp256 out"))
      guard case .sshKeyInvalid(let reason) = error else { throw error }
      #expect(KeyRules.isReason(reason))
    }
  }

  /// With rsa-sha2 of libssh2 1.11, and with SHA-1 where there is nothing else.
  @Test func aHostKeyThatIsTooSmallIsRefused() async throws {
    var server = SSHServerConfiguration()
    server.hostKeys = [.rsa]
    server.lines = ["HostKeyAlgorithms ssh-rsa,rsa-sha2-256"]
    try await withServer(server) { server in
      let key = try await server.makeIdentity(.ed25519, name: "key", isAuthorized: true)
      for (least, isTaken) in [(1024, true), (16_384, false)] {
        var configuration = SSHConfiguration(
          user: server.user, credentials: [.keyFile(key)], hostKeys: .anyKey)
        let wish = try #require(AlgorithmRequest("ssh-rsa,rsa-sha2-256"))
        configuration.algorithms = try #require(
          configuration.algorithms.applying(wish, to: [.hostKey]))
        configuration.keyRules.smallestRSA = least
        let connection = SSHConnection(
          to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
        guard !isTaken else {
          try await connection.connect()
          await connection.close()
          continue
        }
        let error = await expectFailure(
          of: connection,
          ExpectedFailure(.algorithmMismatch, in: .hostKey, exit: .protocolBroken))
        #expect("\(error)".contains("RequiredRSASize asks for 16384"))
      }
    }
  }
}
