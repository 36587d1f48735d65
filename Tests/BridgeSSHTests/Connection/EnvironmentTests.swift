import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// Variables for what runs on the server: those that it takes arrive, the others are left out.
@Suite(.timeLimit(.minutes(5))) struct EnvironmentTests {
  private static var accepting: SSHServerConfiguration {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["AcceptEnv TAKEN_*"]
    return configuration
  }

  @Test func whatTheServerTakesArrivesAsItIs() async throws {
    try await withServer(Self.accepting) { server in
      try await withConnection(to: server) { connection in
        for value in [
          "one", "a b", "", "\u{e9}'\"$x`\\", "a\nb", String(repeating: "x", count: 9000),
        ] {
          let remote = try await connection.execute(
            #"printf %s "$TAKEN_A""#, environment: [EnvironmentVariable("TAKEN_A", value)])
          #expect(try await text(remote.standardOutput) == value)
          #expect(try await remote.exitStatus() == .status(0))
        }
      }
    }
  }

  @Test func aVariableThatIsRefusedIsNoFailure() async throws {
    try await withServer(Self.accepting) { server in
      try await withConnection(to: server) { connection in
        let remote = try await connection.execute(
          #"printf %s "$TAKEN_A-$REFUSED-$TAKEN_B""#,
          environment: [
            EnvironmentVariable("TAKEN_A", "1"), EnvironmentVariable("REFUSED", "2"),
            EnvironmentVariable("TAKEN_B", "3"),
          ])
        #expect(try await text(remote.standardOutput) == "1--3")
        #expect(try await remote.exitStatus() == .status(0))
      }
    }
  }

  @Test func aShellOnATerminalHasThem() async throws {
    try await withServer(Self.accepting) { server in
      try await withConnection(to: server) { connection in
        let shell = try await connection.shell(
          environment: [EnvironmentVariable("TAKEN_A", "here")])
        try await shell.write(Array("stty -echo; echo \"<$TAKEN_A$TERM>\"; exit\r".utf8))
        #expect(try await text(shell.standardOutput).contains("<herexterm"))
      }
    }
  }

  @Test(arguments: [
    ("", "x"), ("A=B", "x"), ("A", "x\u{0}y"), ("A", String(repeating: "x", count: 40_000)),
  ])
  func whatCannotBeSentIsRefusedHere(_ name: String, _ value: String) async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let error = await failure {
          _ = try await connection.execute(
            "true", environment: [EnvironmentVariable(name, value)])
        }
        guard case .validationError("environment", _) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        let other = try await connection.execute("true")
        #expect(try await other.exitStatus() == .status(0))
      }
    }
  }
}
