import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// Packets whose bytes are not what the server sent: libssh2 1.10 ends the process for one wrong
/// length, so no row here may do less than fail its own connection.
@Suite(.timeLimit(.minutes(5))) struct DamagedPacketTests {
  private let broken = ExpectedFailure(.corrupted, in: .authenticate, exit: .protocolBroken)

  /// No multiple of a block, no space for a block, more than a packet may have.
  static let forgedLengths: [UInt32] = [
    0, 1, 2, 5, 11, 13, 20, 21, 27, 29, 34_999, 35_001, 39_999, 40_001, 1 << 31, .max,
  ]

  @Test(arguments: forgedLengths) func aForgedLengthIsNoPacket(length: UInt32) async throws {
    try await withScript({ client, _ in
      _ = try client.request()
      try client.send(length: length, [UInt8](repeating: 52, count: 75))
      try client.listenToTheEnd()
    }) { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(user: "somebody", credentials: [], hostKeys: .anyKey))
      let error = await expectFailure(of: connection, broken)
      guard case .sshProtocolError = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  /// Every third byte of a session from the first of the key exchange on: one or two of each
  /// packet's length.
  @Test func aByteThatIsAlteredEndsItsOwnConnectionOnly() async throws {
    try await withServer { server in
      let bystander = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: trusting(server))
      try await bystander.connect()
      let total = try await bytesOfASession(server)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<8 {
          group.addTask {
            let proxy = try await FaultProxy(to: server.port)
            for place in stride(from: 45 + 3 * worker, to: total, by: 24) {
              try await proxy.inject(.corrupt(at: place))
              await Self.use(proxy.port, trusting(server), altered: place)
            }
            await proxy.stop()
          }
        }
        try await group.waitForAll()
      }
      let command = try await bystander.execute("exit 3")
      #expect(try await command.exitStatus() == .status(3))
      await bystander.close()
    }
  }

  private static func use(
    _ port: Int, _ configuration: SSHConfiguration, altered place: Int
  ) async {
    // A length that became a larger one is waited for: no damage that could be seen.
    var configuration = configuration
    configuration.timeouts.handshake = .seconds(1)
    configuration.timeouts.authenticate = .seconds(1)
    configuration.timeouts.channel = .seconds(1)
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: port), configuration: configuration)
    await expectSurvival(of: connection, "byte \(place)") { connection throws(AppError) in
      _ = try await connection.execute("true")
      _ = try await connection.probe(within: .seconds(1))
    }
  }
}
