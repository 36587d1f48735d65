import BridgeErrors
import BridgeRecovery
import Testing

/// One machine, its chance and what it asked for last, as a table row drives it.
struct Link {
  static let id = ConnectionID("a")
  let start = Moment.now
  var now: Moment
  var chance = SeededGenerator(seed: 1)
  var machine: RecoveryStateMachine
  var outputs: [RecoveryStateMachine.Output] = []

  init(policy: RetryPolicy = .persistent, retriesFirstDial: Bool = false) {
    now = start
    machine = RecoveryStateMachine(
      id: Self.id, policy: policy, retriesFirstDial: retriesFirstDial)
  }

  mutating func step(_ input: RecoveryStateMachine.Input) {
    outputs = machine.step(input, at: now, using: &chance)
  }

  /// Starts it and brings its first generation up.
  static func up(policy: RetryPolicy = .persistent) -> Link {
    var link = Link(policy: policy)
    for input in [RecoveryStateMachine.Input.start, .granted(isStandby: false)] { link.step(input) }
    link.step(.connected(generation: 1))
    return link
  }

  mutating func fail(_ generation: Int, _ kind: FailureKind, _ error: AppError = Link.lost) {
    step(
      .failed(
        generation: generation,
        ConnectionError(error, context: FailureContext(kind: kind, phase: .dial, host: "h"))))
  }

  /// Lets the ended generation go, and grants a dial if one was asked for.
  mutating func redial(after generation: Int) {
    step(.tornDown(generation: generation))
    step(.granted(isStandby: false))
  }

  static let lost = AppError.sshConnectionFailed(host: "h", reason: "r")

  var plan: RecoveryPlan? {
    for case .surface(let report) in outputs { return report.plan }
    return nil
  }

  /// What the newest failure was noted with.
  var context: FailureContext? {
    for case .note(.failed(let failure), _) in outputs { return failure.context }
    return nil
  }

  /// The words of the outputs, without their payloads.
  var words: [String] {
    outputs.map { output in
      if case .note(let step, _) = output {
        return RecoveryEvent(at: now, step: step).name
      }
      return String("\(output)".prefix { $0 != "(" })
    }
  }
}

@Suite struct RecoveryStateMachineTests {
  @Test func theFirstConnectionComesUp() {
    var link = Link()
    link.step(.start)
    #expect(link.words == ["requestDial"])
    link.step(.granted(isStandby: false))
    #expect(link.words == ["attempt", "dial"])
    link.step(.connected(generation: 1))
    #expect(link.words == ["settleDial", "promote", "recovered", "withdraw", "setTimer", "up"])
    #expect(link.machine.state == .up(generation: 1))
  }

  /// Kind of failure of an established link → where it stands afterwards.
  @Test(arguments: [
    (FailureKind.linkLost, true), (.linkSilent, true), (.refused, true), (.unreachable, true),
    (.offline, true), (.nameUnknown, true), (.nameTimeout, true), (.dialTimeout, true),
    (.silent, true), (.dropped, true), (.localResource, true), (.throttled, true),
    (.corrupted, true), (.internalFault, true), (.targetRefused, true), (.outcomeUnknown, true),
    (.refusedUpgrade(status: 503), true), (.refusedUpgrade(status: 429), true),
    (.refusedUpgrade(status: 401), false), (.refusedUpgrade(status: 404), false),
    (.notTheProtocol, true), (.closedByApplication, true), (.algorithmMismatch, false),
    (.hostKeyProof, false), (.hostKeyUnknown, false), (.hostKeyChanged, false),
    (.hostKeyNewType, false), (.authenticationRefused, false),
    (.keyUnusable, false), (.agentUnavailable, false), (.channelDenied, false),
    (.rejected, false), (.tls(.expired), false), (.closedByPeer, false),
  ])
  func whatIsTriedAgainFollowsFromTheKind(kind: FailureKind, isTried: Bool) {
    var link = Link.up()
    link.fail(1, kind)
    switch link.machine.state {
    case .ready, .waiting: #expect(isTried)
    case .failed: #expect(!isTried)
    case .idle, .suspended, .connecting, .up, .degraded, .closed: Issue.record("\(link.words)")
    }
    #expect(link.words.contains("gaveUp") == !isTried)
    #expect(link.plan?.isSkippable == isTried)
  }

