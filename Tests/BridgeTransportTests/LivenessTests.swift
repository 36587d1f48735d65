import BridgeTransport
import Testing

@Suite struct LivenessTests {
  private let start = ContinuousClock.now

  private func liveness(
    _ switching: LivenessPolicy.SwitchingCost = .free, keepalive: Duration = .seconds(5)
  ) -> Liveness {
    Liveness(policy: LivenessPolicy(keepalive: keepalive, switching: switching), at: start)
  }

  /// One probe answered after `roundTrip`, so that the numbers below are the peer's.
  private func measured(
    _ switching: LivenessPolicy.SwitchingCost, roundTrip: Duration = .milliseconds(10),
    keepalive: Duration = .seconds(5)
  ) -> Liveness {
    var liveness = liveness(switching, keepalive: keepalive)
    _ = liveness.step(.answered(roundTrip: roundTrip), at: start)
    return liveness
  }

  /// Ticks at every deadline until the peer is declared dead; each action and its time since the
  /// start.
  private func timeline(_ liveness: Liveness) -> [(Duration, Liveness.Action)] {
    var liveness = liveness
    var seen: [(Duration, Liveness.Action)] = []
    while let deadline = liveness.deadline {
      seen += liveness.step(.tick, at: deadline).map { (deadline - start, $0) }
    }
    return seen
  }

  @Test(arguments: [
    (LivenessPolicy.SwitchingCost.free, Duration.milliseconds(10), 250, 2_500),
    (.free, .milliseconds(100), 400, 2_500), (.free, .milliseconds(500), 2_000, 4_000),
    (.costly, .milliseconds(10), 250, 60_000), (.costly, .seconds(20), 60_000, 60_000),
  ])
  func aDeadPeerIsProbedSuspectedAndDeclaredDead(
    switching: LivenessPolicy.SwitchingCost, roundTrip: Duration, suspicion: Int, dead: Int
  ) {
    let seen = timeline(measured(switching, roundTrip: roundTrip))
    let after = { (milliseconds: Int) in Duration.seconds(5) + .milliseconds(milliseconds) }
    let steps = seen.map { $0.0 - .nanoseconds(1) }
    #expect(steps == [.seconds(5), after(suspicion), after(dead)])
    #expect(seen.map(\.1).first == .sendProbe(within: .milliseconds(dead)))
    #expect(seen.map(\.1)[1] == .suspect(silentFor: after(suspicion)))
    guard case .dead(let silent) = seen.last?.1 else {
      Issue.record("not declared dead")
      return
    }
    #expect(silent == after(dead))
  }

  @Test func aShortKeepaliveStillGivesTheProbeHalfASecond() {
    let seen = timeline(measured(.free, keepalive: .milliseconds(200)))
    #expect(seen.last?.0 == .milliseconds(700) + .nanoseconds(1))
  }

  @Test func receivedBytesPutTheProbeOff() {
    var liveness = measured(.free)
    _ = liveness.step(.heard(start + .seconds(4)), at: start + .seconds(4))
    #expect(liveness.step(.tick, at: start + .seconds(6)).isEmpty)
    #expect(liveness.deadline == start + .seconds(9))
  }

  /// A look at each deadline finds bytes of 5 ms before, `count` times; returns when the last came.
  private func stream(_ count: Int, to liveness: inout Liveness) -> ContinuousClock.Instant {
    var heard = start
    for _ in 0..<count {
      guard let now = liveness.deadline else { break }
      heard = now - .milliseconds(5)
      #expect(liveness.step(.heard(heard), at: now).isEmpty)
      #expect(liveness.step(.tick, at: now).isEmpty)
    }
    return heard
  }

