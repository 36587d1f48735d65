import BridgeCommands
import BridgeErrors
import BridgeRecovery
import Testing

/// What a run does about each step of its links.
@Suite struct LinkFactsTests {
  private static let refused = AppError.sshConnectionFailed(host: "h", reason: "Refused.")
  private static let failed = RecoveryEvent.Step.failed(ConnectionError(refused))
  private static let failure = CommandFailure(error: refused)

  private static func recovered(isFirst: Bool) -> RecoveryEvent.Step {
    .recovered(after: .milliseconds(35), attempts: 1, isFirst: isFirst)
  }

  /// Up for the first time.
  private static var up: LinkFacts {
    var facts = LinkFacts()
    _ = facts.see(recovered(isFirst: true), of: .host)
    return facts
  }

  @Test(
    arguments: [
      (.attempted(number: 1, isStandby: false), []),
      (.attempted(number: 2, isStandby: false), [.countReconnect]),
      (.attempted(number: 1, isStandby: true), [.countReconnect]),
      (.entered(.keyExchange), [.show(.keyExchange)]),
      (recovered(isFirst: true), [.settle]),
      (.becameHealthy, []),
      (failed, [.count(refused)]),
      (.suspected(silentFor: .seconds(9)), [.hold(true)]),
      (.cleared, [.hold(false)]),
      (.gaveUp(ConnectionError(refused), RecoveryPlan(next: .giveUp)), [.giveUp(failure)]),
      (.closed, []),
    ] as [(RecoveryEvent.Step, [LinkFacts.Action])])
  func aStepOfTheLinkIsShownAndPassedToTheWork(
    step: RecoveryEvent.Step, first: [LinkFacts.Action]
  ) {
    var facts = LinkFacts()
    let actions = facts.see(step, of: .host)
    #expect(Array(actions.prefix(first.count)) == first)
    #expect(actions.dropFirst(first.count).prefix(2) == [.view, .work])
  }

  @Test(
    arguments: [
      (.attempted(number: 1, isStandby: false), [.countReconnect]), (.entered(.dial), []),
    ] as [(RecoveryEvent.Step, [LinkFacts.Action])])
  func onceItWasUpADialIsAReconnect(step: RecoveryEvent.Step, first: [LinkFacts.Action]) {
    var facts = Self.up
    #expect(facts.see(step, of: .host) == first + [.view, .work])
  }

  /// However late its suspicion was taken in: what is typed must not be kept back for good.
  @Test(arguments: [(LinkFacts.Place.host, true), (.hop, false), (.side, false)])
  func aLinkThatIsBackIsNotSuspected(place: LinkFacts.Place, isReleased: Bool) {
    var facts = Self.up
    _ = facts.see(.suspected(silentFor: .seconds(9)), of: place)
    let actions = facts.see(Self.recovered(isFirst: false), of: place)
    #expect(actions.contains(.hold(false)) == isReleased)
  }

  /// A link beside the one in use is dialed, lost and given up without a word to a person.
  @Test(
    arguments: [
      (.attempted(number: 1, isStandby: false), []),
      (.attempted(number: 2, isStandby: false), [.countReconnect]),
      (.entered(.dial), []), (recovered(isFirst: true), [.settle]), (failed, [.count(refused)]),
      (.suspected(silentFor: .seconds(9)), []), (.cleared, []),
      (.waiting(RecoveryPlan(next: .giveUp)), []),
      (.gaveUp(ConnectionError(refused), RecoveryPlan(next: .giveUp)), [.giveUp(failure)]),
    ] as [(RecoveryEvent.Step, [LinkFacts.Action])])
  func aLinkBesideItIsNoNews(step: RecoveryEvent.Step, actions: [LinkFacts.Action]) {
    var facts = Self.up
    #expect(facts.see(step, of: .side) == actions)
    #expect(facts.failures.isEmpty)
  }

  private static func ended(_ kind: FailureKind) -> RecoveryEvent.Step {
    .failed(
      ConnectionError(refused, context: FailureContext(kind: kind, phase: .stream, host: "h")))
  }