  @Test(arguments: [FailureKind.refused, .dropped, .throttled, .nameTimeout, .silent])
  func theFirstDialIsNotTriedAgainUnlessAsked(kind: FailureKind) {
    for retries in [false, true] {
      var link = Link(retriesFirstDial: retries)
      link.step(.start)
      link.step(.granted(isStandby: false))
      link.fail(1, kind)
      #expect(link.words.contains("gaveUp") == !retries)
      #expect(link.words.contains("giveUp") == !retries)
    }
  }

  @Test func aNameThatIsUnknownOnTheFirstDialIsATypingError() {
    var link = Link(retriesFirstDial: true)
    link.step(.start)
    link.step(.granted(isStandby: false))
    link.fail(1, .nameUnknown, .dnsError(host: "h"))
    #expect(link.machine.state == .failed(.dnsError(host: "h")))
  }

  @Test func theFirstRetryComesAtOnceButWaitsForTheLastGenerationToLetGo() {
    var link = Link.up()
    link.fail(1, .linkLost)
    #expect(link.machine.state == .ready)
    #expect(!link.words.contains("requestDial"))
    link.step(.granted(isStandby: false))
    #expect(link.words == ["settleDial"])
    link.step(.tornDown(generation: 1))
    #expect(link.words == ["clearTimer", "requestDial"])
  }

  @Test func aGenerationThatDoesNotLetGoIsWaitedForOnlySoLong() {
    var link = Link.up()
    link.fail(1, .linkLost)
    link.step(.timer(.teardown(Link.id, generation: 1)))
    #expect(link.words == ["lingered", "clearTimer", "requestDial"])
    link.step(.tornDown(generation: 1))
    #expect(link.outputs.isEmpty)
  }

  @Test func standardGivesUpAfterThreeRetriesAndOffersToReconnect() {
    var link = Link.up(policy: .standard)
    link.fail(1, .linkLost)
    var delays: [Duration?] = [link.plan?.at]
    for generation in 2...4 {
      link.step(.timer(.retry(Link.id)))
      link.redial(after: generation - 1)
      link.fail(generation, .refused)
      delays.append(link.plan?.at)
    }
    #expect(delays == [.seconds(2), .seconds(4), .seconds(8), nil])
    #expect(link.words.contains("gaveUp"))
    #expect(link.plan?.options == [.reconnect, .checkSettings, .cancel])
    #expect(link.plan?.attemptsLeft == 0)
  }

  @Test func failedIsNoTrap() {
    var link = Link.up()
    link.fail(1, .authenticationRefused)
    link.step(.hurry(rearms: false))
    #expect(link.outputs.isEmpty)
    link.step(.hurry(rearms: true))
    link.step(.tornDown(generation: 1))
    #expect(link.words == ["clearTimer", "requestDial"])
  }

  @Test func oneMoreTryAndThenOnlyAPerson() {
    var link = Link.up()
    link.fail(1, .corrupted)
    #expect(link.machine.state == .ready)
    link.redial(after: 1)
    link.fail(2, .corrupted)
    #expect(link.machine.state == .failed(Link.lost))
  }

  @Test func healthTakesARoundTripAndTenSecondsAndResetsEverything() {
    var link = Link.up(policy: .standard)
    link.fail(1, .linkLost)
    link.step(.timer(.retry(Link.id)))
    link.redial(after: 1)
    link.step(.connected(generation: 2))
    link.now += .seconds(10)
    link.step(.timer(.health(Link.id)))
    #expect(link.words == ["disturb"])
    link.step(.proved(generation: 2))
    #expect(link.words == ["clearTimer", "healthy", "healthy"])
    link.fail(2, .linkLost)
    #expect(link.plan?.at == .seconds(2))
  }

