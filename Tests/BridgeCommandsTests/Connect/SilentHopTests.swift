import BridgeCommands
import BridgeErrors
import BridgeRecovery
import BridgeTransport
import Testing

/// A host on the way that is silent, and what goes through it.
@Suite struct SilentHopTests {
  private static let way = [
    (name: "j1", endpoint: Endpoint(host: "10.0.0.1", port: 22)),
    (name: "j2", endpoint: Endpoint(host: "10.0.0.2", port: 2022)),
  ]
  private static let start = ContinuousClock.now
  private static let late = CommandFailure(error: .sshTimeout(seconds: 10))
  private static let suspected = RecoveryEvent.Step.suspected(silentFor: .seconds(5))

  private static func blamed(
    _ hop: SilentHop, _ failure: CommandFailure = late, of link: Int? = nil
  ) -> CommandFailure {
    hop.failure(of: link, failure, at: start + .seconds(5), way)
  }

  @Test func whatHadNoAnswerBehindItFailedByItsSilence() {
    var hop = SilentHop()
    hop.see(Self.suspected, of: 0, at: Self.start)
    let failure = Self.blamed(hop)
    #expect(failure.error == .sshTimeout(seconds: 10))
    let context = failure.context
    #expect(context?.kind == .linkSilent && context?.host == "j1")
    #expect(context?.address == "10.0.0.1" && context?.port == 22)
  }

  @Test func whatIsBeforeItFailedByItself() {
    var hop = SilentHop()
    hop.see(Self.suspected, of: 1, at: Self.start)
    #expect(Self.blamed(hop, of: 0) == Self.late)
    #expect(Self.blamed(hop, of: 1) == Self.late)
    #expect(Self.blamed(hop) != Self.late)
  }

  @Test func theFirstOneIsNamed() {
    var hop = SilentHop()
    hop.see(Self.suspected, of: 1, at: Self.start)
    hop.see(Self.suspected, of: 0, at: Self.start)
    hop.see(Self.suspected, of: 1, at: Self.start)
    #expect(hop.index == 0)
  }

  @Test func oneThatAnswersIsNotNamed() {
    var hop = SilentHop()
    #expect(Self.blamed(hop) == Self.late)
    hop.see(Self.suspected, of: 0, at: Self.start)
    hop.see(.cleared, of: 1, at: Self.start)
    #expect(hop.index == 0)
    hop.see(.cleared, of: 0, at: Self.start)
    #expect(Self.blamed(hop) == Self.late)
  }

  /// A keepalive that is slower than the dial has not seen that the host on the way is silent.
  @Test func whatMayBeTheSilenceOfTheOneBeforeItNamesThatOne() {
    let dial = CommandFailure(
      error: .sshTimeout(seconds: 10),
      context: FailureContext(kind: .dialTimeout, phase: .dial, host: "target"))
    let ofHost = Self.blamed(SilentHop(), dial)
    #expect(ofHost.context?.host == "target")
    #expect(ofHost.remedy?.words.contains("through j2: it is silent itself, or") == true)
    #expect(Self.blamed(SilentHop(), dial, of: 1).remedy?.words.contains("j1") == true)
    #expect(Self.blamed(SilentHop(), dial, of: 0) == dial)
  }

  @Test func anAnswerThatCameIsNoSilence() {
    var hop = SilentHop()
    hop.see(Self.suspected, of: 0, at: Self.start)
    let refused = CommandFailure(error: .sshAuthenticationFailed(method: "publickey"))
    #expect(Self.blamed(hop, refused) == refused)
  }
}
