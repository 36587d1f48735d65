import Bridge
import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import BridgeWebSocket
import Testing

/// WebSocket connections through an SSH connection: `supervisor.add(_:to:through:)`.
@Suite(.timeLimit(.minutes(5))) struct LinkWebSocketTests {
  private typealias Server = SSHServer

  private func configuration(_ server: Server) -> SSHConfiguration {
    SSHConfiguration(
      user: server.user, credentials: [.keyFile(server.identityFile)], hostKeys: .anyKey)
  }

  /// A supervised link to a server, and a WebSocket server that it reaches.
  private func withLink(
    _ body: (
      Server, Supervisor<ContinuousClock>, Link<SSHConnection>, ScriptedWebSocketPeer
    ) async throws -> Void
  ) async throws {
    try await withServer { server, _ in
      let peer = try await ScriptedWebSocketPeer(.echo)
      let supervisor = Supervisor(clock: ContinuousClock())
      let configuration = configuration(server)
      let link = try await supervisor.add(
        ConnectionID("dev"), to: Endpoint(host: "127.0.0.1", port: server.port)
      ) { SSHConnection(to: $0, configuration: configuration) }
      try await body(server, supervisor, link, peer)
      await supervisor.shutDown()
      await peer.stop()
    }
  }

  @Test func anAppServerOfAHostIsReachedAndComesBackWithItsLink() async throws {
    try await withLink { server, supervisor, link, peer in
      let (generations, sink) = AsyncStream<WebSocketConnection>.makeStream()
      try await supervisor.add(
        ConnectionID("chat"), to: try WebSocketEndpoint("ws://app.example/chat"),
        at: .port(Endpoint(host: "127.0.0.1", port: peer.port)), through: link,
        onConnected: { sink.yield($0) })
      let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      for await connection in generations.prefix(3) {
        try await connection.send(binary: bytes)
        #expect(try await connection.messages.makeAsyncIterator().next() == .binary(bytes))
        try await connection.confirmDelivery(within: .seconds(50))
        await server.killSessions()
      }
      let hosts = await peer.log.compactMap { event in
        if case .requested(let request) = event.kind { request.headers["host"] } else { nil }
      }
      #expect(hosts.count >= 3 && Set(hosts) == ["app.example"])
    }
  }

  @Test func theEndOfTheLinkIsNotBlamedOnTheAppServer() async throws {
    try await withLink { server, _, _, peer in
      let ssh = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration(server))
      try await ssh.connect()
      let connection = try Self.connection(to: peer.port, by: ssh)
      try await connection.connect()
      await server.killSessions()
      await #expect(throws: AppError.self) {
        _ = try await connection.messages.makeAsyncIterator().next()
      }
      let failure = await connection.lastFailure
      #expect(failure == (await ssh.lastFailure) && failure?.kind == .linkLost)
      #expect(failure?.port == server.port)
    }
  }

  @Test func aTargetThatRefusesIsNamedAndDialedAgain() async throws {
    try await withLink { _, _, link, peer in
      await peer.stop()
      let connection = try Self.connection(to: peer.port, by: await link.connection)
      do throws(AppError) {
        try await connection.connect()
        Issue.record("connected to nothing")
      } catch {
        guard case .sshConnectionFailed(_, let reason) = error else {
          Issue.record("\(error)")
          return
        }
        #expect(reason.contains("127.0.0.1:\(peer.port)") && reason.contains("refused"))
      }
      #expect(await connection.lastFailure?.kind == .targetRefused)
      #expect(
        [.reconnect, .reconnectSoon, .reconnectLater].contains(
          await connection.lastFailure?.kind.retryClass()))
      // The connection that led there goes on.
      #expect(try await link.connection.run("echo here").output == Array("here\n".utf8))
    }
  }

  /// It never ends its side of a connection: nothing but our own close does.
  @Test func connectionsToAFrozenServerLeaveNothingBehind() async throws {
    try await withLink { _, _, link, _ in
      let frozen = try await ScriptedTCPPeer([.wait(.seconds(600))])
      let ssh = try await link.connection
      let before = await ssh.openChannels
      for _ in 0..<20 {
        let connection = try Self.connection(to: frozen.port, by: ssh, for: .milliseconds(20))
        await #expect(throws: AppError.self) { try await connection.connect() }
        await connection.close()
      }
      try await eventually { await ssh.openChannels == before }
      await frozen.stop()
    }
  }

  /// It has more than its windows take, behind which the end of ours is not seen. The channel is
  /// sshd's to end then.
  @Test func ofAServerThatTakesNothingNothingIsKeptHere() async throws {
    try await withLink { _, _, link, _ in
      let frozen = try await ScriptedTCPPeer([.stopReading, .wait(.seconds(600))])
      let ssh = try await link.connection
      let socket = try await ssh.socket(
        to: .port(Endpoint(host: "127.0.0.1", port: frozen.port)))
      let bytes = [UInt8](repeating: 7, count: 64 << 10)
      // As long as anything is taken.
      var last = ContinuousClock.now
      while ContinuousClock.now - last < .seconds(1) {
        if case .bytes = socket.send(bytes) { last = .now } else { await Task.yield() }
      }
      #expect(await ssh.openSockets == 1)
      socket.close()
      try await eventually { await ssh.openSockets == 0 }
      await frozen.stop()
    }
  }

  @Test func itKeepsTheContractOfAConnection() async throws {
    try await withLink { server, _, link, peer in
      let gone = try await ScriptedWebSocketPeer(.echo)
      await gone.stop()
      let contract = ConnectionContract(
        reachable: { try Self.connection(to: peer.port, by: await link.connection) },
        refused: { try Self.connection(to: gone.port, by: await link.connection) },
        drop: { await server.killSessions() })
      // Of a port that refuses the host tells, which is named.
      let refusal = [
        "a refused port is the failure kind refused", "a failure names host and port",
      ]
      #expect(try await contract.violations() == refusal)
    }
  }

  private static func connection(
    to port: Int, by ssh: SSHConnection, for upgrade: Duration = .seconds(50)
  ) throws -> WebSocketConnection {
    var configuration = WebSocketConfiguration()
    configuration.timeouts.upgrade = upgrade
    configuration.way = .socket(
      from: ssh.sockets(to: .port(Endpoint(host: "127.0.0.1", port: port))))
    return WebSocketConnection(
      to: try WebSocketEndpoint("ws://127.0.0.1:\(port)/"), configuration: configuration)
  }
}