  @Test func aLinkThatFlapsIsNotTriedAtOnceTwice() {
    var link = Link.up()
    link.fail(1, .linkLost)
    #expect(link.machine.state == .ready)
    link.redial(after: 1)
    link.step(.connected(generation: 2))
    link.now += .seconds(9)
    link.step(.proved(generation: 2))
    link.fail(2, .linkLost)
    #expect(link.words.contains("waiting"))
  }

  @Test func dropsInARowAreCountedByPhase() {
    var link = Link.up()
    link.fail(1, .linkLost)
    link.redial(after: 1)
    var repeats: [Int?] = []
    for (generation, kind) in [(2, FailureKind.dropped), (3, .dropped), (4, .refused)] {
      link.fail(generation, kind)
      repeats.append(link.context?.repeats)
      link.step(.timer(.retry(Link.id)))
      link.redial(after: generation)
    }
    for generation in [5, 6, 7] {
      link.fail(generation, .dropped)
      repeats.append(link.context?.repeats)
      link.step(.timer(.retry(Link.id)))
      link.redial(after: generation)
    }
    #expect(repeats == [nil, 2, nil, nil, 2, 3])
    link.step(.connected(generation: 8))
    link.fail(8, .linkLost)
    link.step(.timer(.retry(Link.id)))
    link.redial(after: 8)
    link.fail(9, .dropped)
    #expect(link.context?.repeats == nil)
  }

  @Test func aDelayGivenByTheServerIsInThePlan() {
    var link = Link.up()
    link.fail(1, .throttled, .sshServerBusy(host: "h", retryAfter: 90))
    #expect(link.plan?.at == .seconds(90))
    #expect(link.plan?.next == .reconnect)
  }

  @Test func staleMessagesAreCountedAndIgnored() {
    var link = Link.up()
    link.fail(1, .linkLost)
    link.redial(after: 1)
    link.fail(1, .linkLost)
    #expect(link.outputs.isEmpty)
    link.step(.connected(generation: 1))
    #expect(link.outputs.isEmpty)
    #expect(link.machine.stale == 2)
    #expect(link.machine.state == .connecting(generation: 2))
  }
}

