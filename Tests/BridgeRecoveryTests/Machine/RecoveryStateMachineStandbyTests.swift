import BridgeErrors
import BridgeRecovery
import Testing

@Suite struct RecoveryStateMachineStandbyTests {
  /// Up and suspected, its second connection dialing as generation 2.
  private func suspected() -> Link {
    var link = Link.up()
    link.step(.suspected(generation: 1, silentFor: .seconds(6)))
    #expect(link.words == ["suspected", "requestDial"])
    link.step(.granted(isStandby: true))
    #expect(link.words == ["attempt", "dial"])
    return link
  }

  @Test func aLinkWithoutRetriesGetsNoSecondConnection() {
    var policy = RetryPolicy.persistent
    policy.retries = 0
    var link = Link.up(policy: policy)
    link.step(.suspected(generation: 1, silentFor: .seconds(6)))
    #expect(link.words == ["suspected"])
    link.fail(1, .linkSilent, .sshTimeout(seconds: 8))
    #expect(link.words.contains("gaveUp") && !link.words.contains("requestDial"))
  }

  @Test func aPeerThatAnswersStaysAndTheSecondIsLetGo() {
    var link = suspected()
    link.step(.connected(generation: 2))
    #expect(link.words == ["settleDial"])
    link.step(.cleared(generation: 1))
    #expect(link.words.first == "cleared")
    #expect(link.words.contains("close"))
    #expect(link.machine.state == .up(generation: 1))
  }

  @Test func whenThePeerIsDeclaredDeadTheSecondTakesOverWithoutADialInBetween() {
    var link = suspected()
    link.step(.connected(generation: 2))
    link.fail(1, .linkSilent, .sshTimeout(seconds: 8))
    #expect(link.machine.state == .up(generation: 2))
    #expect(link.words.contains("promote") && link.words.contains("switched"))
    #expect(!link.words.contains("requestDial") && !link.words.contains("lost"))
  }

  /// How long the newest outage was, as the event has it.
  private func outage(_ link: Link) -> Duration? {
    link.outputs.compactMap { output -> Duration? in
      if case .emit(.recovered(let time, _, _), _) = output { time } else { nil }
    }.first
  }

  @Test func anOutageBeganWhenTheLinkWasLastHeard() {
    var link = suspected()
    link.step(.connected(generation: 2))
    link.now += .seconds(2)
    link.fail(1, .linkSilent, .sshTimeout(seconds: 8))
    #expect(outage(link) == .seconds(8))
    link.step(.suspected(generation: 2, silentFor: .seconds(6)))
    link.step(.cleared(generation: 2))
    link.step(.tornDown(generation: 1))
    link.now += .seconds(20)
    link.fail(2, .linkLost)
    link.redial(after: 2)
    link.now += .seconds(1)
    link.step(.connected(generation: 3))
    #expect(outage(link) == .seconds(1))
  }

  @Test func aSecondThatIsStillDiallingBecomesTheNextAttempt() {
    var link = suspected()
    link.fail(1, .linkLost)
    #expect(link.machine.state == .connecting(generation: 2))
    link.step(.connected(generation: 2))
    #expect(link.machine.state == .up(generation: 2))
  }

  @Test func aSecondThatFailsIsTriedAgainLaterAndTheFirstIsKept() {
    var link = suspected()
    link.fail(2, .refused)
    #expect(link.machine.state == .degraded(generation: 1))
    #expect(link.words.contains("setTimer"))
    link.step(.tornDown(generation: 2))
    link.step(.timer(.standby(Link.id)))
    #expect(link.words == ["requestDial"])
  }

  @Test func aSecondThatMeetsAnotherHostKeyIsShownAndNotTriedAgain() {
    var link = suspected()
    link.fail(2, .hostKeyChanged, .sshHostKeyMismatch(host: "h"))
    #expect(link.words.contains("surface"))
    #expect(!link.outputs.contains { if case .setTimer(.standby, _) = $0 { true } else { false } })
  }

