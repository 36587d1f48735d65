import Bridge
import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import Testing

/// `link.forward(…)`.
@Suite(.timeLimit(.minutes(5))) struct LinkForwardTests {
  private func rule(_ target: Int, on side: ForwardRule.Side) -> ForwardRule {
    ForwardRule(
      from: .port(address: "127.0.0.1", 0),
      to: .fixed(.port(Endpoint(host: "127.0.0.1", port: target))), on: side)
  }

  /// A supervised link to a server.
  private func withLink(
    _ body: (SSHServer, Link<SSHConnection>) async throws -> Void
  ) async throws {
    try await withServer { server, _ in
      let supervisor = Supervisor(clock: ContinuousClock())
      let link = try await supervisor.add(
        ConnectionID("a"), to: Endpoint(host: "127.0.0.1", port: server.port)
      ) { endpoint in
        SSHConnection(
          to: endpoint,
          configuration: SSHConfiguration(
            user: server.user, credentials: [.keyFile(server.identityFile)], hostKeys: .anyKey))
      }
      try await body(server, link)
      await supervisor.shutDown()
    }
  }

  @Test(arguments: [ForwardRule.Side.local, .remote])
  func aPortOutlivesTheConnectionsOfItsLink(side: ForwardRule.Side) async throws {
    try await withLink { server, link in
      let forwarder = try await link.forward()
      let keeping = Task { await link.keep(forwarder) }
      let port = try await forwarder.listen(rule(server.port, on: side))
      #expect(await banner(at: port).hasPrefix("SSH-2.0-OpenSSH"))
      await server.killSessions()
      if side == .remote {
        // A connection to a port that is gone is refused at once: it is there again first.
        var count = 0
        for await event in forwarder.events {
          if case .listening(_, port) = event { count += 1 }
          if count == 2 { break }
        }
      }
      #expect(await banner(at: port).hasPrefix("SSH-2.0-OpenSSH"))
      await link.close()
      await keeping.value
      #expect(await forwarder.count == 0)
    }
  }

  @Test func aPortThatCannotBeHadIsAnErrorThatNamesIt() async throws {
    try await withLink { server, link in
      let taken = ForwardRule(from: .port(address: "127.0.0.1", server.port), to: .dynamic)
      await #expect(throws: AppError.self) { try await link.forward(taken) }
    }
  }
}
