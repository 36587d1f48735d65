import BridgeErrors
import BridgeRecovery
import Testing

@testable import BridgeMetrics

/// Times are in milliseconds from the beginning.
@Suite("Events say how long each part of a recovery took") struct RecoveryCourseTests {
  private let start = Moment.now

  private func at(_ time: Int) -> Moment { start + .milliseconds(time) }

  private func event(
    _ time: Int, _ step: RecoveryEvent.Step, of link: String? = "a", _ generation: Int? = nil
  ) -> RecoveryEvent {
    RecoveryEvent(at: at(time), source: link, generation: generation, step: step)
  }

  private func failure(_ kind: FailureKind) -> ConnectionError {
    ConnectionError(
      .networkUnavailable, context: FailureContext(kind: kind, phase: .dial, host: "secret"))
  }

  private func facts(_ events: [RecoveryEvent]) -> [RecoveryFact] {
    var course = RecoveryCourse()
    return events.flatMap { course.see($0) }
  }

  /// A link that has come up with its first dial.
  private var up: [RecoveryEvent] {
    [
      event(0, .attempted(number: 1, isStandby: false), 1), event(0, .entered(.dial), 1),
      event(10, .entered(.authenticate), 1),
      event(30, .recovered(after: .milliseconds(30), attempts: 1, isFirst: true), 1),
    ]
  }

