import BridgeErrors
import BridgeRecovery
import Testing

/// One machine, its generator and its last outputs, as a table row drives it.
struct Link {
  static let id = ConnectionID("a")
  let start = Moment.now
  var now: Moment
  var generator = SeededGenerator(seed: 1)
  var machine: RecoveryStateMachine
  var outputs: [RecoveryStateMachine.Output] = []

  init(policy: RetryPolicy = .persistent, retriesFirstDial: Bool = false) {
    now = start
    machine = RecoveryStateMachine(
      id: Self.id, policy: policy, retriesFirstDial: retriesFirstDial)
  }

  mutating func step(_ input: RecoveryStateMachine.Input) {
    outputs = machine.step(input, at: now, using: &generator)
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

  /// Tears the ended generation down, and grants a dial if one was requested.
  mutating func redial(after generation: Int) {
    step(.tornDown(generation: generation))
    step(.granted(isStandby: false))
  }

  static let lost = AppError.sshConnectionFailed(host: "h", reason: "r")

  var plan: RecoveryPlan? {
    for case .surface(let report) in outputs { return report.plan }
    return nil
  }

  /// The context of the newest failure's event.
  var context: FailureContext? {
    for case .emit(.failed(let failure), _) in outputs { return failure.context }
    return nil
  }

  /// The words of the outputs, without their payloads.
  var words: [String] {
    outputs.map { output in
      if case .emit(let step, _) = output {
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

  /// Kind of failure of an established link → its state afterwards.
  @Test(arguments: [
    (FailureKind.linkLost, true), (.linkSilent, true), (.refused, true), (.unreachable, true),
    (.offline, true), (.nameUnknown, true), (.nameTimeout, true), (.dialTimeout, true),
    (.silent, true), (.dropped, true), (.localResource, true), (.throttled, true),
    (.corrupted, true), (.internalFault, true), (.targetRefused, true), (.outcomeUnknown, true),
    (.refusedUpgrade(status: 503), true), (.refusedUpgrade(status: 429), true),
    (.refusedUpgrade(status: 401), true), (.refusedUpgrade(status: 404), true),
    (.refusedUpgrade(status: 400), true), (.secureOnly, true), (.overLimit, false),
    (.notTheProtocol, true), (.closedByApplication, true), (.algorithmMismatch, false),
    (.hostKeyProof, false), (.hostKeyUnknown, false), (.hostKeyChanged, false),
    (.hostKeyNewType, false), (.authenticationRefused, false),
    (.keyUnusable, false), (.agentUnavailable, false), (.channelDenied, false),
    (.outputLost, false), (.versionLineTooLong, false), (.rejected, false), (.tls(.expired), false),
    (.closedByPeer, false),
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
    link.step(.retryNow(rearms: false))
    #expect(link.outputs.isEmpty)
    link.step(.retryNow(rearms: true))
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
    #expect(link.words == ["setTimer", "disturb"])
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
    #expect(link.plan?.next == .reconnect)
    let wait = link.plan?.at ?? .zero
    #expect(wait >= .seconds(90) && wait <= .seconds(113))
  }

  /// A gateway answers so while what is behind it is replaced; a credential may have expired.
  @Test func whatRefusesAFirstDialIsTriedAgainAfterTheLinkWasUp() {
    for (status, again) in [(404, 20), (400, 20), (401, 1), (403, 1)] {
      var first = Link(retriesFirstDial: true)
      first.step(.start)
      first.step(.granted(isStandby: false))
      first.fail(1, .refusedUpgrade(status: status))
      #expect(first.words.contains("gaveUp"))
      var link = Link.up()
      link.now += RecoveryDefaults.healthyAfter
      link.step(.proved(generation: 1))
      link.fail(1, .linkLost)
      link.redial(after: 1)
      var tries = 0
      while tries < 20, !link.words.contains("gaveUp") {
        let generation = link.machine.generation
        link.fail(generation, .refusedUpgrade(status: status))
        guard !link.words.contains("gaveUp") else { break }
        tries += 1
        link.step(.timer(.retry(Link.id)))
        link.redial(after: generation)
      }
      #expect(tries == again, "\(status)")
    }
  }

  /// A server that streams and answers no ping is as healthy as one that answers.
  @Test func bytesThatComeAfterTheTimeOfHealthProveIt() {
    var link = Link.up()
    link.now += RecoveryDefaults.healthyAfter
    link.step(.heard(generation: 1, at: link.now - .seconds(1)))
    #expect(link.outputs.isEmpty)
    link.step(.timer(.health(Link.id)))
    #expect(link.words == ["setTimer", "disturb"], "It is asked for again.")
    link.now += .seconds(5)
    link.step(.heard(generation: 1, at: link.now))
    #expect(link.words == ["clearTimer", "healthy", "healthy"])
    link.step(.heard(generation: 1, at: link.now))
    #expect(link.outputs.isEmpty)
  }

  private static let reason = AppError.agentSessionNotFound(sessionId: "s")

  @Test func aConnectionThatTheApplicationGivesUpIsReplacedAndSeen() {
    var link = Link.up()
    link.step(.restart(generation: 1, ConnectionError(Self.reason), isAsked: true))
    #expect(link.words.first == "failed" && link.words.contains("close"))
    // It says nothing of the host.
    #expect(link.words.contains("abandoned") && !link.words.contains("lost"))
    #expect(link.machine.state == .ready)
    link.redial(after: 1)
    link.step(.connected(generation: 2))
    link.step(.restart(generation: 1, ConnectionError(Self.reason), isAsked: true))
    #expect(link.outputs.isEmpty, "That one is gone already.")
    link.step(.restart(generation: 2, ConnectionError(Self.reason), isAsked: true))
    guard case .waiting = link.machine.state else {
      Issue.record("The second one comes later: \(link.machine.state)")
      return
    }
  }

  @Test func withoutRetriesOnlyARestartThatIsAskedForDials() {
    for isAsked in [true, false] {
      var link = Link.up(policy: RetryPolicy(retries: 0, backoff: Backoff(base: .zero, cap: .zero)))
      link.step(.restart(generation: 1, ConnectionError(Self.reason), isAsked: isAsked))
      #expect(link.words.contains("gaveUp") == !isAsked)
    }
  }

  @Test func aDialOnAnOldPathBeginsAnewWhereThatIsAskedFor() {
    var link = Link()
    link.step(.start)
    link.step(.granted(isStandby: false))
    link.step(.retryNow(rearms: false))
    #expect(link.outputs.isEmpty)
    link.step(.retryNow(rearms: false, restartsDial: true))
    #expect(link.words.contains("close") && link.words.contains("settleDial"))
    link.redial(after: 1)
    #expect(link.machine.state == .connecting(generation: 2))
  }

  @Test func whatCannotBeMadeIsAFailureWithoutADial() {
    var link = Link(retriesFirstDial: true)
    link.step(.start)
    link.step(.unprepared(isStandby: false, ConnectionError(.timeout(seconds: 30))))
    #expect(link.words.first == "failed" && !link.words.contains("settleDial"))
    #expect(link.machine.generation == 0)
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
