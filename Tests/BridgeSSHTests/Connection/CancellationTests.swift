import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Testing

/// The task that connects is canceled, or the connection closed, at each step.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
  private static let phases: [ConnectionPhase] = [
    .resolve, .dial, .banner, .keyExchange, .hostKey, .authenticate,
  ]

  @Test(arguments: phases, [false, true])
  func connectingStopsWhereItIs(phase: ConnectionPhase, byClosing: Bool) async throws {
    try await withServer { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: trusting(server))
      let connecting = Task { await failure { try await connection.connect() } }
      for await event in connection.events where event == .entered(phase) {
        if byClosing { await connection.close() } else { connecting.cancel() }
        break
      }
      let error = await connecting.value
      // It may have been through already.
      #expect(error == nil || error == .cancelled)
      await connection.close()
      #expect(OpenSockets.to(port: server.port).isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func aDialThatHangsIsLeft(byClosing: Bool) async throws {
    // TEST-NET-1 (RFC 5737): no answer, or no route.
    let connection = stranger(to: 22, host: "192.0.2.1")
    let connecting = Task { await failure { try await connection.connect() } }
    for await event in connection.events where event == .entered(.dial) {
      if byClosing { await connection.close() } else { connecting.cancel() }
      break
    }
    let error = await connecting.value
    let context = await connection.lastFailure
    #expect(error == .cancelled || context?.phase == .dial)
    await connection.close()
  }

  /// The prompt need not notice that its answer is no longer awaited.
  @Test(arguments: ["trust", "password", "passphrase"], [false, true])
  func aPersonWhoIsAskedHoldsUpNoCaller(question: String, byClosing: Bool) async throws {
    var server = SSHServerConfiguration()
    server.offersPassword = true
    try await withServer(server) { server in
      let key = try await server.makeIdentity(
        .ed25519, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let asked = AsyncStream<Void>.makeStream()
      let never = AsyncStream<Void>.makeStream()
      var configuration = trusting(server)
      let wait: @Sendable () async -> Void = {
        asked.continuation.yield()
        // A task of its own is not canceled with the one that waits for it.
        await Task { for await _ in never.stream {} }.value
      }
      switch question {
      case "trust":
        configuration.hostKeys = .init(files: [], unknown: .ask)
        configuration.interaction.trust = { _ in
          await wait()
          return false
        }
      case "password":
        configuration.credentials = [.password(nil)]
        configuration.interaction.password = { _, _ in
          await wait()
          return nil
        }
      default:
        configuration.credentials = [.keyFile(key)]
        configuration.interaction.passphrase = { _ in
          await wait()
          return nil
        }
      }
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
      await expectWithdrawal(of: connection, byClosing: byClosing, once: asked.stream)
      never.continuation.finish()
    }
  }

  @Test func aHangingAgentHoldsUpNoCaller() async throws {
    let directory = try TemporaryDirectory()
    let agent = try ScriptedAgent(in: directory, list: .silence)
    try await withServer { server in
      var configuration = trusting(server)
      configuration.credentials = [.agent(socketPath: agent.path)]
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
      let connecting = Task { await failure { try await connection.connect() } }
      for await event in connection.events where event == .entered(.authenticate) { break }
      connecting.cancel()
      #expect(await connecting.value == .cancelled)
      await connection.close()
      #expect(OpenSockets.to(port: server.port).isEmpty)
    }
    agent.stop()
  }

  @Test func cancelledBeforeItBeganNothingIsDialled() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let connection = stranger(to: peer.port)
    let never = AsyncStream<Void>.makeStream()
    let connecting = Task {
      // Ends when the task is canceled.
      for await _ in never.stream {}
      return await failure { try await connection.connect() }
    }
    connecting.cancel()
    #expect(await connecting.value == .cancelled)
    await connection.close()
    #expect(await peer.received.isEmpty)
    await peer.stop()
  }

  @Test func closedBeforeItBeganItNeverConnects() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let connection = stranger(to: peer.port)
    await connection.close()
    #expect(await failure { try await connection.connect() } != nil)
    #expect(await peer.received.isEmpty)
    await peer.stop()
  }

  @Test func manyConnectionsLeaveNothingBehind() async throws {
    try await withServer { server in
      let reactor = Reactor()
      for round in 0..<30 {
        let connection = SSHConnection(
          to: Endpoint(host: "127.0.0.1", port: server.port), configuration: trusting(server),
          on: reactor)
        try await connection.connect()
        let command = try await connection.execute("exit \(round)")
        #expect(try await command.exitStatus() == .status(round))
        await connection.close()
        #expect(OpenSockets.to(port: server.port).isEmpty)
      }
      // Returns only when nothing is attached to its loop any more.
      await reactor.stop()
    }
  }
}
