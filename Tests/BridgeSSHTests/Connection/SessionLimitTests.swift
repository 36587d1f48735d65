import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// Servers that allow a connection few sessions, and count one for a while after it was closed.
@Suite(.timeLimit(.minutes(2))) struct SessionLimitTests {
  private func connection(to server: ScriptedSSHServer) async throws -> SSHConnection {
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(user: "user", credentials: [], hostKeys: .anyKey))
    try await connection.connect()
    return connection
  }

  /// Runs a command to its end.
  private func serveCommand(of client: ServerTalk) throws {
    let number = try client.startCommand()
    try client.sendTogether([
      client.exitStatus(of: number), client.message(96, of: number),
      client.message(97, of: number),
    ])
    while try client.receive().first != 97 {}
  }

  /// The channel type and our number of the client's next open.
  private func nextOpen(of client: ServerTalk) throws -> (type: String, number: UInt32) {
    while true {
      var reader = WireReader(try client.receive())
      guard reader.byte() == 90, let type = reader.string(), let number = reader.uint32() else {
        continue
      }
      return (String(decoding: type, as: UTF8.self), number)
    }
  }

  /// RFC 4254, 5.1: prohibited, connect failed (sshd's word), resource shortage. More than one more
  /// time where what ran on the channel before is not over yet.
  @Test(arguments: [(1, 2), (2, 2), (4, 2), (2, 6)] as [(UInt32, Int)])
  func anOpenBehindACloseIsPutAgain(reason: UInt32, times: Int) async throws {
    try await withScript({ client, record in
      try client.admit()
      try serveCommand(of: client)
      for _ in 0..<times {
        let (type, number) = try nextOpen(of: client)
        record(type)
        try client.refuseChannel(number, reason: reason, "open failed")
      }
      try serveCommand(of: client)
      try client.listenToTheEnd()
    }) { server in
      let connection = try await connection(to: server)
      for _ in 0..<2 {
        let command = try await connection.execute("true")
        #expect(try await command.exitStatus() == .status(0))
      }
      // Something else was answered in between.
      let again = Array(repeating: "session", count: times - 2)
      #expect(server.collected == ["session", "probe@bridge"] + again)
      #expect(await connection.lastRefusal == nil)
      await connection.close()
    }
  }

  /// Nothing was closed, or it was put for a while already.
  @Test func aRefusalThatStaysIsFinal() async throws {
    try await withScript({ client, record in
      try client.admit()
      try serveCommand(of: client)
      while true {
        let (type, number) = try nextOpen(of: client)
        record(type)
        try client.refuseChannel(number, reason: 2, "open failed")
      }
    }) { server in
      let connection = try await connection(to: server)
      let command = try await connection.execute("true")
      #expect(try await command.exitStatus() == .status(0))
      for _ in 0..<2 {
        let error = await failure { _ = try await connection.execute("true") }
        #expect(error?.exitCode(in: await connection.lastRefusal) == .protocolBroken)
      }
      #expect(
        server.collected == ["session", "probe@bridge"] + Array(repeating: "session", count: 8))
      await connection.close()
    }
  }

  /// A real sshd behind a line of 10 ms: each close and the next open travel together.
  @Test func oneSessionAfterTheOther() async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxSessions = 1
    try await withServer(configuration) { server in
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.latency(.milliseconds(10)))
      try await withConnection(to: server, at: proxy.port) { connection in
        for status in 0..<5 {
          let command = try await connection.execute("exit \(status)")
          #expect(try await command.exitStatus() == .status(status))
        }
        let open = try await connection.execute("cat")
        let error = await failure { _ = try await connection.execute("true") }
        #expect(error?.caseName == "sshConnectionFailed")
        await open.close()
      }
      await proxy.stop()
    }
  }
}
