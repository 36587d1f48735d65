import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Testing

/// Output whose end comes at a bad moment: while the server renews its keys, or before the command
/// counts as started.
@Suite(.timeLimit(.minutes(2))) struct OutputEndTests {
  /// Of output that is more than a mailbox, within the window, and more than can be read without
  /// opening it.
  private static let size = 1_500_000
  private static let chunk = [UInt8](repeating: 7, count: 30_000)
  /// How much one read takes (`Reactor.scratch`).
  private static let read: UInt32 = 128 << 10

  private func withConnection(
    on reactor: Reactor = ReactorGroup.shared.next(), _ script: @escaping ScriptedSSHServer.Script,
    _ body: (SSHConnection, ScriptedSSHServer) async throws -> Void
  ) async throws {
    try await withScript(script) { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(user: "user", credentials: [], hostKeys: .anyKey),
        on: reactor)
      try await connection.connect()
      try await body(connection, server)
      await connection.close()
    }
  }

  private func expectWhole(_ channel: SSHChannel, count expected: Int) async throws {
    channel.standardError.discard()
    #expect(try await channel.exitStatus() == .status(0))
    var count = 0
    for try await bytes in channel.standardOutput {
      count += bytes.count
      // A server that says nothing any more does not close the channel.
      if count == expected { break }
    }
    #expect(count == expected)
  }

  /// A read that has to open the window waits for the end of the exchange. A window of more than
  /// 2^32-1 ends the connection (RFC 4254, 5.2).
  @Test func theWindowOfAReadThatWaitsIsOpenedOnce() async throws {
    let script: ScriptedSSHServer.Script = { client, record in
      try client.admit()
      let (number, window) = try client.startCommandWithWindow()
      // All that can be read before a read opens the window.
      let first = window - (window / 4 * 3 + Self.read)
      record("\(first)")
      var left = Int(first)
      while left > 0 {
        let count = min(left, Self.chunk.count)
        try client.send(client.data(Array(Self.chunk.prefix(count)), of: number))
        left -= count
      }
      // Another operation, which finishes the exchange and reads the end.
      let asked = try client.openRequest()
      try client.askForKeys(behind: [client.data(Array(Self.chunk.prefix(6000)), of: number)])
      let theirs = try client.expect(20)
      let end = [client.exitStatus(of: number), client.message(96, of: number)]
      try client.renewKeys(theirs, behind: end)
      try client.sendTogether([
        client.refusal(ofChannel: asked, reason: 3), client.message(97, of: number),
      ])
      let adjustments = [first + 6000 + Self.read, window + Self.read]
      var seen: [UInt32] = []
      while true {
        var reader = WireReader(try client.receive())
        guard let type = reader.byte(), type != 97 else { break }
        guard type == 93, reader.uint32() != nil, let more = reader.uint32() else { continue }
        seen.append(more)
      }
      record(seen == adjustments ? "as expected" : "\(seen), not \(adjustments)")
    }
    try await withConnection(script) { connection, server in
      let channel = try await connection.execute("print")
      let first = try #require(server.collected.first.flatMap { Int($0) })
      var count = 0
      for try await bytes in channel.standardOutput {
        count += bytes.count
        if count == first { break }
      }
      #expect(count == first)
      _ = await failure { _ = try await connection.probe(within: .seconds(60)) }
      try await expectWhole(channel, count: 6000)
      // It has gone when it has counted.
      #expect(await failure { _ = try await connection.probe(within: .seconds(60)) } != nil)
      #expect(server.collected.dropFirst() == ["as expected"])
    }
  }
}
