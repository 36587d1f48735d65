import BridgeErrors
import BridgeFaults
import BridgeSSH
import Testing

@Suite struct SSHConnectionTests {
  @Test func runsACommandAndReturnsItsStatus() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("printf out; printf err >&2; exit 7")
        #expect(try await text(command.standardOutput) == "out")
        #expect(try await text(command.standardError) == "err")
        #expect(try await command.exitStatus() == .status(7))
      }
    }
  }
}
