import BridgeErrors
import BridgeRecovery
import Testing

@Suite struct SeverityQueueTimeTests {
  private var queue = SeverityQueue()
  private let start = Moment.now
  private static let error = AppError.sshConnectionFailed(host: "h", reason: "r")

  @Test mutating func whatMayBeOverInAMomentIsHeldBack() {
    queue.push(.init(error: Self.error, source: "a", settles: true), at: start)
    #expect(queue.shown == nil)
    #expect(queue.deadline == start + .milliseconds(250))
    queue.advance(to: start + .milliseconds(249))
    #expect(queue.shown == nil)
    queue.advance(to: start + .milliseconds(250))
    #expect(queue.shown?.error == Self.error)
    #expect(queue.deadline == nil)
  }

  @Test mutating func whatIsResolvedInTheWindowIsNeverShown() {
    queue.push(.init(error: Self.error, source: "a", settles: true), at: start)
    queue.resolve(source: "a")
    queue.advance(to: start + .seconds(1))
    #expect(queue.shown == nil)
    #expect(queue.count == 0)
  }

  @Test mutating func theCriticalAndTheFinalAreNotHeldBack() {
    queue.push(.init(error: .internalError(detail: "d"), settles: true), at: start)
    #expect(queue.shown != nil)
    queue.dismiss()
    queue.push(Self.report(of: "a", settles: true), at: start)
    queue.recoveryFailed(Self.report(.sshHostKeyMismatch(host: "h"), of: "a"), at: start)
    #expect(queue.shown?.error == .sshHostKeyMismatch(host: "h"))
  }

  private static let automatic = RecoveryPlan(next: .reconnect)

  /// The state of a link.
  private static func report(
    _ error: AppError = error, of link: ConnectionID, plan: RecoveryPlan? = nil,
    settles: Bool = false
  ) -> SeverityQueue.Report {
    var report = SeverityQueue.Report(
      error: error, source: link.description, plan: plan, settles: settles)
    report.link = link
    return report
  }

  @Test mutating func echoesThatCameFirstJoinTheRootWhenItIsKnown() {
    for link in ["one", "two"] as [ConnectionID] {
      queue.push(Self.report(of: link, plan: Self.automatic, settles: true), at: start)
    }
    queue.push(Self.report(of: "parent"))
    queue.inhibit(["one", "two"], under: "parent")
    queue.advance(to: start + .seconds(1))
    #expect(queue.shown?.source == "parent")
    #expect(queue.shown?.count == 3)
    #expect(queue.waiting.isEmpty)
  }

  @Test(arguments: [RecoveryPlan(next: .askPerson), RecoveryPlan(next: .giveUp), nil])
  mutating func whatWaitsForAPersonIsNoEcho(plan: RecoveryPlan?) {
    queue.push(Self.report(of: "child", plan: plan), at: start)
    queue.push(Self.report(of: "parent"))
    queue.inhibit(["child"], under: "parent")
    #expect(queue.shown?.source == "child")
    #expect(queue.waiting.map(\.source) == ["parent"])
  }

  @Test mutating func withoutItsRootAnEchoIsShown() {
    queue.push(Self.report(of: "child", plan: Self.automatic), at: start)
    queue.inhibit(["child"], under: "parent")
    #expect(queue.shown?.source == "child")
  }

  @Test mutating func whatWaitsLongEnoughRisesButNotAmongTheCritical() {
    queue.push(.init(error: Self.error), at: start)
    queue.push(.init(error: .agentBusy), at: start)
    queue.push(.init(error: .networkUnavailable), at: start + .seconds(1))
    #expect(queue.deadline == start + .seconds(60))
    queue.advance(to: start + .seconds(60))
    #expect(queue.waiting.map(\.error) == [.networkUnavailable, .agentBusy])
    queue.advance(to: start + .seconds(200))
    queue.push(.init(error: .timeout(seconds: 1)), at: start + .seconds(200))
    #expect(
      queue.waiting.map(\.error) == [.networkUnavailable, .agentBusy, .timeout(seconds: 1)])
    #expect(queue.deadline == nil)
  }
}
