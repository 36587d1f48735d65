import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// Strict key exchange (PROTOCOL of OpenSSH, 1.10), the answer to Terrapin (CVE-2023-48795), where
/// libssh2 has it.
@Suite(.timeLimit(.minutes(5))) struct StrictKeyExchangeTests {
  private static let signal = "kex-strict-c-v00@openssh.com"

  /// Connects to a scripted server, runs a command whose status is 3, and returns what the server
  /// saw of the offer, or how it failed.
  private func run(
    _ manner: ServerTalk.KeyExchangeManner
  ) async throws -> (offered: [String], error: AppError?) {
    let server = try ScriptedSSHServer(manner: manner) { client, record in
      for method in client.clientMethods { record(method) }
      try client.admit()
      let number = try client.startCommand()
      try client.say(98) {
        $0.uint32(number)
        $0.string("exit-status")
        $0.byte(0)
        $0.uint32(3)
      }
      try client.say(96) { $0.uint32(number) }
      try client.say(97) { $0.uint32(number) }
      try client.listenToTheEnd()
    }
    defer { server.stop() }
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(user: "me", credentials: [], hostKeys: .anyKey))
    let error = await failure {
      try await connection.connect()
      let command = try await connection.execute("true")
      #expect(try await command.exitStatus() == .status(3))
    }
    await connection.close()
    return (server.collected, error)
  }

  @Test func itIsOfferedWhereTheLibraryHasIt() async throws {
    let (offered, error) = try await run(.lax)
    #expect(error == nil)
    #expect(offered.contains("curve25519-sha256"))
    if LibraryVersion.linked.hasModernProtection { #expect(offered.contains(Self.signal)) }
  }

  /// The numbers of packets, which every MAC is over, begin anew on both sides.
  @Test func aStrictServerIsUnderstood() async throws {
    let (offered, _) = try await run(.lax)
    guard offered.contains(Self.signal) else { return }
    let (_, error) = try await run(.strict)
    #expect(error == nil)
  }

  @Test func aPacketThatAnAttackerAddedEndsTheExchange() async throws {
    let (offered, _) = try await run(.lax)
    guard offered.contains(Self.signal) else { return }
    let (_, error) = try await run(.strictInWord)
    #expect(error != nil)
    guard case .sshProtocolError? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// What sshd says of it.
  @Test(.enabled(if: LibraryVersion.linked.hasModernProtection))
  func sshdAgreesToIt() async throws {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["LogVerbose kex.c:*"]
    try await withServer(configuration) { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("exit 3")
        #expect(try await command.exitStatus() == .status(3))
      }
      #expect(await server.log.contains("will use strict KEX ordering"))
    }
  }
}
