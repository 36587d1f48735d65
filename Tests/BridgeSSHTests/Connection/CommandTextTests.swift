import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// What people type reaches the server as it is, or nothing does.
@Suite(.timeLimit(.minutes(5))) struct CommandTextTests {
  @Test func aCommandIsSentAsItIs() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "printf %s \"$SSH_ORIGINAL_COMMAND\""
    try await withServer(configuration) { server in
      try await withConnection(to: server) { connection in
        for command in [
          "printf '%s' '$(x) `y` \"z\"'", "a\nb\r\n\tc", "\u{e9}\u{1f600}", "-x --help", "it's",
          "\u{1b}[2J\u{7f}", " ; & | > < * ? ~ # ! \\", String(repeating: "x", count: 31_000),
        ] {
          let remote = try await connection.execute(command)
          #expect(try await text(remote.standardOutput) == command)
          #expect(try await remote.exitStatus() == .status(0))
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func aCommandThatCannotBeSentIsRefusedHere(isLong: Bool) async throws {
    let command = isLong ? String(repeating: "x", count: 1 << 20) : "a\u{0}b"
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let error = await failure { _ = try await connection.execute(command) }
        guard case .validationError("command", _) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(error?.exitCode() == .usage)
        let other = try await connection.execute("true")
        #expect(try await other.exitStatus() == .status(0))
      }
    }
  }

  @Test func aTerminalTypeWithANulByteIsRefusedHere() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let terminal = PseudoTerminal(type: "x\u{0}y")
        let error = await failure { _ = try await connection.shell(in: terminal) }
        guard case .validationError("terminal", _) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
    }
  }

  @Test func aMegabyteGoesInAsInput() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let shell = try await connection.execute("sh")
        let padding = String(repeating: "# comment\n", count: 105_000)
        try await shell.write(Array((padding + "exit 8\n").utf8))
        #expect(try await shell.exitStatus() == .status(8))
      }
    }
  }

  static let hostile = [
    "", "a\u{0}b", "a\nb", "\u{1b}[2J", "a\u{7f}", "a\u{85}b", String(repeating: "x", count: 1025),
    String(repeating: "x", count: 1 << 20),
  ]

  /// Before anything is dialed, and without a byte of it in the message.
  @Test(arguments: hostile)
  func aUserOrHostWithControlCharactersIsRefusedHere(name: String) async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    for field in ["user", "host"] {
      let connection = SSHConnection(
        to: Endpoint(host: field == "host" ? name : "127.0.0.1", port: peer.port),
        configuration: SSHConfiguration(
          user: field == "user" ? name : "nobody", hostKeys: .anyKey))
      let error = await failure { try await connection.connect() }
      guard case .validationError(field, let message) = error else {
        Issue.record("\(field): \(String(describing: error))")
        continue
      }
      #expect(!message.unicodeScalars.contains { $0.value < 32 })
      #expect(error?.exitCode() == .usage)
      await connection.close()
    }
    #expect(await peer.received.isEmpty)
    await peer.stop()
  }

  @Test(arguments: ["-oProxyCommand=x", "$(x)", "'; x", "a b", "%h"])
  func anOddUserIsOnlyAName(user: String) async throws {
    try await withServer { server in
      var configuration = trusting(server)
      configuration.user = user
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
      await expectFailure(
        of: connection, ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused))
    }
  }

  @Test(arguments: [0, -1, 65_536]) func aPortIsOne(port: Int) async throws {
    let connection = stranger(to: port)
    let error = await failure { try await connection.connect() }
    guard case .validationError("port", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    await connection.close()
  }
}
