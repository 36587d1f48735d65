import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

/// The host key is verified before any credential is sent.
@Suite(.timeLimit(.minutes(5))) struct HostKeyTests {
  /// A server and a folder for known_hosts files.
  private struct Scene {
    let server: SSHServer
    let directory: TemporaryDirectory
    var host: String { "[127.0.0.1]:\(server.port)" }
    var files: [String] { [directory.file("known_hosts")] }

    func connection(
      _ unknown: SSHConfiguration.UnknownHostKey = .refuse, revoked: String? = nil,
      algorithms: AlgorithmOffer = .standard, command: KnownHostsCommand? = nil,
      asksAboutChangedKeys: Bool = false,
      trust: @escaping @concurrent @Sendable (HostKeyQuestion) async -> Bool = { _ in false }
    ) -> SSHConnection {
      var configuration = trusting(server)
      configuration.hostKeys = .init(files: files, unknown: unknown, revoked: revoked)
      configuration.hostKeys.command = command
      configuration.algorithms = algorithms
      configuration.interaction.trust = trust
      configuration.interaction.asksAboutChangedKeys = asksAboutChangedKeys
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
      try await body(Scene(server: server, directory: TemporaryDirectory()))
    }
  }

  private let unknown = ExpectedFailure(.hostKeyUnknown, in: .hostKey, exit: .hostIdentity)
  private let changed = ExpectedFailure(.hostKeyChanged, in: .hostKey, exit: .hostIdentity)
  private let revoked = ExpectedFailure(.hostKeyRevoked, in: .hostKey, exit: .hostIdentity)

  @Test func aKnownKeyIsTrusted() async throws {
    try await withScene { scene in
      try await scene.directory.write(scene.server.knownHosts, to: "known_hosts")
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
      try await scene.directory.write(scene.server.knownHosts, to: "known_hosts")
      let before = try scene.directory.text("known_hosts")
      try await scene.server.swapHostKeys()
      let error = await expectFailure(
        of: scene.connection(.acceptNew, trust: { _ in true }), changed)
      #expect(error == .sshHostKeyMismatch(host: "127.0.0.1"))
      await scene.expectNoCredentials()
      #expect(try scene.directory.text("known_hosts") == before)
    }
  }

  @Test func aPersonMayReplaceAChangedKey() async throws {
    try await withScene { scene in
      try await scene.directory.write(
        scene.server.knownHosts + filled("other ED2\n"), to: "known_hosts")
      let before = try scene.directory.text("known_hosts")
      try await scene.server.swapHostKeys()
      let questions = Inbox<HostKeyQuestion>()
      let answers = Mutex([false, true])
      let connect = { () async throws in
        let connection = scene.connection(.ask, asksAboutChangedKeys: true) { question in
          await questions.add(question)
          return answers.withLock { $0.removeFirst() }
        }
        do { try await connection.connect() } catch {
          await connection.close()
          throw error
        }
        #expect(await connection.warnings == [])
        #expect(await connection.addedHostKey?.keyType == "ED25519")
        await connection.close()
      }
      await #expect(throws: AppError.sshHostKeyMismatch(host: "127.0.0.1")) { try await connect() }
      await scene.expectNoCredentials()
      #expect(try scene.directory.text("known_hosts") == before)
      try await connect()
      let known = await scene.server.knownHosts
      let text = try scene.directory.text("known_hosts")
      #expect(text.hasPrefix(filled("other ED2\n")))
      #expect(text.split(separator: "\n").count == 2)
      #expect(text.contains(known.split(separator: " ")[2]))
      let all = await questions.all
      let question = try #require(all.first)
      #expect(all.count == 2 && all.last == question)
      guard case .changed(let detail) = question.finding else {
        return #expect(Bool(false), "\(question.finding)")
      }
      #expect(detail.contains("known_hosts:1 has SHA256:"))
    }
  }

  /// Neither by policy, nor where the line of the old key would stay.
  @Test(arguments: [true, false]) func aChangedKeyThatIsNotAskedAbout(byPolicy: Bool) async throws {
    try await withScene { scene in
      let known = await scene.server.knownHosts
      try scene.directory.write(byPolicy ? known : "other,\(known)", to: "known_hosts")
      try await scene.server.swapHostKeys()
      await expectFailure(
        of: scene.connection(
          byPolicy ? .refuse : .ask, asksAboutChangedKeys: true, trust: { _ in true }),
        changed)
      await scene.expectNoCredentials()
    }
  }

  @Test(arguments: ["@revoked", "@revoked and listed"])
  func lineSpeaksAgainstIt(line: String) async throws {
    try await withScene { scene in
      let known = await scene.server.knownHosts
      let text =
        switch line {
        case "@revoked": "@revoked \(known)"
        default: "\(known)@revoked * \(known.split(separator: " ", maxSplits: 1)[1])"
        }
      try scene.directory.write(text, to: "known_hosts")
      await expectFailure(of: scene.connection(.acceptNew, trust: { _ in true }), revoked)
      await scene.expectNoCredentials()
    }
  }

  @Test(arguments: ["", "# mine\n\n", "\n  "])
  func aKeyInTheListOfRevokedOnesIsRefused(before: String) async throws {
    try await withScene { scene in
      let known = await scene.server.knownHosts
      try scene.directory.write(known, to: "known_hosts")
      let key = known.split(separator: " ", maxSplits: 1)[1]
      let connection = scene.connection(
        .acceptNew, revoked: try scene.directory.write("\(before)\(key)", to: "revoked"),
        trust: { _ in true })
      await expectFailure(of: connection, revoked)
      #expect(await connection.lastFailure?.detail?.contains("is revoked in") == true)
      await scene.expectNoCredentials()
    }
  }

  /// A program that prints keys (KnownHostsCommand), in the words of a shell script. `$1` is the
  /// host, `$2` what for, `$3` the key.
  private func command(
    _ script: String, in directory: TemporaryDirectory, _ words: [String] = ["%H", "%I", "%K"]
  ) throws -> KnownHostsCommand {
    // Not executed itself: what other tests start at this moment may have it open for writing.
    let path = try directory.write("\(script)\n", to: "keys")
    return try KnownHostsCommand(["/bin/sh", path] + words)
  }

  @Test(arguments: [["%H"], ["%H", "%I", "%K"]])
  func aProgramTellsTheKey(words: [String]) async throws {
    try await withScene { scene in
      try await scene.directory.write(scene.server.knownHosts, to: "told")
      let asked = scene.directory.file("asked")
      let connection = scene.connection(
        command: try command(
          #"echo "$1 $2" >>\#(asked); cat "$(dirname "$0")/told""#, in: scene.directory, words))
      try await connection.connect()
      await connection.close()
      // What prints the same for all is asked once.
      let host = scene.host
      #expect(
        try scene.directory.text("asked")
          == (words.count == 1 ? "\(host) \n" : "\(host) ORDER\n\(host) HOSTNAME\n"))
      #expect(throws: (any Error).self) { try scene.directory.text("known_hosts") }
    }
  }

  /// As with ssh: where HostKeyAlgorithms says the order, what is known of the host changes nothing
  /// of it, and a program is asked about the key alone.
  @Test(arguments: ["ecdsa-sha2-nistp256,ssh-ed25519", "^ecdsa-sha2-nistp256"])
  func anOrderOfKeysThatWasWrittenIsKept(list: String) async throws {
    var keys = SSHServerConfiguration()
    keys.hostKeys = [.ed25519, .ecdsa]
    try await withScene(keys) { scene in
      let known = await scene.server.knownHosts
      let types = Set(known.split(separator: "\n").map { $0.split(separator: " ")[1] })
      #expect(types.count == 2)
      try scene.directory.write(known, to: "told")
      let request = try #require(AlgorithmRequest(list))
      let asked = scene.directory.file("asked")
      let connection = scene.connection(
        algorithms: try #require(AlgorithmOffer.standard.applying(request, to: [.hostKey])),
        command: try command(
          #"echo "$1 $2" >>\#(asked); grep "$1 " "$(dirname "$0")/told""#, in: scene.directory,
          ["%t", "%I"]))
      try await connection.connect()
      await connection.close()
      #expect(try scene.directory.text("asked") == "ecdsa-sha2-nistp256 HOSTNAME\n")
    }
  }

  @Test func aProgramIsToldTheKeyThatIsShown() async throws {
    try await withScene { scene in
      let connection = scene.connection(
        command: try command(
          #"[ "$2" = ORDER ] && exit 0; echo "$1 $4 $3""#, in: scene.directory,
          ["%H", "%I", "%K", "%t"]))
      try await connection.connect()
      await connection.close()
    }
  }

  @Test(arguments: [["%H"], ["%H", "%I"]])
  func whatAProgramTellsMayBeAnotherKey(words: [String]) async throws {
    try await withScene { scene in
      let connection = scene.connection(
        .acceptNew,
        command: try command(
          "echo '\(scene.host) \(Keys.words(Keys.ed1))'", in: scene.directory, words))
      await expectFailure(of: connection, changed)
      let failure = await connection.lastFailure
      #expect(failure?.detail?.contains("but line 1 of KnownHostsCommand /") == true)
      // ssh-keygen removes lines of files only.
      #expect(failure?.detail?.contains("ssh-keygen") == false)
      await scene.expectNoCredentials()
    }
  }

  /// As with ssh: it may have had the key that matters.
  @Test(arguments: [
    ("exit 3", "ended with status 3"), ("kill -TERM $$", "ended by signal 15"),
    (#"[ "$2" = ORDER ] || exit 4"#, "ended with status 4"),
  ])
  func aProgramThatFailsEndsTheLogin(_ script: String, _ reason: String) async throws {
    try await withScene { scene in
      try await scene.directory.write(scene.server.knownHosts, to: "known_hosts")
      let connection = scene.connection(
        .acceptNew, command: try command(script, in: scene.directory))
      await #expect(
        throws: AppError.validationError(
          field: "KnownHostsCommand", message: "/bin/sh \(reason).")
      ) { try await connection.connect() }
      #expect(await !scene.server.log.contains("Accepted"))
    }
  }

  @Test func aProgramThatIsNotThereEndsTheLogin() async throws {
    try await withScene { scene in
      let connection = scene.connection(
        .acceptNew, command: try KnownHostsCommand([scene.directory.file("none")]))
      await #expect(
        throws: AppError.validationError(
          field: "KnownHostsCommand",
          message: "\(scene.directory.file("none")) cannot be started: No such file or directory.")
      ) { try await connection.connect() }
    }
  }

  /// Half of a list would accept what the other half revokes.
  @Test(arguments: ["absent", "garbage", "a directory"])
  func aListOfRevokedKeysThatCannotBeReadEndsIt(list: String) async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("revoked")
    var expected = AppError.fileNotFound(path: file)
    switch list {
    case "garbage":
      try directory.write("\(Keys.words(Keys.ed1))\nssh-ed25519 !!!\n", to: "revoked")
      let reason = "Line 2 of the revoked host keys: the key is unreadable."
      expected = .fileReadError(path: file, reason: reason)
    case "a directory":
      try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
      expected = .fileReadError(path: file, reason: "Is a directory")
    default: break
    }
    let keys = SSHConfiguration.HostKeys(files: [], unknown: .acceptNew, revoked: file)
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: 9),
      configuration: SSHConfiguration(user: "nobody", hostKeys: keys))
    #expect(await failure { try await connection.connect() } == expected)
    await connection.close()
  }

  private let newType = ExpectedFailure(.hostKeyNewType, in: .hostKey, exit: .hostIdentity)

  /// An interceptor could always show a type that is not on record.
  @Test(arguments: [SSHConfiguration.UnknownHostKey.refuse, .acceptNew])
  func noPolicyAcceptsAKeyOfANewType(policy: SSHConfiguration.UnknownHostKey) async throws {
    try await withScene { scene in
      let text = "\(scene.host) \(Keys.words(Keys.ecdsa))\n"
      try scene.directory.write(text, to: "known_hosts")
      let connection = scene.connection(policy, trust: { _ in true })
      let error = await expectFailure(of: connection, newType)
      guard case .sshHostKeyUnknown("127.0.0.1", let fingerprint) = error else {
        return #expect(Bool(false), "\(error)")
      }
      let context = await connection.lastFailure
      #expect(
        error.shownMessage(in: context)
          == "The host shows the ED25519 key \(fingerprint), but is known only by its ECDSA key "
          + "(\(scene.directory.file("known_hosts")):1).")
      #expect(try scene.directory.text("known_hosts") == text)
      await scene.expectNoCredentials()
    }
  }

  @Test func aPersonMayAcceptAKeyOfANewType() async throws {
    try await withScene { scene in
      let text = "\(scene.host) \(Keys.words(Keys.ecdsa))\n"
      try scene.directory.write(text, to: "known_hosts")
      let questions = Inbox<HostKeyQuestion>()
      await expectFailure(
        of: scene.connection(.ask) { question in
          await questions.add(question)
          return false
        }, newType)
      await scene.expectNoCredentials()
      let question = try #require(await questions.all.first)
      guard case .otherTypes(let detail) = question.finding else {
        return #expect(Bool(false), "\(question.finding)")
      }
      #expect(detail.contains("known only by its ECDSA key"))
      let accepting = scene.connection(.ask, trust: { _ in true })
      try await accepting.connect()
      await accepting.close()
      let known = await scene.server.knownHosts.split(separator: " ").prefix(3)
      #expect(try scene.directory.text("known_hosts") == text + known.joined(separator: " ") + "\n")
    }
  }

  @Test func acceptNewWritesItDownForItsOwnerOnly() async throws {
    try await withScene { scene in
      let first = scene.connection(.acceptNew)
      try await first.connect()
      await first.close()
      #expect(try scene.directory.mode("known_hosts") == 0o600)
      let added = try #require(await first.addedHostKey)
      #expect(added.keyType == "ED25519" && added.file == scene.directory.file("known_hosts"))
      #expect(added.fingerprint.hasPrefix("SHA256:"))
      let second = scene.connection(.refuse)
      try await second.connect()
      await second.close()
      #expect(await first.warnings == [])
      #expect(await second.addedHostKey == nil)
    }
  }

  @Test func aPersonIsAskedWithTheFingerprint() async throws {
    try await withScene { scene in
      let questions = Inbox<HostKeyQuestion>()
      let time = Duration.milliseconds(50)
      let connection = scene.connection(.ask) { question in
        await questions.add(question)
        try? await ContinuousClock().sleep(for: time)
        return true
      }
      try await connection.connect()
      // The person's time, which no limit on the host counts; not that of the login behind it.
      #expect(await connection.timeAsked >= time)
      let asked = await connection.timeAsked
      #expect(await connection.timeAsked == asked)
      await connection.close()
      let question = try #require(await questions.all.first)
      #expect(question.host == "127.0.0.1:\(scene.server.port)")
      #expect(question.keyType == "ED25519")
      #expect(question.fingerprint.hasPrefix("SHA256:"))
      #expect(question.finding == .unknown())
      #expect(try scene.directory.text("known_hosts").contains(scene.host))
    }
  }

  /// A broken line about this host may have been the one that matters.
  @Test func aHalfBrokenFileIsNoLicenceToAccept() async throws {
    try await withScene { scene in
      try scene.directory.write("\(scene.host) ssh-ed25519 AAAAC3Nza\n", to: "known_hosts")
      let questions = Inbox<HostKeyQuestion>()
      let connection = scene.connection(.acceptNew) { question in
        await questions.add(question)
        return false
      }
      await expectFailure(of: connection, unknown)
      #expect(await questions.all.first?.finding.detail != nil)
      await scene.expectNoCredentials()
    }
  }

  @Test func brokenLinesBesideAGoodOneDoNoHarm() async throws {
    try await withScene { scene in
      let noise = "\u{1}\u{2}\nhost\n@marker x y z\nother ssh-ed25519 !!!\n"
      try await scene.directory.write(noise + scene.server.knownHosts, to: "known_hosts")
      let connection = scene.connection()
      try await connection.connect()
      await connection.close()
    }
  }

  @Test func anUnreadableFileEndsItBeforeAnythingIsDialled() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let directory = try TemporaryDirectory()
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: peer.port),
      configuration: SSHConfiguration(user: "nobody", hostKeys: .init(files: [directory.path])))
    let error = await #expect(throws: AppError.self) { try await connection.connect() }
    #expect(error == .fileReadError(path: directory.path, reason: "Is a directory"))
    #expect(error?.exitCode() == .fileMissing)
    await connection.close()
    #expect(await peer.received.isEmpty)
    await peer.stop()
  }

  /// Thousands of lines take longer than a turn of the loop may.
  @Test func theLoopTurnsWhileTheFilesAreRead() async throws {
    let reactor = Reactor()
    let directory = try TemporaryDirectory()
    let line = KnownHostsField.hiding("other", salt: [UInt8](0..<20)) + " x y\n"
    let long = try directory.write(String(repeating: line, count: 20_000), to: "known_hosts")
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: 9),
      configuration: SSHConfiguration(
        user: "nobody", hostKeys: .init(files: [long, directory.path])),
      on: reactor)
    let turns = LoopTurns()
    turns.count(on: reactor)
    let error = await withTaskExecutorPreference(reactor) {
      await failure { try await connection.connect() }
    }
    #expect(error == .fileReadError(path: directory.path, reason: "Is a directory"))
    // Some ten would do to come back to the caller, without the file.
    #expect(turns.stop() > 50)
    await connection.close()
  }

  @Test(arguments: [false, true])
  func connectingStopsWhileTheFilesAreRead(byClosing: Bool) async throws {
    let directory = try TemporaryDirectory()
    let line = KnownHostsField.hiding("other", salt: [UInt8](0..<20)) + " x y\n"
    let long = try directory.write(String(repeating: line, count: 20_000), to: "known_hosts")
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: 9),
      configuration: SSHConfiguration(
        user: "nobody", hostKeys: .init(files: [long, directory.path])))
    let connecting = Task { await failure { try await connection.connect() } }
    if byClosing { await connection.close() } else { connecting.cancel() }
    let error = await connecting.value
    #expect(error == .cancelled)
    await connection.close()
    var ends: [AppError] = []
    for await event in connection.events {
      if case .failed(let failure) = event { ends.append(failure.error) }
    }
    #expect(ends == (byClosing ? [] : [.cancelled]))
  }

  @Test func aFileThatCannotBeWrittenIsAWarning() async throws {
    try await withScene { scene in
      var configuration = trusting(scene.server)
      configuration.hostKeys = .init(files: ["/proc/none/known_hosts"], unknown: .acceptNew)
      try await withConnection(to: scene.server, configuration) { connection in
        #expect(await connection.warnings.count == 1)
        #expect(await connection.addedHostKey == nil)
      }
    }
  }

  @Test func theKnownOneOfSeveralKeysIsAskedFor() async throws {
    var configuration = SSHServerConfiguration()
    configuration.hostKeys = [.ed25519, .ecdsa]
    try await withScene(configuration) { scene in
      let lines = await scene.server.knownHosts.split(separator: "\n")
      let ecdsa = try #require(lines.first { $0.contains("ecdsa") })
      try scene.directory.write("\(ecdsa)\n", to: "known_hosts")
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

/// Counts the turns of a loop, which runs without a pause meanwhile.
private final class LoopTurns: Sendable {
  private let state = Mutex((turns: 0, isStopped: false))

  func count(on reactor: Reactor) {
    let isStopped = state.withLock { state in
      state.turns += 1
      return state.isStopped
    }
    if !isStopped { reactor.execute { self.count(on: reactor) } }
  }

  func stop() -> Int {
    state.withLock { state in
      state.isStopped = true
      return state.turns
    }
  }
}
