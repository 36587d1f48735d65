import BridgeErrors
import BridgeFaults
import BridgeSSH
import Testing

@Suite(.timeLimit(.minutes(5))) struct SSHConnectionTests {
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

  @Test func aSignalIsNotAStatus() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("kill -TERM $$")
        #expect(try await command.exitStatus() == .signal("TERM"))
      }
    }
  }

  @Test func inputReachesTheCommandAndEnds() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("cat")
        try await command.write(Array("hello ".utf8))
        try await command.write(Array("world".utf8))
        try await command.finishInput()
        #expect(try await text(command.standardOutput) == "hello world")
        #expect(try await command.exitStatus() == .status(0))
      }
    }
  }

  @Test func aProbeIsARoundTripOnAnIdleConnection() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        for _ in 0..<5 { #expect(try await connection.probe(within: .seconds(30)) > .zero) }
        let command = try await connection.execute("true")
        #expect(try await command.exitStatus() == .status(0))
      }
    }
  }

  @Test func severalChannelsRunAtOnce() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let endings = try await withThrowingTaskGroup(of: ExitStatus.self) { group in
          for number in 0..<20 {
            group.addTask {
              try await connection.execute("exit \(number)").exitStatus()
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(endings.map(String.init(describing:))).count == 20)
        for number in 0..<20 { #expect(endings.contains(.status(number))) }
      }
    }
  }

  @Test func aShellHasATerminalOfTheGivenSize() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let terminal = PseudoTerminal(type: "dumb", size: TerminalSize(columns: 91, rows: 17))
        let shell = try await connection.shell(in: terminal)
        try await shell.write(Array("stty size; exit 3\n".utf8))
        #expect(try await text(shell.standardOutput).contains("17 91"))
        #expect(try await shell.exitStatus() == .status(3))
      }
    }
  }

  @Test func aTerminalHasTheGivenModes() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        // RFC 4254, 8: VERASE, ICRNL, IXANY.
        let modes: [UInt8] = [3, 0, 0, 0, 8, 36, 0, 0, 0, 0, 39, 0, 0, 0, 1]
        let command = try await connection.execute(
          "stty -a", terminal: PseudoTerminal(modes: modes))
        let words = try await text(command.standardOutput)
        for word in ["erase = ^H", " -icrnl", " ixany"] {
          #expect(words.contains(word), "\(words)")
        }
        let long = String(repeating: "x", count: 255)
        let named = try await connection.execute(
          "printf %s $TERM", terminal: PseudoTerminal(type: long, modes: modes))
        #expect(try await text(named.standardOutput) == long)
        for bad in [PseudoTerminal(modes: [3, 0, 0, 0]), PseudoTerminal(type: long + "x")] {
          await #expect(throws: AppError.self) {
            try await connection.execute("true", terminal: bad)
          }
        }
      }
    }
  }

  @Test(arguments: ["64K", "1M"])
  func bothDirectionsStayWholeWhileTheServerRekeys(limit: String) async throws {
    var configuration = SSHServerConfiguration()
    configuration.rekeyLimit = limit
    try await withServer(configuration) { server in
      try await withConnection(to: server) { connection in
        let sent = (0..<(6 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<3 {
            group.addTask {
              let echo = try await connection.execute("cat")
              async let written: Void = {
                for start in stride(from: 0, to: sent.count, by: 100_000) {
                  try await echo.write(Array(sent[start..<min(start + 100_000, sent.count)]))
                }
                try await echo.finishInput()
              }()
              var received: [UInt8] = []
              for try await bytes in echo.standardOutput { received += bytes }
              try await written
              // Not as arrays: of those that differ every step from one to the other is looked for.
              #expect(received.count == sent.count)
              #expect(Digest.sha256(received) == Digest.sha256(sent))
              #expect(try await echo.exitStatus() == .status(0))
            }
          }
          try await group.waitForAll()
        }
      }
    }
  }

  @Test func closingTwiceIsFine() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        await connection.close()
        await connection.close()
        await #expect(throws: AppError.self) { _ = try await connection.execute("true") }
      }
    }
  }
}
