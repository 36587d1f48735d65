import BridgeErrors
import BridgeFaults
import BridgeSSH
import Testing

/// Commands that are run to their end, with all that they print.
@Suite(.timeLimit(.minutes(5))) struct RunTests {
  @Test func bothStreamsAndTheStatusAreReturned() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let result = try await connection.run("echo out; echo error >&2; exit 3")
        #expect(result.text == "out\n")
        #expect(result.errorOutput == Array("error\n".utf8))
        #expect(result.status == .status(3))
      }
    }
  }

  /// A stream holds 256 KiB for its reader: read one after the other, they would never end.
  @Test func bothStreamsAreReadAtOnce() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let result = try await connection.run(
          "head -c 900000 /dev/zero >&2; head -c 900000 /dev/zero; head -c 100000 /dev/zero >&2")
        #expect(result.output.count == 900_000 && result.errorOutput.count == 1_000_000)
        #expect(result.status.isSuccess)
      }
    }
  }

  @Test(arguments: ["yes", "yes >&2"]) func moreThanTheLimitIsATypedError(
    _ command: String
  ) async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let error = await #expect(throws: AppError.self) {
          _ = try await connection.run(command, limit: 1000)
        }
        #expect(
          error
            == .validationError(
              field: "command", message: "It printed more than 1000 bytes; read its streams."))
        // The connection serves the next one.
        let next = try await connection.run("echo next")
        #expect(next.text == "next\n")
      }
    }
  }

  @Test func aCommandThatReadsItsInputFindsItsEnd() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let result = try await connection.run("cat; echo end")
        #expect(result.text == "end\n")
      }
    }
  }
}
