import BridgeCommands
import BridgeErrors
import Testing

/// How a run of ssh(1) ends: its last words and its status.
@Suite struct SSHWordsTests {
  private let login = SSHWords.Login(user: "me", host: "box.example")

  private func lines(
    _ kind: FailureKind?, _ error: AppError, text: String? = nil, accepted: String? = nil
  ) -> [String] {
    let native = text.map { NativeFailure(library: .system, code: 113, text: $0) }
    var context = kind.map {
      FailureContext(kind: $0, phase: .dial, host: "box", port: 22, native: native)
    }
    context?.acceptedMethods = accepted
    return SSHWords.lines(CommandFailure(error: error, context: context), login: login)
  }

  @Test func theyAreThoseOfOpenSSHWhereItHasSome() {
    let lost = AppError.sshConnectionFailed(host: "box", reason: "It is gone.")
    #expect(
      lines(.refused, lost) == ["ssh: connect to host box.example port 22: Connection refused"])
    #expect(
      lines(.dialTimeout, lost) == [
        "ssh: connect to host box.example port 22: Connection timed out"
      ])
    #expect(
      lines(.unreachable, lost, text: "No route to host") == [
        "ssh: connect to host box.example port 22: No route to host"
      ])
    #expect(
      lines(.nameUnknown, lost) == [
        "ssh: Could not resolve hostname box.example: Name or service not known"
      ])
    #expect(
      lines(.authenticationRefused, .sshAuthenticationFailed(method: "publickey")) == [
        "me@box.example: Permission denied (publickey)."
      ])
    #expect(
      lines(
        .authenticationRefused, .sshAuthenticationFailed(method: "publickey"),
        accepted: "publickey,password") == [
          "me@box.example: Permission denied (publickey,password)."
        ])
    let denied = "Unable to complete request for channel request-pty"
    #expect(
      lines(.channelDenied, lost, text: denied) == [
        "PTY allocation request failed on channel 0",
        "ssh: box.example gives no terminal; -T asks for none.",
      ])
    let changed = lines(.hostKeyChanged, .sshHostKeyMismatch(host: "box"))
    #expect(changed.count == 2)
    #expect(changed.last == "Host key verification failed.")
  }

  /// What connect(2) says, as strerror(3) has it: ENETUNREACH, EHOSTUNREACH, EACCES, EPERM, EINVAL.
  @Test(
    arguments: [
      (101, "Network is unreachable"), (113, "No route to host"), (13, "Permission denied"),
      (1, "Operation not permitted"), (22, "Invalid argument"),
    ] as [(Int32, String)])
  func aWayThatIsNotThereHasTheWordsOfTheSystem(errno: Int32, words: String) {
    let failure = SSHFailure(
      code: 0, message: "", phase: .dial, host: "box", port: 22, socket: .failed(errno: errno)
    ).typed
    let lines = SSHWords.lines(
      CommandFailure(error: failure.error, context: failure.context), login: login)
    #expect(lines == ["ssh: connect to host box.example port 22: \(words)"])
  }

  @Test func aJumpHostIsNamedWithItsAccount() {
    var failure = CommandFailure(
      error: .sshAuthenticationFailed(method: "publickey"),
      context: FailureContext(kind: .authenticationRefused, phase: .authenticate, host: "hop"))
    let hop = SSHWords.Login(user: "you", host: "hop.example")
    failure.jumpHost = .init(login: hop, words: "It failed.")
    #expect(
      SSHWords.lines(failure, login: login) == ["you@hop.example: Permission denied (publickey)."])
    failure.context?.kind = .nameUnknown
    #expect(
      SSHWords.lines(failure, login: login) == [
        "ssh: Could not resolve hostname hop.example: Name or service not known"
      ])
  }

  /// MaxAuthTries: the right key may not have been offered.
  @Test func aLoginThatTheServerEndsIsNotOneThatWasRefused() {
    var context = FailureContext(
      kind: .authenticationRefused, phase: .authenticate, host: "box", port: 2022)
    context.disconnectReason = 2
    let error = AppError.sshAuthenticationFailed(method: "publickey")
    #expect(
      SSHWords.lines(CommandFailure(error: error, context: context), login: login) == [
        "Received disconnect from box.example port 2022:2: Too many authentication failures"
      ])
  }

  @Test func elseTheyAreTheCauseAlone() {
    let words = lines(nil, .validationError(field: "Port", message: "It is none."))
    #expect(words.count == 1)
    #expect(words[0].hasPrefix("ssh: "))
    #expect(words[0].contains("It is none."))
    #expect(!words[0].contains("["))
  }

  @Test(
    arguments: [
      (0, .status(0), true, 0), (7, .status(7), true, 7), (137, .signal("KILL"), true, 255),
      (73, .status(0), true, 255), (79, nil, false, 255), (0, nil, true, 0), (143, nil, true, 255),
      (143, nil, false, 143), (74, nil, true, 255), (255, .status(255), true, 255),
    ] as [(Int32, ExitReport.Remote?, Bool, Int32)])
  func theStatus(_ code: Int32, _ remote: ExitReport.Remote?, _ wasUp: Bool, _ ours: Int32) {
    var report = ExitReport(code: code, remote: remote)
    report.wasUp = wasUp
    #expect(report.codeOfSSH == ours)
  }

  @Test func theVersionHasTheShapeThatProgramsRead() throws {
    let match = try #require(SSHAnswers.version.firstMatch(of: /^OpenSSH_(\d+)\.(\d+)/))
    #expect(match.output.1 == "9")
    #expect(SSHAnswers.version.contains("bridgectl"))
  }

  @Test(arguments: ["cipher", "mac", "kex", "key", "sig", "Ciphers", "compression", "help"])
  func aQueryHasNames(_ query: String) throws {
    let names = try SSHAnswers.answer(to: query)
    #expect(!names.isEmpty && Set(names).count == names.count)
  }

  @Test func anotherQueryIsRefused() {
    #expect(throws: SSHArguments.Refusal.self) { try SSHAnswers.answer(to: "x") }
  }

  @Test(arguments: [
    ("TERM", "SIGTERM"), ("SIG@openssh.com", "a signal that SSH has no name for"),
    ("A\u{1B}", "SIGA\\x1b"),
  ])
  func aSignalOfAServerHasItsName(name: String, words: String) {
    #expect(ExitReport.Remote.words(ofSignal: name) == words)
  }
}
