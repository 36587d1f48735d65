import BridgeErrors
import Foundation
import Testing

/// How a failed program ends on standard error.
@Suite("Last lines: the cause, then what can be done") struct LastLinesTests {
  private static func lines(
    _ observation: SSHFailure.Observation?, _ phase: ConnectionPhase, errno: Int32? = nil
  ) -> [String] {
    let failure = SSHFailure(
      code: 0, message: "", phase: phase, host: "web", address: "10.0.0.5", port: 22,
      observation: observation, socket: errno.map { .failed(errno: $0) } ?? .open, timeout: 10
    ).typed
    return TerminalBanner.lastLines(failure.error, context: failure.context)
  }

  @Test func aRefusedPortNamesTheHostAsItWasTypedAndWhereThatLeads() {
    #expect(
      Self.lines(nil, .dial, errno: ECONNREFUSED) == [
        "bridgectl: [sshConnectionFailed] SSH Error: Couldn't connect to web (10.0.0.5)."
          + " Connection refused: nothing listens on port 22.",
        "  The host is up, but nothing listens on that port: check the port, and that the server"
          + " runs.",
      ])
  }

  /// A host that refuses something later was connected to.
  @Test(arguments: [ConnectionPhase.openChannel, .execute])
  func whatIsRefusedAfterTheLoginIsNoMissingConnection(_ phase: ConnectionPhase) {
    let refusal = SSHFailure.Observation.channelRefused(reason: 2, hasTarget: false)
    let cause = Self.lines(refusal, phase).first
    #expect(cause?.hasPrefix("bridgectl: [sshConnectionFailed] SSH Error: web: The server") == true)
  }

  /// It forbids to lead on to the host that is dialed.
  @Test func aJumpHostThatRefusesWasConnectedTo() {
    let cause = Self.lines(.channelRefused(reason: 1, hasTarget: true), .dial).first
    #expect(cause?.contains("Couldn't connect") == false, "\(cause ?? "")")
    #expect(cause?.contains("web (10.0.0.5): The server refused to") == true, "\(cause ?? "")")
  }

  /// On a link that stays, what ended is the command's channel alone.
  @Test func aCommandWithoutAStatusIsNoBrokenLink() {
    #expect(
      Self.lines(.closedWithoutStatus(command: "make"), .execute) == [
        "bridgectl: [sshOutcomeUnknown] Outcome Unknown: The server closed the channel of"
          + " \"make\" without its status: how it ended is not known.",
        "  The link did not break: the host ended the command, or reports no status, as some"
          + " devices do. Check there what was done.",
      ])
  }

  @Test(
    arguments: [
      (.stream, nil, "SSH Error: web: The server ended the connection (bye)."),
      (
        .execute, .noExitStatus(command: "make"),
        "Outcome Unknown: The server ended the connection (bye) before \"make\" reported its"
          + " status: it may or may not have run. Check on the host before you run it again."
      ),
    ] as [(ConnectionPhase, SSHFailure.Observation?, String)])
  func whatTheServerSaidAtItsEndIsRepeated(
    _ phase: ConnectionPhase, _ observation: SSHFailure.Observation?, _ words: String
  ) {
    let failure = SSHFailure(
      code: .socketDisconnect, message: "bye", phase: phase, host: "web",
      observation: observation, socket: .endOfFile, disconnectReason: 11
    ).typed
    let lines = TerminalBanner.lastLines(failure.error, context: failure.context)
    #expect(lines.first?.hasSuffix("] \(words)") == true, "\(lines)")
    let isShell = observation == nil
    #expect(
      lines.contains("  The server ended the connection itself; its log says why.") == isShell)
  }

  /// The server has confirmed that it runs.
  @Test func aCommandThatWasStartedHasRun() {
    var context = FailureContext(kind: .dropped, phase: .stream, host: "h")
    context.wasStarted = true
    let lines = TerminalBanner.lastLines(
      .sshOutcomeUnknown(command: "make"), context: context, program: "p")
    #expect(lines[0].contains("it was started, and how it ended is not known."), "\(lines)")
    #expect(!lines[0].contains("may not have run"))
  }

  /// A program that runs has not accepted anything.
  @Test func aSilentProxyCommandIsNoSilentHost() {
    let failure = SSHFailure(
      code: .none, message: "", phase: .banner, host: "web", observation: .deadline, timeout: 10,
      proxyEnding: "the ProxyCommand runs"
    ).typed
    let lines = TerminalBanner.lastLines(failure.error, context: failure.context)
    #expect(
      lines == [
        "bridgectl: [sshTimeout] web did not answer for 10 seconds.",
        "  The ProxyCommand runs, and nothing came through it: run it by hand to see how far it"
          + " gets.",
      ])
  }

  /// Servers of the other kind end such a handshake without a word.
  @Test(arguments: [true, false])
  func aWebSocketThatIsDroppedMayHaveTheWrongScheme(_ isSecure: Bool) {
    let failure = WebSocketFailure(
      observation: .dropped, phase: .upgrade, host: "web", isSecure: isSecure
    ).typed
    let lines = TerminalBanner.lastLines(failure.error, context: failure.context)
    let words = "It may also be a port for the other scheme: ws:// is plain, wss:// speaks TLS."
    #expect(lines.last?.hasSuffix(words) == true, "\(lines)")
  }

  static let causes: [(SSHFailure.Observation, ConnectionPhase, String)] = [
    (.deadline, .dial, "[sshTimeout] web (10.0.0.5) did not answer for 10 seconds."),
    (.deadline, .authenticate, "[sshTimeout] web did not answer for 10 seconds."),
    (.silent(seconds: 1), .stream, "[sshTimeout] web did not answer for 1 second."),
    (
      .nameUnknown, .resolve,
      "[dnsError] The name 10.0.0.5 (HostName of web) could not be resolved."
    ),
    (
      .hostKeyUnknown(fingerprint: "SHA256:a"), .hostKey,
      "[sshHostKeyUnknown] Unknown Host: The key of web is not known here: SHA256:a. Compare it"
        + " with the one its owner gives you before you accept it."
    ),
    (.keyUnusable(reason: "no"), .authenticate, "[sshKeyInvalid] The key cannot be used: no."),
  ]

  @Test(arguments: causes.indices)
  func theCauseComesFirstAndNamesTheHost(_ index: Int) {
    let (observation, phase, cause) = Self.causes[index]
    let lines = Self.lines(observation, phase)
    #expect(lines.first == "bridgectl: \(cause)")
    #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("  ") })
  }

  @Test func aChangedHostKeySaysWhatWhereAndTheOneCommand() {
    let removal = "ssh-keygen -f '/k' -R '[10.0.0.5]:2222'"
    let lines = Self.lines(
      .hostKeyChanged(detail: "It shows A, but /k:3 has B.", removal: removal), .hostKey)
    #expect(
      lines == [
        "bridgectl: [sshHostKeyMismatch] The key of web is not the one on record."
          + " It shows A, but /k:3 has B.",
        "  Do not continue: no credential was sent. Ask the host's administrator whether its key"
          + " was changed. Only if it was, and the new fingerprint is theirs, remove the old key:",
        "    \(removal)",
      ])
  }

  @Test func withoutACommandNoneIsPromised() {
    let lines = Self.lines(.hostKeyChanged(detail: "It shows A.", removal: nil), .hostKey)
    #expect(lines.count == 2 && lines[1].hasSuffix("remove the old key from known_hosts."))
  }

  @Test func aKeyWithoutProofIsNotAChangedOne() {
    let failure = SSHFailure(
      code: .hostKeySign, message: "", phase: .keyExchange, host: "web", port: 22
    ).typed
    let lines = TerminalBanner.lastLines(failure.error, context: failure.context)
    #expect(
      lines.first == "bridgectl: [sshHostKeyMismatch] web could not prove that the key it shows is"
        + " its own.")
  }

  @Test func whatSaysAllHasNoRemedy() {
    #expect(
      TerminalBanner.lastLines(.validationError(field: "-p", message: "70000 is no port.")) == [
        "bridgectl: [validationError] -p: 70000 is no port."
      ])
    #expect(
      TerminalBanner.lastLines(.cancelled, program: "agent") == [
        "agent: [cancelled] Canceled: It was canceled before it finished."
      ])
  }

  @Test(arguments: ErrorCatalogue.examples)
  func noTitleRepeatsTheSeverity(_ error: AppError) {
    let lines = TerminalBanner.lastLines(error)
    let title = error.title == "Error" ? "" : "\(error.title): "
    #expect(lines[0] == "bridgectl: [\(error.caseName)] \(title)\(error.shownMessage())")
    #expect(!lines[0].contains("Error: Error") && !lines[0].contains("] Error"))
    #expect(lines.allSatisfy { !$0.contains("An unexpected error") && !$0.contains("\n") })
    #expect((1...2).contains(lines.count) && lines.dropFirst().allSatisfy { $0.hasPrefix("  ") })
    let banner = TerminalBanner.render(error, color: false)
    #expect(!banner.contains(": Error\n") && banner.contains(" \(error.severity.name)"))
  }
}