@Suite struct RecoveryStateMachineStandbyTests {
  /// Up and suspected, its second connection dialling as generation 2.
  private func suspected() -> Link {
    var link = Link.up()
    link.step(.suspected(generation: 1, silentFor: .seconds(6)))
    #expect(link.words == ["suspected", "requestDial"])
    link.step(.granted(isStandby: true))
    #expect(link.words == ["attempt", "dial"])
    return link
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

  @Test func onTheVerdictTheSecondTakesOverWithoutADialInBetween() {
    var link = suspected()
    link.step(.connected(generation: 2))
    link.fail(1, .linkSilent, .sshTimeout(seconds: 8))
    #expect(link.machine.state == .up(generation: 2))
    #expect(link.words.contains("promote") && link.words.contains("switched"))
    #expect(!link.words.contains("requestDial") && !link.words.contains("lost"))
  }

  /// How long the newest outage was, as it is told.
  private func outage(_ link: Link) -> Duration? {
    link.outputs.lazy.compactMap { output -> Duration? in
      if case .note(.recovered(let time, _, _), _) = output { time } else { nil }
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

  @Test func whatASecondWasRefusedIsNotOfferedAgainByTheVerdict() {
    let refused = AppError.sshAuthenticationFailed(method: "publickey")
    var link = suspected()
    link.fail(2, .authenticationRefused, refused)
    link.step(.tornDown(generation: 2))
    link.fail(1, .linkSilent, .sshTimeout(seconds: 8))
    #expect(link.machine.state == .failed(refused))
    #expect(!link.words.contains("requestDial"))
    link.step(.tornDown(generation: 1))
    #expect(!link.words.contains("requestDial"))
    link.step(.hurry(rearms: true))
    #expect(link.words.contains("requestDial"))
  }

  @Test func whatASecondWasRefusedIsNotOfferedAgainByTheNextDoubt() {
    var link = suspected()
    link.fail(2, .authenticationRefused, .sshAuthenticationFailed(method: "publickey"))
    link.step(.tornDown(generation: 2))
    link.step(.cleared(generation: 1))
    #expect(!link.words.contains("withdraw"))
    link.step(.suspected(generation: 1, silentFor: .seconds(5)))
    #expect(link.words == ["suspected"])
    link.step(.cleared(generation: 1))
    link.step(.hurry(rearms: true))
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
    #expect(link.words == ["disturb"])
    link.now += .seconds(1)
    link.step(.cleared(generation: 1))
    #expect(link.words.contains("setTimer"))
    link.step(.timer(.health(Link.id)))
    #expect(link.words.contains("healthy"))
  }

  @Test func aPersonNeedNotWaitForTheVerdict() {
    var link = suspected()
    link.step(.connected(generation: 2))
    link.step(.hurry(rearms: true))
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

/// Refusals that mean something else on a link that has been up.
@Suite struct RepeatedRefusalTests {
  /// A laptop in a hotel: its old link dies, and the login page of the network answers the dial.
  @Test func anotherProtocolOnALinkThatHasBeenUpIsWaitedForAndShown() {
    var first = Link(retriesFirstDial: true)
    first.step(.start)
    first.step(.granted(isStandby: false))
    first.fail(1, .notTheProtocol)
    #expect(first.machine.state == .failed(Link.lost))

    var link = Link.up()
    link.fail(1, .linkLost)
    link.redial(after: 1)
    link.fail(2, .notTheProtocol)
    #expect(link.plan?.next == .reconnect)
    #expect(link.plan?.at.map { $0 >= .seconds(15) } == true)
  }

  @Test func aSecondThatMeetsAnotherProtocolIsTriedAgain() {
    var link = Link.up()
    link.step(.suspected(generation: 1, silentFor: .seconds(6)))
    link.step(.granted(isStandby: true))
    link.fail(2, .notTheProtocol)
    link.step(.tornDown(generation: 2))
    link.fail(1, .linkLost)
    if case .failed = link.machine.state { Issue.record("\(link.words)") }
  }

  /// Loses generation after generation to these close codes, each so many seconds after it came up.
  private func closed(_ closes: [(code: Int, after: Int)]) -> Link {
    var link = Link()
    link.step(.start)
    for (index, close) in closes.enumerated() {
      let generation = index + 1
      if case .waiting = link.machine.state { link.step(.timer(.retry(Link.id))) }
      if index > 0 { link.step(.tornDown(generation: index)) }
      link.step(.granted(isStandby: false))
      link.step(.connected(generation: generation))
      link.now += .seconds(close.after)
      link.close(generation, close.code)
    }
    return link
  }

  @Test(arguments: [4_401, 4_003, 3_000, 4_999])
  func theSameCodeOfAnApplicationThreeTimesRightAfterTheUpgradeNeedsAPerson(code: Int) {
    #expect(closed([(code, 1), (code, 10)]).machine.state.isWaiting)
    let link = closed([(code, 1), (code, 10), (code, 0)])
    #expect(link.machine.state == .failed(.webSocketDisconnected(code: code, reason: nil)))
    #expect(link.context?.repeats == 3)
  }

  @Test(arguments: [
    [(4_401, 1), (4_403, 1), (4_401, 1)], [(4_401, 1), (4_401, 1), (4_401, 11)],
    [(4_401, 1), (4_401, 11), (4_401, 1)], [(1_011, 1), (1_011, 1), (1_011, 1)],
    [(4_401, 1), (1_001, 1), (4_401, 1), (4_401, 1)],
  ])
  func anyOtherRowOfCodesIsReconnected(closes: [(Int, Int)]) {
    #expect(closed(closes.map { ($0.0, $0.1) }).machine.state.isWaiting)
  }
}

extension Link {
  fileprivate mutating func close(_ generation: Int, _ code: Int) {
    let failure = WebSocketFailure(
      observation: .closed(code: code, reason: ""), phase: .stream, host: "h")
    step(.failed(generation: generation, failure.typed))
  }
}

extension RecoveryStateMachine.State {
  fileprivate var isWaiting: Bool {
    switch self {
    case .waiting, .ready: true
    case .idle, .suspended, .connecting, .up, .degraded, .failed, .closed: false
    }
  }
}
