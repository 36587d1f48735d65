import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Testing

/// How channels end, and what each end is called.
@Suite(.timeLimit(.minutes(5))) struct ChannelTests {
  private func withLimits(
    _ change: (inout SSHServerConfiguration) -> Void,
    _ body: (SSHConnection, SSHServer) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    change(&configuration)
    try await withServer(configuration) { server in
      try await withConnection(to: server) { try await body($0, server) }
    }
  }

  @Test func aRefusedChannelLeavesTheConnection() async throws {
    try await withLimits({ $0.maxSessions = 1 }) { connection, _ in
      let first = try await connection.execute("cat")
      let error = await #expect(throws: AppError.self) { _ = try await connection.execute("true") }
      guard case .sshConnectionFailed("127.0.0.1", let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.contains("open failure"))
      try await first.finishInput()
      #expect(try await first.exitStatus() == .status(0))
      #expect(try await text(first.standardOutput) == "")
      _ = try await connection.probe(within: .seconds(10))
    }
  }

  @Test func aServerWithoutSessionsRefusesEveryOne() async throws {
    try await withLimits({ $0.maxSessions = 0 }) { connection, _ in
      for _ in 0..<3 {
        await #expect(throws: AppError.self) { _ = try await connection.execute("true") }
      }
      #expect(await connection.lastFailure == nil)
    }
  }

  /// sshd answers a terminal request with a failure where PermitTTY is off.
  @Test func aRefusedRequestLeavesTheConnection() async throws {
    try await withLimits({ $0.lines = ["PermitTTY no"] }) { connection, _ in
      let error = await #expect(throws: AppError.self) {
        _ = try await connection.execute("true", terminal: PseudoTerminal())
      }
      guard case .sshConnectionFailed("127.0.0.1", let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.hasPrefix("The server gives no terminal"))
      let other = try await connection.execute("exit 4")
      #expect(try await other.exitStatus() == .status(4))
    }
  }

  /// As with ssh(1): one that nothing asked for by name is done without.
  @Test func aTerminalThatIsNotRequiredIsDoneWithout() async throws {
    try await withLimits({ $0.lines = ["PermitTTY no"] }) { connection, _ in
      let terminal = PseudoTerminal(isRequired: false)
      let command = try await connection.execute("tty; exit 4", terminal: terminal)
      #expect(!command.hasTerminal)
      #expect(try await text(command.standardOutput) == "not a tty\n")
      #expect(try await command.exitStatus() == .status(4))
    }
    try await withLimits({ _ in }) { connection, _ in
      let terminal = PseudoTerminal(isRequired: false)
      let command = try await connection.execute("tty", terminal: terminal)
      #expect(command.hasTerminal)
      #expect(try await text(command.standardOutput).hasPrefix("/dev/"))
    }
  }

  @Test func aForcedCommandRunsInItsPlace() async throws {
    try await withLimits({ $0.forceCommand = "echo forced; exit 9" }) { connection, _ in
      let command = try await connection.execute("echo mine")
      #expect(try await text(command.standardOutput) == "forced\n")
      #expect(try await command.exitStatus() == .status(9))
    }
  }

  /// It ran to its end, and its outcome will never be known.
  @Test func anExitStatusThatIsWithheldIsAnOutcomeUnknown() async throws {
    try await withLimits({ $0.withholdsExitStatus = true }) { connection, _ in
      // Where the server ends the link in the turn that starts the command, `execute` says so.
      let error = await failure {
        let command = try await connection.execute("echo done; exit 3")
        command.standardOutput.discard()
        _ = try await command.exitStatus()
      }
      #expect(error == .sshOutcomeUnknown(command: "echo done; exit 3"))
    }
  }

  @Test(arguments: ["TERM", "KILL", "HUP", "INT", "SEGV"])
  func aSignalHasItsName(signal: String) async throws {
    try await withLimits({ _ in }) { connection, _ in
      let command = try await connection.execute("exec sh -c 'kill -\(signal) $$'")
      #expect(try await command.exitStatus() == .signal(signal))
    }
  }

  /// The stream is full and unread; the end is known even so.
  @Test func anEndIsReportedWithoutAReader() async throws {
    try await withLimits({ _ in }) { connection, _ in
      for (way, end) in [("exit 5", ExitStatus.status(5)), ("kill -KILL $$", .signal("KILL"))] {
        let command = try await connection.execute("head -c 1000000 /dev/zero; \(way)")
        #expect(try await command.exitStatus() == end)
        var count = 0
        for try await bytes in command.standardOutput { count += bytes.count }
        #expect(count == 1_000_000)
      }
    }
  }

  /// Like a daemon that forgot to let go of its standard output.
  @Test func aStreamOutlivesItsCommand() async throws {
    try await withLimits({ _ in }) { connection, _ in
      let command = try await connection.execute(
        "mkfifo ~/gate; (read go <~/gate; echo late) & exit 6")
      #expect(try await command.reportedStatus() == .status(6))
      #expect(command.knownStatus == nil)
      let other = try await connection.execute("echo go >~/gate")
      #expect(try await other.exitStatus() == .status(0))
      #expect(try await text(command.standardOutput) == "late\n")
      #expect(try await command.exitStatus() == .status(6))
    }
  }

  @Test func anIdleChannelThatTheServerClosesHasNoOutcome() async throws {
    try await withLimits({ $0.lines = ["ChannelTimeout session:*=5s"] }) { connection, _ in
      let command = try await connection.execute("exec cat")
      await #expect(throws: AppError.sshOutcomeUnknown(command: "exec cat")) {
        try await command.exitStatus()
      }
      #expect(command.failure?.kind == .noStatus)
      #expect(try await text(command.standardOutput) == "")
      #expect(await connection.lastFailure == nil)
      _ = try await connection.probe(within: .seconds(10))
    }
  }

  @Test func aLinkLostUnderCommandAndShell() async throws {
    try await withLimits({ _ in }) { connection, server in
      let command = try await connection.execute("exec cat")
      let shell = try await connection.shell()
      async let read: AppError? = failure { _ = try await text(command.standardOutput) }
      async let end: AppError? = failure { _ = try await command.exitStatus() }
      async let shellEnd: AppError? = failure { _ = try await shell.exitStatus() }
      await server.killSessions()
      #expect(await read == .sshOutcomeUnknown(command: "exec cat"))
      #expect(await end == .sshOutcomeUnknown(command: "exec cat"))
      let lost = AppError.sshConnectionFailed(
        host: "127.0.0.1", reason: "The connection was lost.")
      #expect(await shellEnd == lost)
      let context = await connection.lastFailure
      #expect(context?.kind == .linkLost)
      #expect(AppError.sshOutcomeUnknown(command: "").exitCode() == .outcomeUnknown)
      #expect(lost.exitCode(in: context) == .unreachable)
      #expect(lost.exitCode(in: context, endsSession: true) == .outcomeUnknown)
      for late in [
        await failure { try await command.write([1]) },
        await failure { _ = try await connection.execute("true") },
        await failure { _ = try await connection.probe(within: .seconds(1)) },
      ] {
        #expect(late == lost)
      }
      #expect(OpenSockets.to(port: connection.endpoint.port).isEmpty)
    }
  }

  @Test func writingToACommandThatHasEndedIsAnError() async throws {
    try await withLimits({ _ in }) { connection, _ in
      let command = try await connection.execute("head -c 1 >/dev/null; exit 0")
      let closed = AppError.sshConnectionFailed(
        host: "127.0.0.1", reason: "The channel is closed.")
      // More than the window: it waits when the command ends.
      let bytes = [UInt8](repeating: 0, count: 8 << 20)
      #expect(await failure { try await command.write(bytes) } == closed)
      #expect(await failure { try await command.write([1]) } == closed)
      #expect(try await command.exitStatus() == .status(0))
    }
  }

  @Test func aClosedChannelEndsForAllItsWaiters() async throws {
    try await withLimits({ _ in }) { connection, _ in
      let command = try await connection.execute("exec cat")
      async let read: AppError? = failure { _ = try await text(command.standardOutput) }
      async let end: AppError? = failure { _ = try await command.exitStatus() }
      await command.close()
      #expect(await read == .cancelled)
      #expect(await end == .cancelled)
      await command.close()
      let next = try await connection.execute("exit 3")
      #expect(try await next.exitStatus() == .status(3))
    }
  }

  /// Channels come and go, and their numbers with them.
  @Test func manyChannelsOneAfterTheOther() async throws {
    try await withLimits({ $0.maxSessions = 2 }) { connection, _ in
      for number in 0..<40 {
        let command = try await connection.execute("exit \(number)")
        #expect(try await command.exitStatus() == .status(number))
        #expect(try await text(command.standardOutput) == "")
        await command.close()
      }
    }
  }
}
