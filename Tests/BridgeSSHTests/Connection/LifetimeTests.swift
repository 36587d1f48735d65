import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import BridgeWaiting
import Testing

/// How long the socket, the session and the streams of a connection live.
@Suite(.timeLimit(.minutes(5))) struct LifetimeTests {
  /// `close()` from another thread at many moments around the one at which the dial is won, on a
  /// loop that is busy, so that every step of the dial takes a turn of some length.
  @Test func closeDuringTheDialLeavesNoSocketWheneverItComes() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let reactor = Reactor()
    let isBusy = Mutex(true)
    Self.keepBusy(reactor, while: isBusy)
    var connections: [SSHConnection] = []
    var generator = SplitMix64(seed: 4)
    for _ in 0..<120 {
      let connection = stranger(to: peer.port, on: reactor)
      connections.append(connection)
      let connecting = Task { await failure { try await connection.connect() } }
      for await event in connection.events where event == .entered(.dial) { break }
      Self.spin(for: .microseconds(Int.random(in: 0..<2000, using: &generator)))
      await connection.close()
      #expect(OpenSockets.to(port: peer.port).isEmpty)
      #expect(await connecting.value != nil)
    }
    #expect(OpenSockets.to(port: peer.port).isEmpty)
    withExtendedLifetime(connections) {}
    isBusy.withLock { $0 = false }
    await peer.stop()
    await reactor.stop()
  }

  private static func keepBusy(_ reactor: Reactor, while isBusy: Mutex<Bool>) {
    reactor.execute {
      spin(for: .microseconds(100))
      if isBusy.withLock({ $0 }) { keepBusy(reactor, while: isBusy) }
    }
  }

  private static func spin(for duration: Duration) {
    let begun = ContinuousClock.now
    while ContinuousClock.now - begun < duration {}
  }

  /// The stream is what is left of the connection when the command writes.
  @Test func aStreamKeepsItsConnectionUntilItIsRead() async throws {
    try await withServer { server in
      let output = try await Self.output(
        of: "mkfifo ~/gate; read go <~/gate; echo hello", on: server)
      try await withConnection(to: server) { connection in
        let gate = try await connection.execute("mkfifo ~/gate; echo >~/gate")
        #expect(try await gate.exitStatus() == .status(0))
      }
      #expect(try await text(output) == "hello\n")
    }
  }

  private static func output(of command: String, on server: SSHServer) async throws -> ByteStream {
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port), configuration: trusting(server))
    try await connection.connect()
    return try await connection.execute(command).standardOutput
  }

  /// The connection lives, so no error may say that it was lost.
  @Test func aChannelThatItsOwnSideClosedAnswersCancelled() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("exec cat")
        let full = [UInt8](repeating: 0, count: 64 << 20)
        async let writing: AppError? = failure { try await command.write(full) }
        _ = try await connection.probe(within: .seconds(10))
        await command.close()
        #expect(await writing == .cancelled)
        #expect(await failure { try await command.write([1]) } == .cancelled)
        #expect(await failure { try await command.resize(to: TerminalSize()) } == nil)
        #expect(await failure { _ = try await command.exitStatus() } == .cancelled)
        #expect(await connection.lastFailure == nil)
      }
    }
  }

  @Test func inputThatIsFinishedIsNamed() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("mkfifo ~/gate; read go <~/gate")
        try await command.finishInput()
        #expect(
          await failure { try await command.write([1]) }
            == .sshConnectionFailed(
              host: "127.0.0.1", reason: "The input of the channel is finished."))
        let gate = try await connection.execute("mkfifo ~/gate; echo >~/gate")
        #expect(try await gate.exitStatus() == .status(0))
        await command.close()
      }
    }
  }

  /// A shell that the server closes without an exit status, on a connection that goes on.
  @Test func aShellThatEndsWithoutAStatusIsNoLostConnection() async throws {
    try await withScript({ client, _ in
      try client.admit()
      let shell = try client.openRequest()
      try client.confirmChannel(shell)
      _ = try client.expect(98)
      for number: UInt8 in [99, 96, 97] { try client.say(number) { $0.uint32(shell) } }
      try client.listenToTheEnd()
    }) { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(user: "somebody", hostKeys: .anyKey))
      try await connection.connect()
      let shell = try await connection.shell(in: nil)
      #expect(
        await failure { _ = try await shell.exitStatus() }
          == .sshConnectionFailed(
            host: "127.0.0.1", reason: "The server closed the channel without an exit status."))
      #expect(await connection.lastFailure == nil)
      await connection.close()
    }
  }
}
