import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// A link whose sockets are open and that carries nothing.
@Suite(.timeLimit(.minutes(5))) struct FrozenLinkTests {
  private func withFrozenLink(
    _ timeouts: SSHTimeouts = SSHTimeouts(),
    before: (SSHConnection) async throws -> Void = { _ in },
    _ body: (SSHConnection) async throws -> Void
  ) async throws {
    try await withServer { server in
      let proxy = try await FaultProxy(to: server.port)
      var configuration = trusting(server)
      configuration.timeouts = timeouts
      try await withConnection(to: server, at: proxy.port, configuration) { connection in
        let first = try await connection.execute("true")
        #expect(try await first.exitStatus() == .status(0))
        // Its answer is the last thing that the server sends before.
        _ = try await connection.probe(within: .seconds(60))
        try await before(connection)
        try await proxy.inject(.freeze())
        try await body(connection)
      }
      await proxy.stop()
    }
  }

  private var cancelled: SSHTimeouts {
    var timeouts = SSHTimeouts()
    timeouts.channel = .seconds(10)
    return timeouts
  }

  @Test func aProbeEndsAtItsDeadlineAndTheConnectionLives() async throws {
    try await withFrozenLink { connection in
      let heard = await connection.lastHeard
      for _ in 0..<3 {
        let error = await failure { _ = try await connection.probe(within: .milliseconds(20)) }
        #expect(error == .sshTimeout(seconds: 1))
      }
      #expect(await connection.lastFailure == nil)
      #expect(await connection.lastHeard == heard)
    }
  }

  @Test func closeReturnsAndResumesAllCallers() async throws {
    try await withFrozenLink { connection in
      async let probe: AppError? = failure { _ = try await connection.probe(within: .seconds(99)) }
      async let command: AppError? = failure { _ = try await connection.execute("true") }
      await connection.close()
      let lost: [AppError?] = [await probe, await command]
      for error in lost { #expect(error == .cancelled) }
      #expect(OpenSockets.to(port: connection.endpoint.port).isEmpty)
      #expect(await connection.lastFailure == nil)
    }
  }

  @Test func aChannelThatCannotBeOpenedEndsIt() async throws {
    try await withFrozenLink(cancelled) { connection in
      let error = await failure { _ = try await connection.execute("true") }
      #expect(error == .sshTimeout(seconds: 10))
      let context = await connection.lastFailure
      #expect(context?.kind == .silent)
      // A round trip of our own is in its way where the server had just said something unasked.
      #expect(context?.phase == .openChannel || context?.phase == .stream)
      #expect(error?.exitCode(in: context) == .timedOut)
    }
  }

  /// A probe without a caller has no deadline; a caller behind it has.
  @Test func whoWaitsBehindAProbeIsAnsweredToo() async throws {
    try await withFrozenLink(cancelled) { connection in
      _ = await failure { _ = try await connection.probe(within: .milliseconds(20)) }
      let error = await failure { _ = try await connection.execute("true") }
      #expect(error == .sshTimeout(seconds: 10))
      #expect(await connection.lastFailure?.kind == .silent)
    }
  }

  @Test func aCallerThatCancelsIsAnsweredAtOnce() async throws {
    let running = Inbox<SSHChannel>()
    // What a canceled caller has asked for stays in the way, and its deadline ends the link.
    var timeouts = SSHTimeouts()
    timeouts.channel = .seconds(600)
    try await withFrozenLink(
      timeouts,
      before: { try await running.add($0.execute("exec cat")) }
    ) { connection in
      let cat = try #require(await running.all.first)
      let full = [UInt8](repeating: 0, count: 8 << 20)
      let operations: [@Sendable () async throws -> Void] = [
        { _ = try await connection.execute("true") },
        { _ = try await connection.shell() },
        { _ = try await connection.probe(within: .seconds(99)) },
        { _ = try await cat.exitStatus() },
        { _ = try await text(cat.standardOutput) },
        { try await cat.write(full) },
      ]
      for operation in operations {
        let waiting = Task { await failure { try await operation() } }
        // Some are canceled before they began to wait, some while they do.
        for _ in 0..<3 { await Task.yield() }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
      }
      #expect(await connection.lastFailure == nil)
    }
  }
}