  @Test(arguments: [
    (Duration.seconds(5), Duration.milliseconds(1_250)), (.seconds(1), .milliseconds(250)),
    (.milliseconds(600), .milliseconds(250)), (.milliseconds(200), .milliseconds(200)),
  ])
  func aSteadyStreamThatStopsIsProbedSooner(keepalive: Duration, silence: Duration) {
    var liveness = measured(.free, keepalive: keepalive)
    let heard = stream(3, to: &liveness)
    #expect(liveness.deadline == heard + silence)
    #expect(
      liveness.step(.tick, at: heard + silence) == [
        .sendProbe(within: max(keepalive / 2, .milliseconds(500)))
      ])
  }

  /// A second login would be too soon for a stall of a second.
  @Test func aShellThatPrintsSteadilyIsProbedAsAnyOther() {
    var liveness = measured(.costly)
    let heard = stream(4, to: &liveness)
    #expect(liveness.deadline == heard + .seconds(5))
  }

  @Test func theFirstLooksAreSoon() {
    var liveness = measured(.free)
    #expect(stream(2, to: &liveness) < start + .milliseconds(2_500))
  }

  @Test(arguments: [0, 1])
  func aFewBytesAreNoSteadyStream(looks: Int) {
    var liveness = measured(.free)
    let heard = max(stream(looks, to: &liveness), start + .nanoseconds(1))
    #expect(liveness.step(.tick, at: heard + .milliseconds(1_250)).isEmpty)
    #expect(liveness.deadline == heard + .seconds(5))
    #expect(liveness.step(.tick, at: heard + .seconds(5)).count == 1)
  }

  @Test func bytesOfLongerAgoEndASteadyStream() {
    var liveness = measured(.free)
    let heard = stream(4, to: &liveness)
    let last = heard + .milliseconds(10)
    #expect(liveness.step(.heard(last), at: last + .seconds(2)).isEmpty)
    #expect(liveness.step(.tick, at: last + .seconds(2)).isEmpty)
    #expect(liveness.deadline == last + .seconds(5))
  }

  @Test func theAnswerToAProbeIsNoStream() {
    var liveness = measured(.free)
    let probed = stream(4, to: &liveness) + .milliseconds(1_250)
    #expect(liveness.step(.tick, at: probed).count == 1)
    let answered = probed + .milliseconds(10)
    _ = liveness.step(.heard(answered - .milliseconds(1)), at: answered)
    _ = liveness.step(.answered(roundTrip: .milliseconds(10)), at: answered)
    // A look whether it goes on; it does not.
    #expect(liveness.deadline == answered + .milliseconds(1_250))
    #expect(liveness.step(.tick, at: answered + .milliseconds(1_250)).isEmpty)
    #expect(liveness.deadline == answered + .seconds(5))
    _ = liveness.step(.tick, at: answered + .seconds(5))
    let again = answered + .seconds(5) + .milliseconds(10)
    _ = liveness.step(.answered(roundTrip: .milliseconds(10)), at: again)
    #expect(liveness.deadline == again + .seconds(5))
  }

  @Test func anAnswerBeforeTheSuspicionIsSilent() {
    var liveness = measured(.free)
    let probed = start + .seconds(6)
    #expect(!liveness.step(.tick, at: probed).isEmpty)
    #expect(liveness.step(.answered(roundTrip: .milliseconds(12)), at: probed).isEmpty)
    #expect(liveness.deadline == probed + .seconds(5))
  }

  @Test(arguments: [LivenessPolicy.SwitchingCost.free, .costly])
  func aPeerThatAnswersBeforeItIsDeclaredDeadStays(switching: LivenessPolicy.SwitchingCost) {
    var liveness = measured(switching)
    let probed = start + .seconds(6)
    _ = liveness.step(.tick, at: probed)
    #expect(liveness.step(.tick, at: probed + .milliseconds(260)).count == 1)
    #expect(liveness.isSuspecting)
    let heard = probed + .milliseconds(400)
    #expect(liveness.step(.heard(heard), at: heard) == [.clear])
    #expect(!liveness.isSuspecting)
    #expect(liveness.deadline == heard + .seconds(5))
  }

  @Test func bytesFromBeforeTheProbeAreNoAnswer() {
    var liveness = measured(.free)
    let probed = start + .seconds(6)
    _ = liveness.step(.tick, at: probed)
    #expect(liveness.step(.heard(probed - .seconds(1)), at: probed).isEmpty)
    #expect(liveness.step(.tick, at: probed + .milliseconds(260)).count == 1)
  }

  @Test func ourOwnLagPausesTheEvaluation() {
    var liveness = measured(.free)
    let probed = start + .seconds(6)
    _ = liveness.step(.tick, at: probed)
    #expect(liveness.step(.tick, at: probed + .seconds(9)).isEmpty)
    #expect(liveness.deadline == probed + .seconds(9))
    #expect(liveness.step(.tick, at: probed + .seconds(9)).count == 1)
    let dead = probed + .seconds(9) + .milliseconds(2_250)
    #expect(liveness.deadline == dead)
    // Once: what had come by now was read before.
    #expect(liveness.step(.tick, at: dead + .seconds(3)).count == 1)
  }

  @Test func aDisturbanceProbesAQuietPeerAtOnce() {
    var liveness = measured(.costly)
    let woken = start + .seconds(1)
    #expect(
      liveness.step(.disturbed, at: woken) == [.sendProbe(within: .seconds(60))])
    #expect(liveness.deadline == woken + .milliseconds(250))
  }

  /// One every half minute for an hour used to delay the end for an hour.
  @Test func aDisturbanceProbesAgainAndDoesNotDelayTheEnd() {
    var liveness = measured(.costly)
    let probed = start + .seconds(6)
    _ = liveness.step(.tick, at: probed)
    // Just probed: the answer may be on its way.
    #expect(liveness.step(.disturbed, at: probed + .milliseconds(100)).isEmpty)
    #expect(liveness.deadline == probed + .milliseconds(250))
    _ = liveness.step(.tick, at: probed + .milliseconds(250))
    for second in [10, 30, 50] {
      #expect(liveness.step(.disturbed, at: probed + .seconds(second)).count == 1)
      #expect(liveness.deadline == probed + .seconds(60))
    }
    let dead = probed + .seconds(60)
    #expect(liveness.step(.tick, at: dead).count == 1)
    #expect(liveness.deadline == nil)
  }

  @Test func sleepIsNoPartOfTheTimeFromProbeToEnd() {
    var liveness = measured(.costly)
    let probed = start + .seconds(6)
    _ = liveness.step(.tick, at: probed)
    _ = liveness.step(.tick, at: probed + .milliseconds(250))
    let woken = probed + .seconds(3_640)
    #expect(liveness.step(.slept(.seconds(3_600)), at: woken).count == 1)
    #expect(liveness.deadline == probed + .seconds(3_660))
    // More than there was: never into the future.
    _ = liveness.step(.slept(.seconds(7_200)), at: woken + .seconds(1))
    #expect(liveness.deadline == woken + .seconds(61))
  }

  private func observed(
    _ liveness: inout Liveness, _ acknowledged: UInt64 = 0, isPaused: Bool = false,
    after time: Duration
  ) -> [Liveness.Action] {
    let traffic = TrafficState(isPaused: isPaused, acknowledged: acknowledged)
    return liveness.step(.observed(traffic), at: start + time)
  }

  @Test func whileTheConnectionDoesNotReadNoProbeIsSentAndNoPeerIsDeclaredDead() {
    var liveness = measured(.free)
    for second in stride(from: 5, through: 7_200, by: 5) {
      #expect(observed(&liveness, isPaused: true, after: .seconds(second)).isEmpty)
      #expect(liveness.step(.tick, at: start + .seconds(second)).isEmpty)
      #expect(liveness.step(.disturbed, at: start + .seconds(second)).isEmpty)
      #expect(liveness.deadline == start + .seconds(second + 5))
      #expect(liveness.isQuiet)
    }
    // It reads again: the question is put at once, and its time begins now.
    let again = Duration.seconds(7_205)
    #expect(observed(&liveness, after: again) == [.sendProbe(within: .milliseconds(2_500))])
    #expect(liveness.deadline == start + again + .milliseconds(250))
  }

  @Test func aSuspicionIsTakenBackWhenTheConnectionStopsReading() {
    var liveness = measured(.free)
    _ = liveness.step(.tick, at: start + .seconds(6))
    _ = liveness.step(.tick, at: start + .milliseconds(6_250))
    #expect(observed(&liveness, isPaused: true, after: .seconds(7)) == [.clear])
    #expect(!liveness.isSuspecting)
  }

  /// Bytes acknowledged in a quarter of a second after a probe → whether they are a sign of life.
  @Test(arguments: [
    (UInt64(0), false), (100, false), (511, false), (512, true), (25_000, true),
  ])
  func manyAcknowledgedBytesAreLifeAndThoseOfAProbeAreNot(bytes: UInt64, isLife: Bool) {
    var liveness = measured(.free)
    _ = observed(&liveness, 1_000, after: .seconds(6))
    _ = liveness.step(.tick, at: start + .seconds(6))
    #expect(observed(&liveness, 1_000 + bytes, after: .milliseconds(6_250)).isEmpty)
    #expect(liveness.isQuiet == isLife)
    let suspects = liveness.step(.tick, at: start + .milliseconds(6_250)).count == 1
    #expect(suspects != isLife)
  }

  @Test func aTransferThatStallsAndGoesOnClearsTheSuspicion() {
    var liveness = measured(.free)
    _ = observed(&liveness, 1_000, after: .seconds(6))
    _ = liveness.step(.tick, at: start + .seconds(6))
    _ = observed(&liveness, 1_000, after: .milliseconds(6_250))
    _ = liveness.step(.tick, at: start + .milliseconds(6_250))
    #expect(liveness.isSuspecting)
    #expect(observed(&liveness, 9_000, after: .milliseconds(6_500)) == [.clear])
    #expect(liveness.deadline == start + .milliseconds(6_500) + .seconds(5))
  }

  @Test func theRoundTripIsSmoothed() {
    var liveness = measured(.free, roundTrip: .milliseconds(100))
    _ = liveness.step(.answered(roundTrip: .milliseconds(900)), at: start + .seconds(1))
    #expect(liveness.roundTrip == .milliseconds(200))
  }

  @Test func afterThePeerIsDeclaredDeadNothingHappens() {
    var liveness = measured(.free)
    while let deadline = liveness.deadline { _ = liveness.step(.tick, at: deadline) }
    let later = start + .seconds(100)
    for event in [
      Liveness.Event.tick, .heard(later), .disturbed, .slept(.seconds(1)),
      .observed(TrafficState(isPaused: true)), .observed(TrafficState(acknowledged: 9_999)),
    ] {
      #expect(liveness.step(event, at: later).isEmpty)
    }
  }
}

