import BridgeErrors
import BridgeSSH
import BridgeTransport
import Testing

/// What becomes of bytes whose writer no longer waits.
@Suite(.timeLimit(.minutes(5))) struct CancelledWriteTests {
  @Test func bytesOfACancelledWriteAreNotSentLater() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute(
          "mkfifo ~/gate; read go <~/gate; cat >~/all; wc -c <~/all; tail -c 4 ~/all")
        let full = [UInt8](repeating: 0, count: 8 << 20)
        for _ in 0..<8 {
          let writing = Task { await failure { try await command.write(full) } }
          // Two round trips: the write is queued, and what the window takes of it has gone.
          for _ in 0..<2 { _ = try await connection.probe(within: .seconds(10)) }
          writing.cancel()
          #expect(await writing.value == .cancelled)
        }
        let gate = try await connection.execute("mkfifo ~/gate; echo >~/gate")
        #expect(try await gate.exitStatus() == .status(0))
        try await command.write(Array("last".utf8))
        try await command.finishInput()
        let words = try await text(command.standardOutput).split(separator: "\n")
        #expect(words.last == "last")
        let count = try #require(Int(words.first ?? ""))
        // What the window took (2 MiB) may have gone, and the rest not.
        #expect(count < 8 << 20)
      }
    }
  }

  /// The end of input waits for bytes that are no longer written.
  @Test func theEndOfInputFollowsACancelledWrite() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("exec cat >/dev/null")
        let writing = Task {
          await failure { try await command.write([UInt8](repeating: 0, count: 64 << 20)) }
        }
        _ = try await connection.probe(within: .seconds(10))
        writing.cancel()
        _ = await writing.value
        try await command.finishInput()
        #expect(try await command.exitStatus() == .status(0))
      }
    }
  }
}
