import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// The prompts of a server, and the callers that wait meanwhile.
@Suite(.timeLimit(.minutes(5))) struct KeyboardInteractiveTests {
  private func withAskingServer(_ body: (SSHServer) async throws -> Void) async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersKeyboardInteractive = true
    try await withServer(configuration, body)
  }

  private func asking(
    _ server: SSHServer, at port: Int? = nil, within timeout: Duration = .seconds(30),
    _ answers:
      @escaping @concurrent @Sendable (KeyboardInteractiveRequest) async -> [Secret]?
  ) -> SSHConnection {
    var configuration = trusting(server)
    configuration.credentials = [.keyboardInteractive]
    configuration.timeouts.authenticate = timeout
    configuration.interaction.answers = answers
    return SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: port ?? server.port), configuration: configuration)
  }

  private let refused = ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused)

  @Test func aWrongAnswerIsGivenOnce() async throws {
    try await withAskingServer { server in
      let asked = Inbox<KeyboardInteractiveRequest>()
      let connection = asking(server) { request in
        await asked.add(request)
        return request.prompts.map { _ in Secret("wrong") }
      }
      let error = await expectFailure(of: connection, refused)
      #expect(error == .sshAuthenticationFailed(method: "keyboard-interactive"))
      let prompts = await asked.all.filter { !$0.prompts.isEmpty }
      #expect(prompts.count == 1)
      #expect(prompts.first?.prompts.first?.isEchoed == false)
    }
  }

  @Test func aPromptWithoutAnAnswerIsNoCredential() async throws {
    try await withAskingServer { server in
      await expectFailure(of: asking(server) { _ in nil }, refused)
    }
  }

  @Test func tooFewAnswersAreARefusal() async throws {
    try await withAskingServer { server in
      await expectFailure(of: asking(server) { _ in [] }, refused)
    }
  }

  /// The deadline of the phase holds for the server, though not for the person.
  @Test func aServerThatFallsSilentAfterTheAnswerIsGivenUp() async throws {
    try await withAskingServer { server in
      let proxy = try await FaultProxy(to: server.port)
      let connection = asking(server, at: proxy.port, within: .seconds(1)) { request in
        try? await proxy.inject(.freeze())
        return request.prompts.map { _ in Secret("wrong") }
      }
      await expectFailure(
        of: connection, ExpectedFailure(.silent, in: .authenticate, exit: .timedOut))
      await proxy.stop()
    }
  }

  /// LoginGraceTime of sshd, or a link that is lost: an answer would go nowhere.
  @Test func aQuestionEndsWithItsLink() async throws {
    try await withAskingServer { server in
      let proxy = try await FaultProxy(to: server.port)
      let connection = asking(server, at: proxy.port) { _ in
        try? await proxy.inject(.reset)
        let never = AsyncStream<Void>.makeStream()
        for await _ in never.stream {}
        return nil
      }
      await expectFailure(
        of: connection, ExpectedFailure(.dropped, in: .authenticate, exit: .unreachable))
      await proxy.stop()
    }
  }

  @Test(arguments: [false, true])
  func aPersonWhoNeverAnswersHoldsUpNoCaller(byClosing: Bool) async throws {
    try await withAskingServer { server in
      let asked = AsyncStream<Void>.makeStream()
      let never = AsyncStream<Void>.makeStream()
      let connection = asking(server) { _ in
        asked.continuation.yield()
        await Task { for await _ in never.stream {} }.value
        return nil
      }
      await expectWithdrawal(of: connection, byClosing: byClosing, once: asked.stream)
      never.continuation.finish()
    }
  }
}