@Suite struct FleetTests {
  /// Milliseconds since the origin: an end of silence, and when its probe goes out where the
  /// keepalive is five seconds.
  @Test(arguments: [(5_000, 5_000), (5_001, 5_100), (5_099, 5_100), (5_101, 5_200), (-3, -3)])
  func probesOfAFleetShareTheirTimes(milliseconds: Int, shared: Int) {
    let origin = ContinuousClock.now
    let policy = LivenessPolicy(keepalive: .seconds(5))
    let deadline = origin + .milliseconds(milliseconds)
    #expect(policy.shared(deadline, since: origin) == origin + .milliseconds(shared))
  }

  @Test func whoNeverProbesSharesNothing() {
    let origin = ContinuousClock.now
    let deadline = origin + .milliseconds(7)
    #expect(LivenessPolicy(keepalive: .zero).shared(deadline, since: origin) == deadline)
  }
}

@Suite struct SuspensionWatchTests {
  @Test(arguments: [(0, false), (400, false), (501, true), (3_600_000, true)])
  func onlyARealSleepCounts(milliseconds: Int, isSleep: Bool) {
    var watch = SuspensionWatch(suspended: .seconds(7))
    let slept = watch.check(suspended: .seconds(7) + .milliseconds(milliseconds))
    #expect(slept == (isSleep ? .milliseconds(milliseconds) : nil))
    #expect(watch.check(suspended: .seconds(7) + .milliseconds(milliseconds)) == nil)
  }

  @Test func thisMachineDidNotSleepMeanwhile() {
    var watch = SuspensionWatch(suspended: SuspensionWatch.systemSuspension())
    #expect(watch.check(suspended: SuspensionWatch.systemSuspension()) == nil)
  }

  /// An application that keeps the executor busy makes each wake-up late; a dead peer is dead.
  @Test(arguments: [LivenessPolicy.SwitchingCost.free, .costly])
  func aProbeIsExcusedOnceHoweverOftenWeAreLate(switching: LivenessPolicy.SwitchingCost) {
    let policy = LivenessPolicy(
      keepalive: .seconds(1), switching: switching, deadAfter: .seconds(3))
    let start = ContinuousClock.now
    var (now, actions) = (start, [Liveness.Action]())
    var liveness = Liveness(policy: policy, at: start)
    while let deadline = liveness.deadline, now - start < .seconds(600) {
      now = max(deadline, now) + .milliseconds(300)
      actions += liveness.step(.tick, at: now)
    }
    let isDead = actions.contains { if case .dead = $0 { true } else { false } }
    #expect(isDead && now - start < .seconds(10), "\(now - start)")
    let isExcused = actions.count { if case .sendProbe = $0 { true } else { false } } == 1
    #expect(isExcused)
  }
}
