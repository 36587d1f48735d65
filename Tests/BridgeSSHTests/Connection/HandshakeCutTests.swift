import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// The link ends after every so many bytes, from the first of the version line to the disconnect
/// message.
@Suite(.timeLimit(.minutes(5))) struct HandshakeCutTests {
  /// Each byte of the version line; then no step is longer than a packet, so that every packet is
  /// missed once.
  private static func places(upTo total: Int) -> [Int] {
    Array(0..<45) + Array(stride(from: 45, to: total + 40, by: 31))
  }

  @Test(
    arguments: [(.finish, "true"), (.reset, "true"), (.reset, nil)] as [(Portion.Ending, String?)])
  func isReportedWhereverItIs(ending: Portion.Ending, command: String?) async throws {
    try await withServer { server in
      let total = try await bytesOfASession(server)
      let places = Self.places(upTo: total)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            let proxy = try await FaultProxy(to: server.port)
            for place in places where place % 4 == worker {
              try await proxy.inject(.cut(after: place, by: ending))
              await Self.use(proxy.port, trusting(server), command, cutAfter: place)
            }
            await proxy.stop()
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// A whole session of a command, or a shell, over a link that ends somewhere: every caller is
  /// told.
  private static func use(
    _ port: Int, _ configuration: SSHConfiguration, _ command: String?, cutAfter place: Int
  ) async {
    var configuration = configuration
    // An end that is missed is what fails, not a machine that is busy for a while.
    configuration.timeouts.handshake = .seconds(120)
    configuration.timeouts.channel = .seconds(120)
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: port), configuration: configuration)
    do throws(AppError) {
      try await connection.connect()
    } catch {
      let context = await connection.lastFailure
      #expect(context?.kind == .dropped, "after \(place) bytes: \(error)")
      #expect(error.exitCode(in: context) == .unreachable, "after \(place) bytes")
      await expectGone(connection, after: error)
      return
    }
    do throws(AppError) {
      if let command {
        let status = try await connection.execute(command).exitStatus()
        #expect(status == .status(0))
      } else {
        let shell = try await connection.shell()
        try await shell.write(Array("exit 0\n".utf8))
        #expect(try await shell.exitStatus() == .status(0))
      }
    } catch {
      switch error {
      case .sshOutcomeUnknown(let lost) where lost == command: break
      case .sshConnectionFailed: break
      default: Issue.record("after \(place) bytes: \(error)")
      }
    }
    await connection.close()
    #expect(OpenSockets.to(port: port).isEmpty)
  }
}
