import BridgeSSH
import BridgeTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct TrafficTests {
  @Test("what the server's kernel has acknowledged is counted")
  func acknowledged() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let before = await connection.traffic.acknowledged
        let command = try await connection.execute("cat >/dev/null")
        try await command.write([UInt8](repeating: 1, count: 300_000))
        try await command.finishInput()
        // The answer to the round trip comes behind what was written.
        _ = try await connection.probe(within: .seconds(50))
        #expect(await connection.traffic.acknowledged >= before + 300_000)
      }
    }
  }
}