  @Test func aFirstConnectionHasPhasesAndNoRecovery() {
    #expect(
      facts(up) == [
        .outageBegan(isFirst: true, at: at(0)),
        .dialBegan(generation: 1, isStandby: false, at: at(0)),
        .phase(.dial, generation: 1, from: at(0), to: at(10)),
        .phase(.authenticate, generation: 1, from: at(10), to: at(30)),
        .dialEnded(generation: 1, .connected, at: at(30)),
        .outageEnded(isFirst: true, .connected, from: at(0), at: at(30)), .linksUp(1),
      ])
  }

  @Test func anOutageCountsFromTheLastByte() {
    let outage = [
      event(700, .suspected(silentFor: .milliseconds(200)), 1),
      event(1000, .failed(failure(.linkSilent)), 1),
      event(1250, .attempted(number: 1, isStandby: false), 2), event(1250, .entered(.dial), 2),
      event(1300, .failed(failure(.refused)), 2),
      event(1400, .attempted(number: 2, isStandby: false), 3),
      event(1400, .recovered(after: .milliseconds(900), attempts: 2, isFirst: false), 3),
    ]
    #expect(
      facts(up + outage).dropFirst(7) == [
        .lost(.failed("linkSilent")), .outageBegan(isFirst: false, at: at(500)),
        .stretch(.detect, from: at(500), to: at(1000)), .linksUp(0),
        .stretch(.wait, from: at(1000), to: at(1250)),
        .dialBegan(generation: 2, isStandby: false, at: at(1250)),
        .phase(.dial, generation: 2, from: at(1250), to: at(1300)),
        .dialEnded(generation: 2, .failed("refused"), at: at(1300)),
        .stretch(.wait, from: at(1300), to: at(1400)),
        .dialBegan(generation: 3, isStandby: false, at: at(1400)),
        .dialEnded(generation: 3, .connected, at: at(1400)),
        .outageEnded(isFirst: false, .connected, from: at(500), at: at(1400)), .linksUp(1),
      ])
  }

  @Test func aSuspicionThatWasWrongIsNoOutage() {
    let suspicion = [
      event(700, .suspected(silentFor: .milliseconds(200)), 1),
      event(700, .attempted(number: 1, isStandby: true), 2), event(700, .entered(.dial), 2),
      event(800, .cleared, 1), event(900, .failed(failure(.linkLost)), 1),
    ]
    #expect(
      facts(up + suspicion).dropFirst(7) == [
        .dialBegan(generation: 2, isStandby: true, at: at(700)),
        .phase(.dial, generation: 2, from: at(700), to: at(800)),
        .dialEnded(generation: 2, .withdrawn, at: at(800)), .lost(.failed("linkLost")),
        .outageBegan(isFirst: false, at: at(900)), .linksUp(0),
      ])
  }

  /// It may have been ready for long: its last phase is not measured.
  @Test func aStandbyThatTakesOverEndsTheOutageWithoutAWait() {
    let switching = [
      event(700, .suspected(silentFor: .milliseconds(200)), 1),
      event(700, .attempted(number: 1, isStandby: true), 2), event(700, .entered(.dial), 2),
      event(1000, .failed(failure(.linkSilent)), 1), event(1000, .switched, 2),
      event(1000, .recovered(after: .milliseconds(500), attempts: 1, isFirst: false), 2),
    ]
    #expect(
      facts(up + switching).dropFirst(8) == [
        .lost(.failed("linkSilent")), .outageBegan(isFirst: false, at: at(500)),
        .stretch(.detect, from: at(500), to: at(1000)), .linksUp(0),
        .dialEnded(generation: 2, .connected, at: at(1000)),
        .outageEnded(isFirst: false, .connected, from: at(500), at: at(1000)), .linksUp(1),
      ])
  }

  /// The time in which its parent was down is not its own.
  @Test func aLinkThatWaitsForItsParentWaitsForNoAttempt() {
    let suspended = [
      event(100, .suspended(by: ConnectionID("parent"))), event(500, .resumed),
      event(510, .attempted(number: 1, isStandby: false), 2),
    ]
    #expect(
      facts(up + suspended).dropFirst(7) == [
        .outageBegan(isFirst: false, at: at(100)), .linksUp(0),
        .stretch(.wait, from: at(500), to: at(510)),
        .dialBegan(generation: 2, isStandby: false, at: at(510)),
      ])
    let waiting = [
      event(100, .failed(failure(.linkLost)), 1),
      event(200, .suspended(by: ConnectionID("parent"))), event(900, .closed),
    ]
    #expect(
      !facts(up + waiting).contains(.stretch(.wait, from: at(100), to: at(900))))
  }

  @Test func aLinkThatGivesUpOrIsClosedIsOfNoUseWithoutARecovery() {
    let dial = [event(0, .attempted(number: 1, isStandby: false), 1)]
    let plan = RecoveryPlan(next: .giveUp)
    let end = [
      event(10, .failed(failure(.hostKeyChanged)), 1),
      event(10, .gaveUp(failure(.hostKeyChanged), plan)),
    ]
    #expect(
      facts(dial + end).dropFirst(2) == [
        .dialEnded(generation: 1, .failed("hostKeyChanged"), at: at(10)),
        .outageEnded(isFirst: true, .failed("hostKeyChanged"), from: at(0), at: at(10)),
      ])
    #expect(
      facts(dial + [event(10, .closed)]).dropFirst(2) == [
        .dialEnded(generation: 1, .withdrawn, at: at(10)),
        .outageEnded(isFirst: true, .withdrawn, from: at(0), at: at(10)),
      ])
  }

  /// What ended meanwhile is not known: a phase that began before them would be too long.
  @Test func afterMissedEventsNothingIsMeasuredThatBeganBefore() {
    let missed = [
      event(0, .attempted(number: 1, isStandby: false), 1), event(0, .entered(.dial), 1),
      event(10, .missed(count: 7), of: nil),
      event(90, .recovered(after: .milliseconds(90), attempts: 1, isFirst: true), 1),
    ]
    #expect(facts(missed).dropFirst(2) == [.missed(7), .linksUp(1)])
  }

  @Test func aLinkThatWasUpBeforeMissedEventsIsStillCounted() {
    let later = [
      event(40, .missed(count: 7), of: nil),
      event(90, .recovered(after: .milliseconds(9), attempts: 1, isFirst: true), of: "b", 1),
      event(95, .closed),
    ]
    #expect(facts(up + later).suffix(3) == [.missed(7), .linksUp(2), .linksUp(1)])
  }

  /// HTTP statuses, hosts and texts have no bound; labels have.
  @Test func anOutcomeIsOneOfFewWords() {
    let words = FailureKind.allCases.map { RecoveryFact.Outcome(failure($0)).word }
    #expect(words.allSatisfy { $0.allSatisfy { $0.isLetter || $0 == "." } })
    #expect(words.contains("refusedUpgrade") && words.contains("tls.expired"))
    let statuses = (100..<600).map {
      RecoveryFact.Outcome(failure(.refusedUpgrade(status: $0))).word
    }
    #expect(Set(statuses) == ["refusedUpgrade"])
    #expect(RecoveryFact.Outcome(ConnectionError(.dnsError(host: "secret"))).word == "dnsError")
  }

  @Test func anOperationThatIsTriedAgainIsNoDial() {
    let facts = facts([
      event(0, .failed(ConnectionError(.agentBusy))),
      event(5, .attempted(number: 2, isStandby: false)),
    ])
    #expect(facts == [.notDialed(.failed("agentBusy")), .retried])
  }

  @Test func whatIsOverIsForgotten() {
    var course = RecoveryCourse()
    for number in 0..<100 {
      _ = course.see(event(0, .failed(ConnectionError(.agentBusy)), of: "operation \(number)"))
    }
    for event in up + [event(50, .closed)] { _ = course.see(event) }
    #expect(course.count == 0)
  }
}
