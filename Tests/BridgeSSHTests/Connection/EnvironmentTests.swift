import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTestKit
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

  private func connection(to server: ScriptedSSHServer) async throws -> SSHConnection {
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(user: "ann", credentials: [], hostKeys: .anyKey))
    try await connection.connect()
    return connection
  }

  /// The answers that a server may give to a variable and to the start, which it has read by then.
  @Test(arguments: [(99, 99), (100, 99), (99, 100), (100, 100)] as [(UInt8, UInt8)])
  func theLastVariableCostsNoRoundTrip(_ answers: (UInt8, UInt8)) async throws {
    try await withScript({ client, record in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      for _ in 0..<2 {
        var reader = WireReader(Array(try client.expect(98).dropFirst()))
        _ = reader.uint32()
        record(String(decoding: reader.string() ?? [], as: UTF8.self))
      }
      try client.say(answers.0) { $0.uint32(number) }
      try client.say(answers.1) { $0.uint32(number) }
      if answers == (99, 100) {
        // Which of both was refused is asked once more.
        _ = try client.expect(98)
        try client.say(99) { $0.uint32(number) }
      }
      // All that it says, and the end of the link, come at once.
      guard answers.1 == 99 else { return try client.listenToTheEnd() }
      try client.send(client.data(Array("all".utf8), of: number))
      try client.send(client.exitStatus(of: number))
      try client.send(client.message(96, of: number))
      try client.send(client.message(97, of: number))
    }) { server in
      let connection = try await connection(to: server)
      let environment = [EnvironmentVariable("A", "1")]
      if answers.1 == 99 {
        let remote = try await connection.execute("true", environment: environment)
        #expect(try await text(remote.standardOutput) == "all")
        #expect(try await remote.exitStatus() == .status(0))
      } else {
        let error = await failure {
          _ = try await connection.execute("true", environment: environment)
        }
        guard case .sshConnectionFailed = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
      #expect(server.collected == ["env", "exec"])
      await connection.close()
    }
  }

  /// A probe beside it has read both answers before the start looks, which finds an acceptance
  /// first, whichever was whose.
  ///
  /// - Parameters:
  ///   - variable: the answer to the variable.
  ///   - start: the answer to the start.
  ///   - prints: whether what was started prints at once; where it does not, the variable is asked
  ///     for again, which a channel with a program does not take.
  @Test(
    arguments: [
      (99, 99, true), (99, 99, false), (100, 99, true), (100, 99, false), (99, 100, false),
      (100, 100, false),
    ] as [(UInt8, UInt8, Bool)])
  func aProbeThatReadsTheAnswersDoesNotMixThemUp(
    variable: UInt8, start: UInt8, prints: Bool
  ) async throws {
    try await withScript({ client, record in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      for _ in 0..<2 { _ = try client.expect(98) }
      record("start")
      let probe = try client.openRequest()
      // In one segment: the start must not look before all of them are there.
      try client.sendTogether(
        [variable, start].map { client.message($0) { $0.uint32(number) } }
          + (prints ? [client.data(Array("all".utf8), of: number)] : [])
          + [client.refusal(ofChannel: probe, reason: 3)])
      if !prints, variable != start {
        _ = try client.expect(98)
        record("again")
        try client.say(start == 99 ? 100 : 99) { $0.uint32(number) }
      }
      guard start == 99 else { return try client.listenToTheEnd() }
      if !prints { try client.send(client.data(Array("all".utf8), of: number)) }
      try client.send(client.exitStatus(of: number))
      try client.send(client.message(96, of: number))
      try client.send(client.message(97, of: number))
    }) { server in
      let connection = try await connection(to: server)
      let environment = [EnvironmentVariable("A", "1")]
      async let started = connection.execute("true", environment: environment)
      try await eventually { server.collected == ["start"] }
      async let probed = connection.probe(within: .seconds(60))
      do {
        let remote = try await started
        #expect(start == 99)
        #expect(try await text(remote.standardOutput) == "all")
        #expect(try await remote.exitStatus() == .status(0))
      } catch {
        guard start == 100, case AppError.sshConnectionFailed = error else {
          Issue.record("\(error)")
          return
        }
      }
      _ = try? await probed
      await connection.close()
    }
  }

  /// A short program is over before the server has read that the variable is asked for once more,
  /// and the channel is closed: what it has printed is there, and its status.
  @Test(arguments: [true, false])
  func aProgramThatIsOverBeforeTheAnswersAreToldApartHasRun(prints: Bool) async throws {
    try await withScript({ client, record in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      for _ in 0..<2 { _ = try client.expect(98) }
      record("start")
      let probe = try client.openRequest()
      try client.sendTogether(
        [100, 99].map { client.message($0) { $0.uint32(number) } }
          + [client.refusal(ofChannel: probe, reason: 3)])
      _ = try client.expect(98)
      if prints { try client.send(client.data(Array("all".utf8), of: number)) }
      try client.send(client.exitStatus(of: number))
      try client.send(client.message(96, of: number))
      try client.send(client.message(97, of: number))
      try client.listenToTheEnd()
    }) { server in
      let connection = try await connection(to: server)
      let environment = [EnvironmentVariable("A", "1")]
      async let started = connection.execute("true", environment: environment)
      try await eventually { server.collected == ["start"] }
      async let probed = connection.probe(within: .seconds(60))
      let remote = try await started
      #expect(try await text(remote.standardOutput) == (prints ? "all" : ""))
      #expect(try await remote.exitStatus() == .status(0))
      _ = try? await probed
      await connection.close()
    }
  }

  /// A server that goes in place of an answer has read the start as well.
  @Test func whatWasSentBehindAVariableMayHaveRun() async throws {
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      _ = try client.expect(98)
    }) { server in
      let connection = try await connection(to: server)
      let error = await failure {
        _ = try await connection.execute("true", environment: [EnvironmentVariable("A", "1")])
      }
      guard case .sshOutcomeUnknown = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      await connection.close()
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