  /// A link that went silent says nothing of the sessions of forwards: ssh would wait, too.
  @Test(
    arguments: [
      (ended(.linkLost), true), (ended(.linkSilent), false), (ended(.refused), false),
      (.suspended(by: ConnectionID("hop")), false), (.switched, false), (.cleared, false),
      (recovered(isFirst: false), false),
    ] as [(RecoveryEvent.Step, Bool)])
  func theSessionsOfForwardsMayGoWithALinkThatIsCut(step: RecoveryEvent.Step, areLost: Bool) {
    var facts = Self.up
    #expect((facts.see(step, of: .host).last == .loseForwards) == areLost)
  }

  @Test(arguments: [true, false])
  func forwardsThatCouldNotBeHadAreTriedWhenTheLinkIsBack(isFirst: Bool) {
    var facts = Self.up
    #expect(facts.see(Self.recovered(isFirst: isFirst), of: .host).last == .retryForwards)
  }

  @Test(
    arguments: [
      (.attempted(number: 2, isStandby: false), [.countReconnect, .view]),
      (.entered(.authenticate), [.show(.authenticate), .view]),
      (recovered(isFirst: true), [.settle]),
      (failed, [.count(refused), .view]),
      (.suspended(by: ConnectionID("a")), [.view]),
      (.gaveUp(ConnectionError(refused), RecoveryPlan(next: .giveUp)), [.giveUp(failure), .view]),
      (.suspected(silentFor: .seconds(9)), []), (.cleared, []), (.switched, []), (.closed, []),
    ] as [(RecoveryEvent.Step, [LinkFacts.Action])])
  func aHostOnTheWayIsNoLinkOfTheWork(step: RecoveryEvent.Step, actions: [LinkFacts.Action]) {
    var facts = LinkFacts()
    #expect(facts.see(step, of: .hop) == actions)
    #expect(!facts.wasUp)
  }

  @Test func onlyAReconnectIsReported() {
    var facts = Self.up
    #expect(facts.back == nil)
    _ = facts.see(Self.recovered(isFirst: false), of: .host)
    #expect(facts.back == "The link is back after 35 ms (1 try).")
  }

  /// With ssh, too, the first way to the host is the only one; with `--wait` it is made again.
  @Test(arguments: [(false, false), (true, false), (false, true)])
  func aWayThatIsLostBeforeTheHostWasReachedIsTheEnd(retries: Bool, wasUp: Bool) {
    var facts = LinkFacts(retriesFirstDial: retries)
    _ = facts.see(Self.recovered(isFirst: true), of: .hop)
    if wasUp { _ = facts.see(Self.recovered(isFirst: true), of: .host) }
    _ = facts.see(Self.failed, of: .hop)
    let actions = facts.see(.classified(.reconnectSoon), of: .hop)
    #expect(actions.contains(.giveUp(Self.failure)) == (!retries && !wasUp))
    let ofHost = facts.see(.classified(.reconnectSoon), of: .host)
    #expect(!ofHost.contains(.giveUp(Self.failure)))
  }

  @Test func theTwoNewestFailuresAreKept() {
    var facts = LinkFacts()
    for number in 1...3 {
      let error = AppError.timeout(seconds: number)
      _ = facts.see(.failed(ConnectionError(error)), of: number == 2 ? .hop : .host)
    }
    #expect(facts.failures.map(\.error) == [.timeout(seconds: 2), .timeout(seconds: 3)])
  }

  @Test func aWaitThatIsOverEndsWithTheNewestFailure() {
    var facts = LinkFacts()
    let wait = { (facts: LinkFacts, isWebSocket: Bool) in
      facts.failure(ofWaiting: .milliseconds(1_200), isWebSocket: isWebSocket)
    }
    #expect(wait(facts, false)?.error == .sshTimeout(seconds: 2))
    #expect(wait(facts, true)?.error == .timeout(seconds: 2))
    _ = facts.see(Self.failed, of: .host)
    #expect(wait(facts, false) == Self.failure)
    _ = facts.see(Self.recovered(isFirst: true), of: .host)
    #expect(wait(facts, false) == nil, "it was up in time")
  }
}