  /// A server that allows one session per user refuses the second while the first is there.
  @Test(arguments: [
    FailureKind.authenticationRefused, .refusedUpgrade(status: 409), .refusedUpgrade(status: 429),
  ])
  func whatRefusesASecondEndsTheSecondAndNotTheLink(kind: FailureKind) {
    var link = suspected()
    link.fail(2, kind, .sshAuthenticationFailed(method: "publickey"))
    #expect(link.machine.state == .degraded(generation: 1))
    #expect(!link.words.contains("surface"))
    link.step(.tornDown(generation: 2))
    // No other is offered beside this one.
    link.step(.cleared(generation: 1))
    link.step(.suspected(generation: 1, silentFor: .seconds(5)))
    #expect(link.words == ["suspected"])
    // Once the first is gone, a dial of its own shows what is true.
    link.fail(1, .linkSilent, .sshTimeout(seconds: 8))
    link.redial(after: 1)
    #expect(link.machine.state == .connecting(generation: 3))
    link.fail(3, .authenticationRefused, .sshAuthenticationFailed(method: "publickey"))
    #expect(link.words.contains("gaveUp"))
  }

  @Test func aSecondIsMadeOnlyWhereThatIsWanted() {
    var link = Link.up()
    link.step(.suspected(generation: 1, silentFor: .seconds(6), wantsStandby: false))
    #expect(link.words == ["suspected"])
    link.fail(1, .linkSilent, .sshTimeout(seconds: 60))
    #expect(link.machine.state == .ready)
  }

  @Test func anotherHostKeyThatASecondMetIsNotDialedWhenThePeerIsDeclaredDead() {
    let changed = AppError.sshHostKeyMismatch(host: "h")
    var link = suspected()
    link.fail(2, .hostKeyChanged, changed)
    link.step(.tornDown(generation: 2))
    link.fail(1, .linkSilent, .sshTimeout(seconds: 8))
    #expect(link.machine.state == .failed(changed))
    #expect(!link.words.contains("requestDial"))
    link.step(.tornDown(generation: 1))
    #expect(!link.words.contains("requestDial"))
    link.step(.retryNow(rearms: true))
    #expect(link.words.contains("requestDial"))
  }

  @Test func anotherHostKeyThatASecondMetIsNotMetAgainByTheNextDoubt() {
    var link = suspected()
    link.fail(2, .hostKeyChanged, .sshHostKeyMismatch(host: "h"))
    link.step(.tornDown(generation: 2))
    link.step(.cleared(generation: 1))
    #expect(!link.words.contains("withdraw"))
    link.step(.suspected(generation: 1, silentFor: .seconds(5)))
    #expect(link.words == ["suspected"])
    link.step(.cleared(generation: 1))
    link.step(.retryNow(rearms: true))
    #expect(link.words == ["withdraw", "disturb"])
    link.step(.suspected(generation: 1, silentFor: .seconds(5)))
    #expect(link.words.contains("requestDial"))
  }

  /// A round trip and ten seconds, and then silence for most of them, are no health.
  @Test func whatIsSuspectedDoesNotBecomeHealthyMeanwhile() {
    var link = Link.up()
    link.step(.proved(generation: 1))
    link.now += .seconds(5)
    link.step(.suspected(generation: 1, silentFor: .seconds(4)))
    link.now += .seconds(5)
    link.step(.timer(.health(Link.id)))
    #expect(link.words == ["setTimer", "disturb"])
    link.now += .seconds(1)
    link.step(.cleared(generation: 1))
    #expect(link.words.contains("setTimer"))
    link.step(.timer(.health(Link.id)))
    #expect(link.words.contains("healthy"))
  }

  @Test func aPersonNeedNotWaitUntilThePeerIsDeclaredDead() {
    var link = suspected()
    link.step(.connected(generation: 2))
    link.step(.retryNow(rearms: true))
    #expect(link.machine.state == .up(generation: 2))
  }

  @Test func aParentThatGoesDownTakesBothAndChargesNothing() {
    var link = suspected()
    link.step(.suspend(by: ConnectionID("p"), since: link.now))
    #expect(link.machine.state == .suspended)
    #expect(link.words.count { $0 == "close" } == 2)
    let isFree = link.outputs.contains {
      if case .settleDial(.withdrawn(wasBegun: true)) = $0 { true } else { false }
    }
    #expect(isFree)
    #expect(!link.words.contains("surface"))
  }

  @Test func closingEndsEverythingAndRetiresWhenAllIsGone() {
    var link = suspected()
    link.step(.close)
    #expect(!link.words.contains("retire"))
    link.step(.tornDown(generation: 2))
    #expect(!link.words.contains("retire"))
    link.step(.tornDown(generation: 1))
    #expect(link.words.contains("retire"))
    link.step(.start)
    #expect(link.outputs.isEmpty)
  }
}
