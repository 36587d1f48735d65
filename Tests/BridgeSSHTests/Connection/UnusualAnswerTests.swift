import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// What no server at hand can be brought to say once keys are agreed, said by a script.
@Suite(.timeLimit(.minutes(5))) struct UnusualAnswerTests {
  private let refused = ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused)

  private func connection(
    to server: ScriptedSSHServer, _ credentials: [SSHCredential] = [],
    interaction: SSHInteraction = SSHInteraction()
  ) -> SSHConnection {
    SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: "somebody", credentials: credentials, hostKeys: .anyKey, interaction: interaction))
  }

  // Logins

  @Test func aServerThatWantsNothing() async throws {
    try await withScript({ client, record in
      let request = try client.request()
      record("\(request.user) \(request.method)")
      try client.welcome()
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      #expect(server.collected == ["somebody none"])
      await connection.close()
    }
  }

  /// Two rounds of questions, the second with one to see and one to hide.
  @Test func questionsWithTheirEchoes() async throws {
    try await withScript({ client, record in
      _ = try client.request()
      try client.refuse(goOnWith: "keyboard-interactive")
      _ = try client.request()
      for prompts in [[("Code: ", false)], [("Name: ", true), ("PIN\u{1b}[2J: ", false)]] {
        try client.ask(prompts, name: "Door", saying: "Two locks").forEach(record)
      }
      try client.welcome()
      try client.listenToTheEnd()
    }) { server in
      let asked = Inbox<KeyboardInteractiveRequest>()
      let interaction = SSHInteraction(answers: { request in
        await asked.add(request)
        return request.prompts.map { Secret("to \($0.text)") }
      })
      let connection = connection(to: server, [.keyboardInteractive], interaction: interaction)
      try await connection.connect()
      let rounds = await asked.all
      #expect(rounds.map(\.name) == ["Door", "Door"])
      #expect(rounds.map(\.instruction) == ["Two locks", "Two locks"])
      #expect(rounds.map { $0.prompts.map(\.isEchoed) } == [[false], [true, false]])
      #expect(server.collected == ["to Code: ", "to Name: ", "to PIN\u{1b}[2J: "])
      await connection.close()
    }
  }

  /// No key, no agent, and no one to ask.
  @Test func aLoginWithoutACredentialSaysThatNothingWasOffered() async throws {
    try await withScript({ client, _ in
      _ = try client.request()
      try client.refuse(goOnWith: "publickey,password")
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server)
      let error = await expectFailure(of: connection, refused)
      let hint = error.hint(in: await connection.lastFailure)
      #expect(hint?.contains("Nothing was offered: there is no key") == true, "\(hint ?? "")")
      await connection.close()
    }
  }

  /// The password was right, and a key is missing.
  @Test func aLoginThatIsAcceptedInPartIsNoneWithoutACredential() async throws {
    try await withScript({ client, _ in
      _ = try client.request()
      try client.refuse(goOnWith: "password")
      _ = try client.request()
      try client.refuse(goOnWith: "publickey", isPartialSuccess: true)
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server, [.password(Secret("right"))])
      let error = await expectFailure(of: connection, refused)
      let hint = error.hint(in: await connection.lastFailure)
      #expect(hint?.contains("and the server wants more (publickey)") == true, "\(hint ?? "")")
      await connection.close()
    }
  }

  /// AuthenticationMethods password,publickey of sshd: the key is offered before the server has
  /// said what it takes, and is no worse for that.
  @Test func aKeyThatCameTooEarlyIsOfferedBehindThePassword() async throws {
    let folder = try TemporaryDirectory()
    let key = folder.file("key")
    try KeyGen.run("-q", "-t", "ed25519", "-N", "", "-f", key)
    try await withScript({ client, record in
      record(try client.request().method)
      try client.refuse(goOnWith: "password")
      record(try client.request().method)
      try client.refuse(goOnWith: "publickey", isPartialSuccess: true)
      record(try client.request().method)
      try client.welcome()
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server, [.keyFile(key), .password(Secret("right"))])
      try await connection.connect()
      #expect(server.collected == ["publickey", "password", "publickey"])
      await connection.close()
    }
  }

  /// As of a push to a phone, which is answered there.
  @Test func aNoticeWithoutAQuestionReachesThePerson() async throws {
    try await withScript({ client, record in
      _ = try client.request()
      try client.refuse(goOnWith: "keyboard-interactive")
      _ = try client.request()
      for notice in ["Push sent", "Still waiting"] {
        record("\(try client.ask([], saying: notice))")
      }
      try client.welcome()
      try client.listenToTheEnd()
    }) { server in
      let asked = Inbox<KeyboardInteractiveRequest>()
      let interaction = SSHInteraction(answers: { request in
        await asked.add(request)
        return []
      })
      let connection = connection(to: server, [.keyboardInteractive], interaction: interaction)
      try await connection.connect()
      #expect(await asked.all.map(\.instruction) == ["Push sent", "Still waiting"])
      #expect(await asked.all.allSatisfy(\.prompts.isEmpty))
      #expect(server.collected == ["[]", "[]"])
      await connection.close()
    }
  }

  /// LoginGraceTime of sshd, or a link that is lost: an answer would go nowhere.
  @Test func aQuestionEndsWithItsLink() async throws {
    let asked = DispatchSemaphore(value: 0)
    try await withScript({ client, _ in
      _ = try client.request()
      try client.refuse(goOnWith: "password")
      asked.wait()
    }) { server in
      let interaction = SSHInteraction(password: { _, _ in
        asked.signal()
        let never = AsyncStream<Void>.makeStream()
        for await _ in never.stream {}
        return nil
      })
      let connection = connection(to: server, [.password(nil)], interaction: interaction)
      let error = await failure { try await connection.connect() }
      #expect(error?.caseName == "sshConnectionFailed")
      let context = await connection.lastFailure
      #expect(context?.kind == .dropped && context?.phase == .authenticate)
      await connection.close()
    }
  }

  /// A right password that has expired (RFC 4252, 8) is not asked for again.
  @Test func aPasswordThatHasExpiredIsNoRefusedOne() async throws {
    try await withScript({ client, record in
      _ = try client.request()
      try client.refuse(goOnWith: "password")
      record(try client.request().method)
      try client.say(60) {
        $0.string("Your password has expired")
        $0.string("")
      }
      while true { record(try client.request().method) }
    }) { server in
      let interaction = SSHInteraction(password: { _, _ in Secret("right") })
      let connection = connection(
        to: server, [.password(nil), .password(nil), .password(nil)], interaction: interaction)
      await expectFailure(of: connection, refused)
      #expect(server.collected == ["password"])
      let failure = try #require(await connection.lastFailure)
      #expect(failure.native?.symbol == "PASSWORD_EXPIRED")
    }
  }

  /// libssh2 says only that the key exchange failed.
  @Test func aHostKeyThatIsShownWithoutItsPrivateHalfIsNoDamage() async throws {
    let server = try ScriptedSSHServer(forges: true) { client, _ in try client.listenToTheEnd() }
    let connection = connection(to: server)
    let error = await failure { try await connection.connect() }
    #expect(error?.caseName == "sshHostKeyMismatch")
    let context = await connection.lastFailure
    #expect(context?.kind == .hostKeyProof && error?.exitCode(in: context).rawValue == 79)
    await connection.close()
    server.stop()
  }

  /// As ssh does: the channel is over, whatever libssh2 has queued that nothing reads.
  @Test(arguments: ["data of an unknown type", "data behind the end", "data behind the close"])
  func aClosedChannelEndsWhateverIsLeft(of what: String) async throws {
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      func extended() throws {
        try client.say(95) {
          $0.uint32(number)
          $0.uint32(2)
          $0.string("??")
        }
      }
      func data(_ text: String) throws {
        try client.say(94) {
          $0.uint32(number)
          $0.string(text)
        }
      }
      try client.say(99) { $0.uint32(number) }
      if what == "data of an unknown type" { try extended() }
      try data("all of it")
      try client.say(98) {
        $0.uint32(number)
        $0.string("exit-status")
        $0.byte(0)
        $0.uint32(5)
      }
      try client.say(96) { $0.uint32(number) }
      if what == "data behind the end" { try data("more") }
      try client.say(97) { $0.uint32(number) }
      if what == "data behind the close" { try data("more") }
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      let channel = try await connection.execute("name")
      var output: [UInt8] = []
      for try await bytes in channel.standardOutput { output += bytes }
      #expect(String(decoding: output, as: UTF8.self).hasPrefix("all of it"))
      #expect(try await channel.exitStatus() == .status(5))
      await connection.close()
    }
  }

  /// RFC 4252, 8: the server wants another password before it lets anybody in.
  @Test func anExpiredPasswordIsARefusalAndGivenOnce() async throws {
    try await withScript({ client, record in
      _ = try client.request()
      try client.refuse(goOnWith: "password")
      while true {
        record(try client.request().method)
        try client.say(60) {
          $0.string("Your password has expired\u{1b}[2J")
          $0.string("")
        }
      }
    }) { server in
      let right = SSHCredential.password(Secret("right"))
      let connection = connection(to: server, [right, right])
      let error = await expectFailure(of: connection, refused)
      #expect(error == .sshAuthenticationFailed(method: "password"))
      #expect(server.collected == ["password"])
      let context = await connection.lastFailure
      #expect(context?.native?.symbol == "PASSWORD_EXPIRED")
      #expect(error.hint(in: context)?.contains("expired") == true)
    }
  }

  private static let unsendable = [
    ("right\u{0}and more", "It contains a NUL byte."),
    (String(repeating: "x", count: 1 << 20), "It is longer than 16384 bytes."),
  ]

  @Test(arguments: unsendable)
  func aPasswordThatCannotBeSentNeverIs(password: String, problem: String) async throws {
    let secret = Secret(password)
    try await withScript({ client, record in
      _ = try client.request()
      try client.refuse(goOnWith: "password,keyboard-interactive")
      record(try client.request().method)
    }) { server in
      let given = connection(to: server, [.password(secret)])
      let error = await failure { try await given.connect() }
      #expect(error == .validationError(field: "password", message: problem))
      #expect(error?.exitCode() == .usage)
      await given.close()

      let interaction = SSHInteraction(password: { _, _ in secret })
      let asking = connection(to: server, [.password(nil)], interaction: interaction)
      #expect(
        await expectFailure(of: asking, refused) == .sshAuthenticationFailed(method: "password"))
      #expect(server.collected == [])
    }
  }

  @Test(arguments: unsendable)
  func anAnswerThatCannotBeSentNeverIs(answer: String, problem: String) async throws {
    try await withScript({ client, record in
      _ = try client.request()
      try client.refuse(goOnWith: "keyboard-interactive")
      _ = try client.request()
      record(try client.askForPassword())
      try client.refuse(goOnWith: "keyboard-interactive")
      try client.listenToTheEnd()
    }) { server in
      let interaction = SSHInteraction(answers: { _ in [Secret(answer)] })
      await expectFailure(
        of: connection(to: server, [.keyboardInteractive], interaction: interaction), refused)
      #expect(server.collected == [""])
    }
  }

  /// As PAM and RADIUS do within one conversation: a password that was refused is not given again,
  /// and a server that never ends it is left.
  @Test(
    arguments: [
      (.passwordByAnyMethod(Secret("right")), ["right", ""]), (.keyboardInteractive, [""]),
    ] as [(SSHCredential, [String])])
  func aServerThatAsksForEverHasOneAnswer(
    _ credential: SSHCredential, _ answers: [String]
  ) async throws {
    try await withScript({ client, record in
      _ = try client.request()
      try client.refuse(goOnWith: "keyboard-interactive")
      _ = try client.request()
      while true { record(try client.askForPassword(saying: "Sorry, try again.")) }
    }) { server in
      let interaction = SSHInteraction(answers: { _ in nil })
      await expectFailure(
        of: connection(to: server, [credential], interaction: interaction), refused)
      #expect(server.collected == answers)
    }
  }

  /// A locked key without a passphrase is why the login fails, and not the method that
  /// the server refused without a question.
  @Test func anUnusableKeyIsNotHiddenByAMethodThatAskedNothing() async throws {
    let directory = try TemporaryDirectory()
    try KeyGen.run("-q", "-t", "ed25519", "-N", "open sesame", "-f", directory.file("locked"))
    try await withScript({ client, _ in
      while true {
        _ = try client.request()
        try client.refuse(goOnWith: "publickey,keyboard-interactive")
      }
    }) { server in
      let connection = connection(
        to: server, [.keyFile(directory.file("locked")), .keyboardInteractive])
      let error = await expectFailure(
        of: connection, ExpectedFailure(.keyUnusable, in: .authenticate, exit: .keyUnusable))
      #expect("\(error)".contains("encrypted"))
    }
  }

  @Test func aRefusalNamesTheKeyThatCouldNotBeOffered() async throws {
    let directory = try TemporaryDirectory()
    try KeyGen.run("-q", "-t", "ed25519", "-N", "open sesame", "-f", directory.file("locked"))
    try await withScript({ client, _ in
      while true {
        _ = try client.request()
        try client.refuse(goOnWith: "publickey,password")
      }
    }) { server in
      let connection = connection(
        to: server, [.keyFile(directory.file("locked")), .password(Secret("wrong"))])
      #expect(
        await expectFailure(of: connection, refused)
          == .sshAuthenticationFailed(method: "password"))
      let context = await connection.lastFailure
      #expect(context?.native?.text.contains("encrypted") == true)
    }
  }

  // Channels

  /// RFC 4254, 5.1: prohibited, connect failed, unknown type, resource shortage; and one of no one.
  @Test(
    arguments: [
      (1, FailureKind.channelDenied, ExitCode.protocolBroken), (2, .channelDenied, .protocolBroken),
      (3, .channelDenied, .protocolBroken), (4, .throttled, .busy),
      (99, .channelDenied, .protocolBroken),
    ] as [(UInt32, FailureKind, ExitCode)])
  func aRefusedChannel(reason: UInt32, kind: FailureKind, exit: ExitCode) async throws {
    try await withScript({ client, _ in
      try client.admit()
      while true {
        try client.refuseChannel(client.openRequest(), reason: reason, "go\u{1b}[2J away")
      }
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      for _ in 0..<2 {
        let error = await failure { _ = try await connection.execute("true") }
        let known = await connection.lastRefusal
        #expect(known?.kind == kind)
        #expect(error?.exitCode(in: known) == exit)
        #expect(!"\(String(describing: error))".unicodeScalars.contains { $0.value < 32 })
        #expect(!"\(String(describing: error))".contains("tunnel"))
      }
      #expect(await connection.lastFailure == nil)
      _ = try await connection.probe(within: .seconds(10))
      await connection.close()
    }
  }

  /// The link goes while the command may be under way, and before it was sent.
  @Test(arguments: [nil, PseudoTerminal()] as [PseudoTerminal?])
  func aLinkThatGoesAtTheCommand(terminal: PseudoTerminal?) async throws {
    try await withScript({ client, record in
      try client.admit()
      try client.confirmChannel(client.openRequest())
      record(String(decoding: try client.expect(98).dropFirst(9).prefix(4), as: UTF8.self))
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      let error = await failure {
        _ = try await connection.execute("make install", terminal: terminal)
      }
      #expect(server.collected == [terminal == nil ? "exec" : "pty-"])
      if terminal == nil {
        #expect(error == .sshOutcomeUnknown(command: "make install"))
      } else if case .sshConnectionFailed = error {
      } else {
        Issue.record("\(error as Any)")
      }
      #expect(await connection.lastFailure?.kind == .linkLost)
      await connection.close()
    }
  }

  /// An exec request that is refused, then one that is answered by the end of the channel.
  @Test func aRefusedCommand() async throws {
    try await withScript({ client, record in
      try client.admit()
      for isAnswered in [true, false] {
        let channel = try client.openRequest()
        try client.confirmChannel(channel)
        var request = WireReader(Array(try client.expect(98).dropFirst()))
        _ = request.uint32()
        record(String(decoding: request.string() ?? [], as: UTF8.self))
        try client.say(isAnswered ? 100 : 97) { $0.uint32(channel) }
        _ = try client.expect(97)
        if isAnswered { try client.say(97) { $0.uint32(channel) } }
      }
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      let error = await failure { _ = try await connection.execute("true") }
      guard case .sshConnectionFailed("127.0.0.1", let reason) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.contains("refused to run the command"))
      #expect(server.collected == ["exec"])
      await connection.close()
    }
  }

  /// dropbear does it to a channel that waits for its command while another one's ends. The other
  /// channels must go on, and the caller must not wait for an answer that cannot come.
  @Test func aChannelThatIsClosedInPlaceOfAnAnswer() async throws {
    try await withScript({ client, _ in
      try client.admit()
      let first = try client.openRequest()
      try client.confirmChannel(first)
      _ = try client.expect(98)
      try client.say(97) { $0.uint32(first) }
      _ = try client.expect(96)
      _ = try client.expect(97)
      let second = try client.openRequest()
      try client.confirmChannel(second)
      _ = try client.expect(98)
      try client.say(99) { $0.uint32(second) }
      try client.listenToTheEnd()
    }) { server in
      var configuration = SSHConfiguration(user: "somebody", credentials: [], hostKeys: .anyKey)
      // Longer than the test may take.
      configuration.timeouts.channel = .seconds(600)
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
      try await connection.connect()
      let error = await failure { _ = try await connection.execute("one") }
      #expect(error == .sshOutcomeUnknown(command: "one"))
      #expect(await connection.lastFailure == nil)
      #expect(await connection.lastRefusal?.kind == .noStatus)
      _ = try await connection.execute("two")
      await connection.close()
    }
  }
}
