import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// The host's key is judged before the server learns who we are.
@Suite(.timeLimit(.minutes(1))) struct HostKeyTests {
  /// A server and a folder for known_hosts files.
  private struct Scene {
    let server: SSHServer
    let room: TemporaryDirectory
    var host: String { "[127.0.0.1]:\(server.port)" }
    var files: [String] { [room.file("known_hosts")] }

    func connection(
      _ unknown: SSHConfiguration.UnknownHostKey = .refuse,
      trust: @escaping @concurrent @Sendable (HostKeyQuestion) async -> Bool = { _ in false }
    ) -> SSHConnection {
      var configuration = trusting(server)
      configuration.hostKeys = .init(files: files, unknown: unknown)
      configuration.interaction.trust = trust
      return SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
    }

    /// One connection came and none of its bytes said who it was (sshd names the user once it
    /// knows one).
    func expectNoCredentials(sourceLocation: SourceLocation = #_sourceLocation) async {
      let log = await server.log
      #expect(!log.contains("authenticating user"), "\(log)", sourceLocation: sourceLocation)
      for word in ["Accepted", "Failed", "Invalid user", "Postponed"] {
        #expect(!log.contains(word), "\(log)", sourceLocation: sourceLocation)
      }
      let count = log.split(whereSeparator: \.isNewline).count { $0.hasPrefix("Connection from") }
      #expect(count == 1, "\(log)", sourceLocation: sourceLocation)
    }
  }

  private func withScene(
    _ configuration: SSHServerConfiguration = .init(), _ body: (Scene) async throws -> Void
  ) async throws {
    try await withServer(configuration) { server in
      try await body(Scene(server: server, room: TemporaryDirectory()))
    }
  }

  private let unknown = Verdict(.hostKeyUnknown, in: .hostKey, exit: .hostIdentity)
  private let changed = Verdict(.hostKeyChanged, in: .hostKey, exit: .hostIdentity)

  @Test func aKnownKeyIsTrusted() async throws {
    try await withScene { scene in
      try await scene.room.write(scene.server.knownHosts, to: "known_hosts")
      let connection = scene.connection()
      try await connection.connect()
      await connection.close()
    }
  }

  @Test(arguments: [SSHConfiguration.UnknownHostKey.refuse, .ask])
  func anUnknownKeyIsRefused(policy: SSHConfiguration.UnknownHostKey) async throws {
    try await withScene { scene in
      let error = await expectFailure(of: scene.connection(policy), unknown)
      let key = try #require(await scene.server.knownHosts.split(separator: " ").dropFirst(2).first)
      let blob = try #require(Base64.decode(String(key)))
      let fingerprint = try #require(HostKey(blob: blob)).fingerprint
      #expect(error == .sshHostKeyUnknown(host: "127.0.0.1", fingerprint: fingerprint))
      #expect(fingerprint.hasPrefix("SHA256:"))
      await scene.expectNoCredentials()
    }
  }

  @Test func aChangedKeyIsRefusedWhateverThePolicy() async throws {
    try await withScene { scene in
      try await scene.room.write(scene.server.knownHosts, to: "known_hosts")
      let before = try scene.room.text("known_hosts")
      try await scene.server.swapHostKeys()
      let error = await expectFailure(
        of: scene.connection(.acceptNew, trust: { _ in true }), changed)
      #expect(error == .sshHostKeyMismatch(host: "127.0.0.1"))
      await scene.expectNoCredentials()
      #expect(try scene.room.text("known_hosts") == before)
    }
  }

  @Test(arguments: ["@revoked", "@revoked and listed", "another type"])
  func lineSpeaksAgainstIt(line: String) async throws {
    try await withScene { scene in
      let known = await scene.server.knownHosts
      let text =
        switch line {
        case "@revoked": "@revoked \(known)"
        case "@revoked and listed":
          "\(known)@revoked * \(known.split(separator: " ", maxSplits: 1)[1])"
        default: "\(scene.host) \(Keys.words(Keys.ecdsa))\n"
        }
      try scene.room.write(text, to: "known_hosts")
      await expectFailure(of: scene.connection(.acceptNew, trust: { _ in true }), changed)
      await scene.expectNoCredentials()
    }
  }

  @Test func acceptNewWritesItDownForItsOwnerOnly() async throws {
    try await withScene { scene in
      let first = scene.connection(.acceptNew)
      try await first.connect()
      await first.close()
      #expect(try scene.room.mode("known_hosts") == 0o600)
      let noted = try #require(await first.notedHostKey)
      #expect(noted.keyType == "ED25519" && noted.file == scene.room.file("known_hosts"))
      #expect(noted.fingerprint.hasPrefix("SHA256:"))
      let second = scene.connection(.refuse)
      try await second.connect()
      await second.close()
      #expect(await first.warnings == [])
      #expect(await second.notedHostKey == nil)
    }
  }

  @Test func aPersonIsAskedWithTheFingerprint() async throws {
    try await withScene { scene in
      let questions = Inbox<HostKeyQuestion>()
      let connection = scene.connection(.ask) { question in
        await questions.add(question)
        return true
      }
      try await connection.connect()
      await connection.close()
      let question = try #require(await questions.all.first)
      #expect(question.host == "127.0.0.1:\(scene.server.port)")
      #expect(question.keyType == "ED25519")
      #expect(question.fingerprint.hasPrefix("SHA256:"))
      #expect(question.doubt == nil)
      #expect(try scene.room.text("known_hosts").contains(scene.host))
    }
  }

  /// A broken line about this host may have been the one that matters.
  @Test func aHalfBrokenFileIsNoLicenceToAccept() async throws {
    try await withScene { scene in
      try scene.room.write("\(scene.host) ssh-ed25519 AAAAC3Nza\n", to: "known_hosts")
      let questions = Inbox<HostKeyQuestion>()
      let connection = scene.connection(.acceptNew) { question in
        await questions.add(question)
        return false
      }
      await expectFailure(of: connection, unknown)
      #expect(await questions.all.first?.doubt != nil)
      await scene.expectNoCredentials()
    }
  }

  @Test func brokenLinesBesideAGoodOneDoNoHarm() async throws {
    try await withScene { scene in
      let noise = "\u{1}\u{2}\nhost\n@marker x y z\nother ssh-ed25519 !!!\n"
      try await scene.room.write(noise + scene.server.knownHosts, to: "known_hosts")
      let connection = scene.connection()
      try await connection.connect()
      await connection.close()
    }
  }

  @Test func anUnreadableFileEndsItBeforeAnythingIsDialled() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let room = try TemporaryDirectory()
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: peer.port),
      configuration: SSHConfiguration(user: "nobody", hostKeys: .init(files: [room.path])))
    let error = await #expect(throws: AppError.self) { try await connection.connect() }
    #expect(error == .fileReadError(path: room.path, reason: "Is a directory"))
    #expect(error?.exitCode() == .fileMissing)
    await connection.close()
    #expect(await peer.received.isEmpty)
    await peer.stop()
  }

  @Test func aFileThatCannotBeWrittenIsAWarning() async throws {
    try await withScene { scene in
      var configuration = trusting(scene.server)
      configuration.hostKeys = .init(files: ["/proc/none/known_hosts"], unknown: .acceptNew)
      try await withConnection(to: scene.server, configuration) { connection in
        #expect(await connection.warnings.count == 1)
        #expect(await connection.notedHostKey == nil)
      }
    }
  }

  @Test func theKnownOneOfSeveralKeysIsAskedFor() async throws {
    var configuration = SSHServerConfiguration()
    configuration.hostKeys = [.ed25519, .ecdsa]
    try await withScene(configuration) { scene in
      let lines = await scene.server.knownHosts.split(separator: "\n")
      let ecdsa = try #require(lines.first { $0.contains("ecdsa") })
      try scene.room.write("\(ecdsa)\n", to: "known_hosts")
      let connection = scene.connection()
      try await connection.connect()
      #expect(await connection.agreement?.hostKey == "ecdsa-sha2-nistp256")
      await connection.close()
    }
  }
}

/// What callbacks were given, in order.
actor Inbox<Element: Sendable> {
  private(set) var all: [Element] = []

  func add(_ element: Element) { all.append(element) }
}
