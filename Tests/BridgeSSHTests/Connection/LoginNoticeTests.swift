import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import BridgeWaiting
import Testing

/// What a server tells the user before the login (RFC 4252, 5.4).
@Suite(.timeLimit(.minutes(2))) struct LoginNoticeTests {
  private func connection(
    to server: ScriptedSSHServer, _ credentials: [SSHCredential], seen: Mutex<[String]>,
    answers: @escaping @concurrent @Sendable (KeyboardInteractiveRequest) async -> [Secret]? = {
      _ in nil
    }
  ) -> SSHConnection {
    let interaction = SSHInteraction(
      answers: answers, notice: { text in seen.withLock { $0.append(text) } })
    return SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: "user", credentials: credentials, hostKeys: .anyKey, interaction: interaction))
  }

  private func tell(_ text: String, by client: ServerTalk) throws {
    try client.say(53) {
      $0.string(text)
      $0.string("en")
    }
  }

  @Test func aRealServersBannerIsTold() async throws {
    var settings = SSHServerConfiguration()
    let text = String(repeating: "Only for staff.\n", count: 200)
    settings.banner = text
    try await withServer(settings) { server in
      let seen = Mutex<[String]>([])
      var configuration = trusting(server)
      configuration.interaction.notice = { text in seen.withLock { $0.append(text) } }
      try await withConnection(to: server, configuration) { connection in
        #expect(seen.withLock { $0 } == [text])
        let command = try await connection.execute("exit 3")
        #expect(try await command.exitStatus() == .status(3))
      }
      #expect(seen.withLock { $0 } == [text])
    }
  }

  /// One that comes before anything is asked, and one in the middle of questions: each before the
  /// question behind it.
  @Test func aNoticeIsToldBeforeTheQuestionBehindIt() async throws {
    try await withScript({ client, _ in
      _ = try client.request()
      try tell("first", by: client)
      try client.refuse(goOnWith: "keyboard-interactive")
      _ = try client.request()
      for text in ["Open https://login.example", "Again"] {
        try tell(text, by: client)
        try client.say(60) { message in
          for text in ["", "", ""] { message.string(text) }
          message.uint32(1)
          message.string("Done? ")
          message.byte(1)
        }
        _ = try client.expect(61)
      }
      try client.welcome()
      try client.listenToTheEnd()
    }) { server in
      let seen = Mutex<[String]>([])
      let connection = connection(to: server, [.keyboardInteractive], seen: seen) { _ in
        seen.withLock { $0.append("?") }
        return [Secret("yes")]
      }
      try await connection.connect()
      #expect(
        seen.withLock { $0 } == ["first", "Open https://login.example", "?", "Again", "?"])
      await connection.close()
    }
  }

  @Test func aFloodOfThemIsBounded() async throws {
    try await withScript({ client, _ in
      _ = try client.request()
      for number in 0..<100 { try tell("\(number)", by: client) }
      try client.welcome()
      try client.listenToTheEnd()
    }) { server in
      let seen = Mutex<[String]>([])
      let connection = connection(to: server, [], seen: seen)
      try await connection.connect()
      #expect(seen.withLock { $0 } == (0..<16).map { "\($0)" })
      await connection.close()
    }
  }

  /// It is longer than a packet that libssh2 can read: neither the host nor the port is wrong.
  @Test func aNoticeThatIsTooLongIsNamed() async throws {
    try await withScript({ client, _ in
      _ = try client.request()
      try tell(String(repeating: "x", count: 60_000), by: client)
      try client.welcome()
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server, [], seen: Mutex([]))
      let error = await failure { try await connection.connect() }
      let message = error?.shownMessage() ?? ""
      #expect(message.contains("Banner"), "\(message)")
      await connection.close()
    }
  }
}
