import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// What a server says to who we claim to be, and how often it is asked.
@Suite(.timeLimit(.minutes(5))) struct AuthenticationTests {
  private let refused = ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused)
  private let unusable = ExpectedFailure(.keyUnusable, in: .authenticate, exit: .keyUnusable)

  private func connection(
    to server: SSHServer, _ credentials: [SSHCredential], user: String? = nil,
    interaction: SSHInteraction = SSHInteraction()
  ) -> SSHConnection {
    let configuration = SSHConfiguration(
      user: user ?? server.user, credentials: credentials, hostKeys: .anyKey,
      interaction: interaction)
    return SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
  }

  private func expectConnected(_ connection: SSHConnection) async throws {
    do {
      try await connection.connect()
    } catch {
      Issue.record("\(error) \(String(describing: await connection.lastFailure?.native))")
    }
    await connection.close()
  }

  /// A key is offered unasked: its method is refused then, and not the key.
  @Test func aServerThatTakesNoKeyHasRefusedNone() async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersPassword = true
    configuration.lines = ["AuthenticationMethods password"]
    try await withServer(configuration) { server in
      let connection = connection(to: server, [.keyFile(server.identityFile)])
      let error = await expectFailure(of: connection, refused)
      guard case .sshAuthenticationFailed(let methods) = error else { throw error }
      #expect(!methods.contains("publickey"), "\(methods)")
      let hint = error.hint(in: await connection.lastFailure)
      #expect(hint?.contains("takes no key, only") == true, "\(hint ?? "")")
      await connection.close()
    }
  }

  @Test func aWrongKeyIsOfferedOnce() async throws {
    try await withServer { server in
      let wrong = try await server.makeIdentity(.ed25519, name: "wrong", isAuthorized: false)
      let error = await expectFailure(
        of: connection(to: server, [.keyFile(wrong), .keyFile(wrong)]), refused)
      #expect(error == .sshAuthenticationFailed(method: "publickey"))
      #expect(await server.failures("publickey") == 1)
    }
  }

  @Test func aWrongPasswordIsOfferedOnce() async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersPassword = true
    try await withServer(configuration) { server in
      let error = await expectFailure(
        of: connection(to: server, [.password(Secret("wrong")), .password(Secret("wrong"))]),
        refused)
      #expect(error == .sshAuthenticationFailed(method: "password"))
      let count = try await server.failuresOfAll("password")
      #expect(count == 1)
    }
  }

  @Test func anUnknownUserIsRefusedAsAnyOther() async throws {
    try await withServer { server in
      await expectFailure(
        of: connection(to: server, [.keyFile(server.identityFile)], user: "no-such-user"), refused)
    }
  }

  @Test func withoutACredentialTheServersMethodsAreNamed() async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersPassword = true
    try await withServer(configuration) { server in
      let error = await expectFailure(of: connection(to: server, []), refused)
      #expect(error == .sshAuthenticationFailed(method: "publickey,password"))
    }
  }

  /// A credential that is not given is not offered.
  @Test func anUnansweredPasswordPromptCostsNoTry() async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersPassword = true
    try await withServer(configuration) { server in
      await expectFailure(of: connection(to: server, [.password(nil)]), refused)
      #expect(await server.failures("password") == 0)
      try await expectConnected(
        connection(to: server, [.password(nil), .keyFile(server.identityFile)]))
    }
  }

  @Test(arguments: [1, 2]) func tooManyFailuresAreARefusal(most: Int) async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxAuthTries = most
    try await withServer(configuration) { server in
      var credentials: [SSHCredential] = []
      for number in 0..<4 {
        let key = try await server.makeIdentity(
          .ed25519, name: "wrong\(number)", isAuthorized: false)
        credentials.append(.keyFile(key))
      }
      let connection = connection(to: server, credentials)
      let error = await expectFailure(of: connection, refused)
      #expect(error == .sshAuthenticationFailed(method: "publickey"))
      #expect(await connection.lastFailure?.disconnectReason == 2)
      #expect(await server.failures("publickey") <= most)
    }
  }

  /// As with ssh: how many it hears of is the server's decision.
  @Test func theKeyBehindManyOthersLogsIn() async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxAuthTries = 20
    try await withServer(configuration) { server in
      let wrong = try await wrongKeys(7, of: server)
      try await expectConnected(
        connection(to: server, wrong + [.keyFile(server.identityFile)]))
      #expect(await server.failures("publickey") == 7)
    }
  }

  @Test func aLoginThatTheServerCutsOffSaysWhichSettingHelps() async throws {
    try await withServer { server in
      let wrong = try await wrongKeys(9, of: server)
      let connection = connection(to: server, wrong)
      await expectFailure(of: connection, refused)
      let context = await connection.lastFailure
      #expect(context?.native?.text == "Too many authentication failures")
      let lines = TerminalBanner.lastLines(
        .sshAuthenticationFailed(method: "publickey"), context: context)
      #expect(lines.contains { $0.contains("set IdentitiesOnly") }, "\(lines)")
    }
  }

  private func wrongKeys(_ count: Int, of server: SSHServer) async throws -> [SSHCredential] {
    var credentials: [SSHCredential] = []
    for number in 0..<count {
      let key = try await server.makeIdentity(.ed25519, name: "no\(number)", isAuthorized: false)
      credentials.append(.keyFile(key))
    }
    return credentials
  }

  @Test func twoKeysWhereTheServerWantsTwo() async throws {
    var configuration = SSHServerConfiguration()
    configuration.authenticationMethods = "publickey,publickey"
    try await withServer(configuration) { server in
      let second = try await server.makeIdentity(.ecdsa, name: "second", isAuthorized: true)
      try await expectConnected(
        connection(to: server, [.keyFile(server.identityFile), .keyFile(second)]))
      #expect(await server.log.contains("Partial publickey"))

      let error = await expectFailure(
        of: connection(to: server, [.keyFile(server.identityFile)]), refused)
      #expect(error == .sshAuthenticationFailed(method: "publickey"))
    }
  }

  @Test func afterAKeyThePasswordIsWanted() async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersPassword = true
    configuration.authenticationMethods = "publickey,password"
    try await withServer(configuration) { server in
      let error = await expectFailure(
        of: connection(
          to: server, [.password(Secret("wrong")), .keyFile(server.identityFile)]), refused)
      #expect(error == .sshAuthenticationFailed(method: "password"))
      let log = await server.log
      #expect(log.contains("Partial publickey"))
      let count = try await server.failuresOfAll("password")
      #expect(count == 1)
    }
  }

  // Key files

  @Test func whatIsNoUsableKeyIsSaidBeforeItIsOffered() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let encrypted = try await server.makeIdentity(
        .ed25519, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let rows: [(path: String, says: String)] = [
        (directory.file("none"), "There is no key file"),
        (directory.path, "cannot be read"),
        (try directory.write("", to: "empty"), "empty"),
        (try directory.write("\u{0}\u{1b}[2J garbage", to: "garbage"), "no private key"),
        (try directory.write(String(repeating: "x", count: 70_000), to: "huge"), "larger than"),
        (
          try directory.write(
            "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
            to: "cut"), "damaged"
        ),
        ("\(server.identityFile).pub", "public key"),
        (encrypted, "passphrase"),
        ("a\u{0}b", "cannot be read"),
      ]
      for row in rows {
        let error = await expectFailure(
          of: connection(to: server, [.keyFile(row.path)]), unusable)
        guard case .sshKeyInvalid(let reason) = error else {
          Issue.record("\(row.path): \(error)")
          continue
        }
        #expect(reason.contains(row.says), "\(row.path)")
        #expect(!reason.unicodeScalars.contains { $0.value < 32 })
      }
      #expect(await server.failures("publickey") == 0)
      #expect(await !server.log.contains("Postponed"))
    }
  }

  /// As OpenSSH: a key that others can read is not used.
  @Test(arguments: [0o644, 0o640, 0o604, 0o610])
  func aPrivateKeyThatOthersCanReadIsNotUsed(mode: Int) async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let text = try String(contentsOfFile: server.identityFile, encoding: .utf8)
      let path = try directory.write(text, to: "key", mode: mode)
      let error = await expectFailure(of: connection(to: server, [.keyFile(path)]), unusable)
      #expect(
        error
          == .sshKeyInvalid(
            reason: "Others can read this private key, so it is not used. Its mode is "
              + "0\(String(mode, radix: 8)); run: chmod 600 \(path)"))
      #expect(await server.failures("publickey") == 0)
      try directory.write(text, to: "key", mode: 0o400)
      try await expectConnected(connection(to: server, [.keyFile(path)]))
    }
  }

  /// The owner of the file is responsible for it.
  @Test(.enabled(if: getuid() == 0, "only root may give a file away"))
  func aPrivateKeyOfAnotherOwnerIsUsedAsItIs() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let text = try String(contentsOfFile: server.identityFile, encoding: .utf8)
      let path = try directory.write(text, to: "key", mode: 0o644)
      try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
      try await expectConnected(connection(to: server, [.keyFile(path)]))
    }
  }

  @Test func aKeyOfNoUseDoesNotKeepTheNextFromBeingOffered() async throws {
    try await withServer { server in
      try await expectConnected(
        connection(to: server, [.keyFile("/nonexistent"), .keyFile(server.identityFile)]))
    }
  }

  @Test(arguments: [SSHKeyType.ed25519, .ecdsa])
  func anEncryptedKeyOpensWithItsPassphrase(type: SSHKeyType) async throws {
    try await withServer { server in
      let key = try await server.makeIdentity(
        type, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let asked = Inbox<String>()
      let interaction = SSHInteraction(passphrase: { path in
        await asked.add(path)
        return await asked.all.count < 2 ? Secret("wrong") : Secret("open sesame")
      })
      try await expectConnected(
        connection(to: server, [.keyFile(key)], interaction: interaction))
      #expect(await asked.all == [key, key])
    }
  }

  @Test func aWrongPassphraseIsAskedForThreeTimes() async throws {
    try await withServer { server in
      let key = try await server.makeIdentity(
        .ed25519, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let asked = Inbox<String>()
      let interaction = SSHInteraction(passphrase: { path in
        await asked.add(path)
        return Secret("wrong")
      })
      let error = await expectFailure(
        of: connection(to: server, [.keyFile(key)], interaction: interaction), unusable)
      #expect(error == .sshKeyInvalid(reason: "The passphrase does not open the key file."))
      #expect(await asked.all.count == 3)
      #expect(await server.failures("publickey") == 0)
    }
  }

  /// As with ssh(1): the next key is offered.
  @Test func anEmptyPassphraseGoesOnToTheNextKey() async throws {
    try await withServer { server in
      let key = try await server.makeIdentity(
        .ed25519, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let asked = Inbox<String>()
      let interaction = SSHInteraction(passphrase: { path in
        await asked.add(path)
        return Secret("")
      })
      try await expectConnected(
        connection(
          to: server, [.keyFile(key), .keyFile(server.identityFile)], interaction: interaction))
      #expect(await asked.all == [key])
    }
  }

  @Test func anECDSAKeyWorks() async throws {
    try await withServer { server in
      let key = try await server.makeIdentity(.ecdsa, name: "curve", isAuthorized: true)
      try await expectConnected(connection(to: server, [.keyFile(key)]))
    }
  }

  @Test func aServerThatFallsSilentIsGivenUp() async throws {
    try await withServer { server in
      let proxy = try await FaultProxy(to: server.port)
      var configuration = trusting(server)
      configuration.timeouts.authenticate = .milliseconds(300)
      configuration.hostKeys = .init(files: [], unknown: .ask)
      // Asked between the key exchange and the first request: nothing is under way then.
      configuration.interaction.trust = { _ in
        try? await proxy.inject(.freeze())
        return true
      }
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: proxy.port), configuration: configuration)
      await expectFailure(
        of: connection, ExpectedFailure(.silent, in: .authenticate, exit: .timedOut))
      await proxy.stop()
    }
  }
}

extension SSHServer {
  /// How many requests of `method` it refused.
  func failures(_ method: String) -> Int {
    log.split(whereSeparator: \.isNewline).count { $0.hasPrefix("Failed \(method)") }
  }

  /// As `failures`, once its sessions are over: it logs a wrong password after its answer.
  func failuresOfAll(_ method: String) async throws -> Int {
    try await eventually { sessionProcesses == 0 }
    return failures(method)
  }
}
