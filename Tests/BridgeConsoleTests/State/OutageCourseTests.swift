import BridgeErrors
import BridgeRecovery
import BridgeStore
import Testing

@testable import BridgeConsole

@Suite("Outages as they are kept") struct OutageCourseTests {
  private var course = OutageCourse()
  private let start = ContinuousClock.now
  private let lost = ConnectionError(.sshConnectionFailed(host: "h", reason: "cut"))

  private mutating func see(
    _ step: RecoveryEvent.Step, _ generation: Int? = nil, at time: Int
  ) -> [StoredOutage] {
    course.see(
      RecoveryEvent(
        at: start + .milliseconds(time), source: "chat", generation: generation, step: step),
      at: 10_000 + Int64(time))
  }

  private mutating func comeUp() -> [StoredOutage] {
    see(.attempted(number: 1, isStandby: false), 1, at: 0)
      + see(.entered(.dial), 1, at: 10)
      + see(.recovered(after: .seconds(1), attempts: 1, isFirst: true), 1, at: 20)
  }

  @Test mutating func theFirstConnectionEndsNoOutage() { #expect(comeUp().isEmpty) }

  /// The page was made after the link was up.
  @Test mutating func theLossOfALinkThatWasUpBeforeIsAnOutage() throws {
    let begun = try #require(see(.failed(lost), 3, at: 1000).first)
    #expect(begun.start == 11_000)
    _ = see(.attempted(number: 1, isStandby: false), 4, at: 1500)
    let ended = see(.recovered(after: .seconds(1), attempts: 1, isFirst: false), 4, at: 2000)
    #expect(ended.map(\.id) == [begun.id] && ended.first?.end == 12_000)
  }

  @Test mutating func anOutageHasItsPhasesInOrder() throws {
    _ = comeUp()
    #expect(see(.suspected(silentFor: .milliseconds(200)), 1, at: 1200).isEmpty)
    let begun = try #require(see(.failed(lost), 1, at: 1500).first)
    #expect(begun.link == "chat" && begun.start == 11_000 && begun.end == nil)
    _ = see(.attempted(number: 1, isStandby: false), 2, at: 2000)
    _ = see(.entered(.dial), 2, at: 2000)
    _ = see(.entered(.authenticate), 2, at: 2100)
    let ended = see(.recovered(after: .seconds(1), attempts: 1, isFirst: false), 2, at: 2400)
    let outage = try #require(ended.first)
    #expect(ended.count == 1 && outage.id == begun.id && outage.end == 12_400)
    #expect(outage.phases.map(\.name) == ["detect", "wait", "dial", "authenticate"])
    #expect(
      outage.phases.map(\.duration) == [
        .milliseconds(500), .milliseconds(500), .milliseconds(100), .milliseconds(300),
      ])
  }

  /// A standby dials beside the silence, and goes on as the next dial.
  @Test mutating func thePhasesOfAnOutageFitInIt() throws {
    _ = comeUp()
    _ = see(.suspected(silentFor: .milliseconds(1500)), 1, at: 2500)
    _ = see(.attempted(number: 1, isStandby: true), 2, at: 2500)
    _ = see(.entered(.dial), 2, at: 2500)
    _ = see(.entered(.banner), 2, at: 2600)
    _ = see(.failed(lost), 1, at: 4800)
    _ = see(.switched, 2, at: 4800)
    _ = see(.failed(lost), 2, at: 17_600)
    _ = see(.attempted(number: 2, isStandby: false), 3, at: 18_000)
    _ = see(.entered(.authenticate), 3, at: 18_000)
    let ended = see(.recovered(after: .seconds(1), attempts: 2, isFirst: false), 3, at: 21_200)
    let outage = try #require(ended.first)
    #expect(outage.start == 11_000 && outage.end == 31_200)
    #expect(outage.phases.map(\.name) == ["detect", "banner", "authenticate"])
    #expect(outage.phases.map(\.duration) == [3800, 12_800, 3200].map { .milliseconds($0) })
  }

  /// Those that a host of an older version has kept ran beside each other.
  @Test func whatIsShownOfPhasesFitsInTheOutage() {
    let phases = [("detect", 3800), ("banner", 15_000), ("authenticate", 3600), ("stream", 10)]
      .map { StoredOutage.Phase(name: $0.0, duration: .milliseconds($0.1)) }
    let kept = StoredOutage(id: "o", link: "chat", start: 1000, phases: phases, end: 21_200)
    let shown = ConsoleState.Outage(kept).phases
    #expect(shown.map(\.name) == ["detect", "banner", "authenticate"])
    #expect(shown.map(\.duration) == [3800, 15_000, 1400])
    // How long one is that goes on is not known.
    let open = StoredOutage(id: "o", link: "chat", start: 1000, phases: phases)
    #expect(ConsoleState.Outage(open).phases.count == 4)
  }

  /// A link that has given up is of no use: a person ends its outage.
  @Test mutating func anOutageLastsUntilTheLinkIsOfUseAgain() throws {
    _ = comeUp()
    let begun = try #require(see(.failed(lost), 1, at: 1000).first)
    #expect(see(.gaveUp(lost, RecoveryPlan(next: .askPerson)), at: 1500).isEmpty)
    #expect(see(.attempted(number: 1, isStandby: false), 2, at: 61_500).isEmpty)
    let ended = see(.recovered(after: .seconds(61), attempts: 2, isFirst: false), 2, at: 62_000)
    #expect(ended.map(\.id) == [begun.id] && ended.first?.end == 72_000)
    #expect(ended.first?.phases.map(\.duration) == [.milliseconds(500), .seconds(60)])
  }

  @Test mutating func theEndOfALinkThatGaveUpEndsItsOutage() throws {
    _ = comeUp()
    let begun = try #require(see(.failed(lost), 1, at: 1000).first)
    _ = see(.gaveUp(lost, RecoveryPlan(next: .askPerson)), at: 1500)
    let ended = see(.closed, at: 2000)
    #expect(ended.map(\.id) == [begun.id] && ended.first?.end == 12_000)
  }

  @Test mutating func theLastOnesOfALongOutageAreAddedUp() throws {
    _ = comeUp()
    _ = see(.failed(lost), 1, at: 1000)
    for number in 0..<200 {
      _ = see(.attempted(number: number, isStandby: false), number + 2, at: 2000 + 1000 * number)
      _ = see(.entered(.dial), number + 2, at: 2000 + 1000 * number)
      _ = see(.failed(lost), number + 2, at: 2500 + 1000 * number)
    }
    _ = see(.attempted(number: 200, isStandby: false), 300, at: 202_000)
    let ended = see(
      .recovered(after: .seconds(200), attempts: 201, isFirst: false), 300, at: 202_100)
    let outage = try #require(ended.first)
    #expect(outage.phases.count == OutageCourse.phaseLimit)
    let sum = outage.phases.reduce(Duration.zero) { $0 + $1.duration }
    #expect(sum == .milliseconds(201_000))
  }

  @Test mutating func whatWasMissedEndsWhatWasFollowed() {
    _ = comeUp()
    _ = see(.failed(lost), 1, at: 1000)
    _ = course.see(
      RecoveryEvent(at: start + .seconds(2), step: .missed(count: 3)), at: 12_000)
    _ = see(.attempted(number: 1, isStandby: false), 2, at: 2000)
    #expect(
      see(.recovered(after: .seconds(1), attempts: 1, isFirst: false), 2, at: 2400).isEmpty)
  }
}
