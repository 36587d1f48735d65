import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// Keys that an ssh-agent holds, and agents that are of no use.
@Suite(.timeLimit(.minutes(5))) struct AgentTests {
  private func connection(
    to server: SSHServer, _ credentials: [SSHCredential], _ timeouts: SSHTimeouts = SSHTimeouts()
  ) -> SSHConnection {
    SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: server.user, credentials: credentials, hostKeys: .anyKey, timeouts: timeouts))
  }

  @Test(arguments: SSHKeyType.allCases)
  func aKeyOfTheAgentsLogsIn(type: SSHKeyType) async throws {
    try await withServer { server in
      let wrong = try await server.makeIdentity(.ed25519, name: "wrong", isAuthorized: false)
      let right = try await server.makeIdentity(type, name: "right", isAuthorized: true)
      try await withAgent([wrong, right]) { socket in
        let connection = connection(to: server, [.agent(socketPath: socket)])
        try await connection.connect()
        let other = try await connection.execute("exit 3")
        #expect(try await other.exitStatus() == .status(3))
        await connection.close()
      }
    }
  }

  @Test func aKeyThatTheFileShowedIsNotOfferedAgain() async throws {
    try await withServer { server in
      let wrong = try await server.makeIdentity(.ed25519, name: "wrong", isAuthorized: false)
      try await withAgent([wrong]) { socket in
        await expectFailure(
          of: connection(to: server, [.keyFile(wrong), .agent(socketPath: socket)]),
          ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused))
        #expect(await server.failures("publickey") == 1)
      }
    }
  }

  /// Runs `body` with an agent that holds `count` keys the server does not know and, last, the
  /// right one, whose path it gets with a `.pub` beside it.
  private func withFullAgent(
    _ count: Int, passphrase: String = "", _ body: (SSHServer, String, String) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxAuthTries = 20
    try await withServer(configuration) { server in
      var keys: [String] = []
      for number in 0..<count {
        keys.append(
          try await server.makeIdentity(.ed25519, name: "wrong\(number)", isAuthorized: false))
      }
      let right = try await server.makeIdentity(.ecdsa, name: "right", isAuthorized: true)
      try await withAgent(keys + [right]) { socket in try await body(server, socket, right) }
    }
  }

  /// The private file is locked, gone, or was never here: the agent signs.
  @Test(arguments: ["locked", "gone", "public", "no .pub"])
  func theAgentsKeyOfANamedFileIsOfferedFirst(file: String) async throws {
    try await withFullAgent(6) { server, socket, right in
      var path = right
      switch file {
      case "locked":
        try KeyGen.run("-q", "-p", "-P", "", "-N", "open sesame", "-f", right)
      case "gone": try FileManager.default.removeItem(atPath: right)
      case "public": path += ".pub"
      default: try FileManager.default.removeItem(atPath: right + ".pub")
      }
      for isLimited in [false, true] {
        let connection = connection(
          to: server,
          [.keyFile(path), .agent(socketPath: socket, preferring: [path], isLimited: isLimited)])
        try await connection.connect()
        await connection.close()
      }
      #expect(await server.failures("publickey") == 0)
    }
  }

  @Test func theOthersComeAfterTheNamedFileUnlessTheyAreLeftOut() async throws {
    try await withFullAgent(0) { server, socket, _ in
      let wrong = try await server.makeIdentity(.ed25519, name: "wrong", isAuthorized: false)
      let all = connection(
        to: server, [.keyFile(wrong), .agent(socketPath: socket, preferring: [wrong])])
      try await all.connect()
      await all.close()
      #expect(await server.failures("publickey") == 1)
      await expectFailure(
        of: connection(
          to: server,
          [
            .keyFile(wrong), .agent(socketPath: socket, preferring: [wrong], isLimited: true),
          ]), ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused))
      #expect(await server.failures("publickey") == 2)
    }
  }

  @Test func aPersonIsAskedForAPassphraseOnlyAfterTheAgentsKeys() async throws {
    try await withFullAgent(1) { server, socket, _ in
      let locked = try await server.makeIdentity(
        .ed25519, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let connection = connection(
        to: server, [.keyFile(locked), .agent(socketPath: socket, preferring: [locked])])
      try await connection.connect()
      await connection.close()
      #expect(await server.failures("publickey") == 1)
    }
  }

  @Test func aPublicKeyThatNoAgentHoldsSaysSo() async throws {
    try await withServer { server in
      let key = "\(server.identityFile).pub"
      try await withAgent([]) { socket in
        for socket in [socket, "/nonexistent"] {
          let connection = connection(
            to: server,
            [.keyFile(key), .agent(socketPath: socket, preferring: [key], isLimited: true)])
          let error = await expectFailure(
            of: connection, ExpectedFailure(.keyUnusable, in: .authenticate, exit: .keyUnusable))
          #expect("\(error)".contains("or an ssh-agent that holds it"), "\(error)")
        }
      }
    }
  }

  private let unavailable = ExpectedFailure(
    .agentUnavailable, in: .authenticate, exit: .keyUnusable)

  @Test func anAbsentAgentIsSaid() async throws {
    try await withServer { server in
      for path in ["/nonexistent/agent", "", String(repeating: "x", count: 200), "a\u{0}b"] {
        let connection = connection(to: server, [.agent(socketPath: path)])
        let error = await expectFailure(of: connection, unavailable)
        #expect("\(error)".contains("No ssh-agent answers"))
      }
    }
  }

  static let useless: [(name: String, list: ScriptedAgent.Answer, says: String)] = [
    ("refuses", .bytes(ScriptedAgent.failure), "refused to list"),
    ("empty", .bytes(ScriptedAgent.identities([])), "holds no keys"),
    ("DSA only", .bytes(ScriptedAgent.identities([Keys.blob("ssh-dss", 4)])), "ssh-dss"),
    ("ends", .end, "stopped answering"),
    ("no agent", .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), "is not an ssh-agent"),
    ("silent", .silence, "stopped answering"),
    ("half an answer", .bytes([0, 0, 1, 0, 12]), "stopped answering"),
  ]

  @Test(arguments: useless.indices) func aUselessAgentIsSaid(row: Int) async throws {
    let row = Self.useless[row]
    let directory = try TemporaryDirectory()
    let agent = try ScriptedAgent(in: directory, list: row.list)
    var timeouts = SSHTimeouts()
    // The two that never answer.
    if row.says == "stopped answering" { timeouts.authenticate = .seconds(12) }
    try await withServer { server in
      let error = await expectFailure(
        of: connection(to: server, [.agent(socketPath: agent.path)], timeouts), unavailable)
      #expect("\(error)".contains(row.says), "\(row.name)")
    }
    agent.stop()
  }

  @Test func theNextCredentialHasItsTurn() async throws {
    let directory = try TemporaryDirectory()
    let agent = try ScriptedAgent(in: directory, list: .bytes(ScriptedAgent.failure))
    try await withServer { server in
      let connection = connection(
        to: server, [.agent(socketPath: agent.path), .keyFile(server.identityFile)])
      try await connection.connect()
      await connection.close()
    }
    agent.stop()
  }

  /// It lists a key that the server takes, and then will not sign with it.
  @Test(arguments: [false, true]) func anAgentThatDoesNotSign(isSilent: Bool) async throws {
    let directory = try TemporaryDirectory()
    try await withServer { server in
      let file = try String(contentsOfFile: "\(server.identityFile).pub", encoding: .utf8)
      let blob = try #require(Base64.decode(file.split(separator: " ")[1]))
      let signer = try ScriptedAgent(
        in: directory, list: .bytes(ScriptedAgent.identities([blob])),
        sign: isSilent ? .silence : .bytes(ScriptedAgent.failure))
      var timeouts = SSHTimeouts()
      if isSilent { timeouts.authenticate = .seconds(3) }
      let connection = connection(to: server, [.agent(socketPath: signer.path)], timeouts)
      let error = await failure { try await connection.connect() }
      let kind = await connection.lastFailure?.kind
      // A machine that is slow enough finds it silent while it lists its keys.
      let kinds: [FailureKind] =
        isSilent ? [.silent, .agentUnavailable, .keyUnusable] : [.keyUnusable]
      #expect(kinds.contains { $0 == kind }, "\(String(describing: error))")
      if isSilent, kind == .keyUnusable {
        #expect("\(String(describing: error))".contains("stopped answering"))
      }
      if !isSilent { #expect("\(String(describing: error))".contains("refused to sign")) }
      await connection.close()
      // The same key in a file has its turn.
      guard !isSilent else { return signer.stop() }
      let next = self.connection(
        to: server, [.agent(socketPath: signer.path), .keyFile(server.identityFile)], timeouts)
      try await next.connect()
      await next.close()
      signer.stop()
    }
  }
}
