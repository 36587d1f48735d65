import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// Logins that a real sshd accepts, each with what it wants.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled("A password of our own for sshd takes root and the right to mount") {
    await SSHServer.canReplacePasswords()
  })
struct AcceptedLoginTests {
  private static let password = "open sesame"

  private func withAccount(
    _ change: (inout SSHServerConfiguration) -> Void, _ body: (SSHServer) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    configuration.passwordHash = SSHServerConfiguration.hashOfOpenSesame
    change(&configuration)
    try await withServer(configuration, body)
  }

  /// Logs in with `credentials`, and hears from the other side.
  private func expectLogin(
    to server: SSHServer, _ credentials: [SSHCredential],
    interaction: SSHInteraction = SSHInteraction()
  ) async throws {
    var configuration = trusting(server)
    configuration.credentials = credentials
    configuration.interaction = interaction
    try await withConnection(to: server, configuration) { connection in
      _ = try await connection.probe(within: .seconds(10))
    }
  }

  private let answers = SSHInteraction(answers: { request in
    request.prompts.map { _ in Secret(Self.password) }
  })

  @Test func aPassword() async throws {
    try await withAccount({ $0.offersPassword = true }) { server in
      try await expectLogin(to: server, [.password(Secret(Self.password))])
      #expect(await server.log.contains("Accepted password"))
      #expect(await server.failures("password") == 0)
    }
  }

  @Test func aPasswordThatIsAskedFor() async throws {
    try await withAccount({ $0.offersPassword = true }) { server in
      let asked = Inbox<String>()
      let interaction = SSHInteraction(password: { user, host in
        await asked.add("\(user) at \(host)")
        return Secret(Self.password)
      })
      try await expectLogin(
        to: server, [.keyFile("/nonexistent"), .password(nil)], interaction: interaction)
      #expect(await asked.all == ["\(server.user) at 127.0.0.1"])
    }
  }

  @Test func theRightPasswordAfterAWrongOne() async throws {
    try await withAccount({ $0.offersPassword = true }) { server in
      let credentials = ["wrong", "wrong", Self.password].map { SSHCredential.password(Secret($0)) }
      try await expectLogin(to: server, credentials)
      #expect(await server.failures("password") == 1)
    }
  }

  @Test func theAnswerToAQuestion() async throws {
    try await withAccount({ $0.offersKeyboardInteractive = true }) { server in
      try await expectLogin(to: server, [.keyboardInteractive], interaction: answers)
      #expect(await server.log.contains("Accepted keyboard-interactive/pam"))
    }
  }

  @Test(arguments: ["password", "keyboard-interactive"])
  func aKeyAndThen(second: String) async throws {
    try await withAccount({
      $0.offersPassword = second == "password"
      $0.offersKeyboardInteractive = second != "password"
      $0.authenticationMethods = "publickey,\(second)"
    }) { server in
      let key = SSHCredential.keyFile(server.identityFile)
      let credential: SSHCredential =
        second == "password" ? .password(Secret(Self.password)) : .keyboardInteractive
      // In either order: the server says whose turn it is.
      for credentials in [[key, credential], [credential, key]] {
        try await expectLogin(to: server, credentials, interaction: answers)
      }
      let log = await server.log
      #expect(log.contains("Partial publickey"))
      #expect(log.contains("Accepted \(second)"))
      #expect(await server.failures("password") == 0)

      let error = await expectFailure(
        of: SSHConnection(
          to: Endpoint(host: "127.0.0.1", port: server.port), configuration: trusting(server)),
        ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused))
      #expect(error == .sshAuthenticationFailed(method: second))
    }
  }
}
