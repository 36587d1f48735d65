import BridgeErrors
import BridgeRecovery
import Testing

/// What is left of the wait of each entry's plan.
@Suite struct CountdownTests {
  private let start = Moment.now
  private var queue = SeverityQueue(seed: 1)

  private mutating func push(_ source: String, _ error: AppError = .agentBusy, wait: Duration?) {
    let plan = RecoveryPlan(next: .reconnect, at: wait)
    queue.push(SeverityQueue.Report(error: error, source: source, plan: plan), at: start)
  }

  private func times(after wait: Duration) -> [Duration?] {
    queue.presented(at: start + wait).map { $0.plan?.at }
  }

  /// How long after `wait` the next change is due.
  private func next(after wait: Duration) -> Duration? {
    queue.nextCountdown(after: start + wait).map { $0 - (start + wait) }
  }

  @Test(arguments: [
    (0, 3, 500), (499, 3, 1), (500, 2, 1_000), (1_400, 2, 100), (1_500, 1, 1_000), (2_499, 1, 1),
    (2_500, 0, nil), (9_000, 0, nil),
  ])
  mutating func aWaitIsRoundedUpToWholeSeconds(after: Int, left: Int, change: Int?) {
    push("a", wait: .milliseconds(2_500))
    #expect(times(after: .milliseconds(after)) == [.seconds(left)])
    #expect(next(after: .milliseconds(after)) == change.map { .milliseconds($0) })
  }

  @Test mutating func theNextChangeIsThatOfTheFirstCountdown() {
    push("a", wait: .milliseconds(2_500))
    push("b", .internalError(detail: "d"), wait: .milliseconds(1_200))
    push("c", wait: nil)
    #expect(times(after: .zero) == [.seconds(2), .seconds(3), nil], "most severe first")
    #expect(next(after: .zero) == .milliseconds(200))
    #expect(next(after: .milliseconds(1_200)) == .milliseconds(300))
  }

  @Test mutating func aFailedOptionDoesNotBeginTheWaitAgain() throws {
    push("a", wait: .seconds(10))
    let id = try #require(queue.shown?.id)
    queue.recoveryFailed(id, with: .fileNotFound(path: "/a"), at: start + .seconds(4))
    #expect(times(after: .seconds(4)) == [.seconds(6)])
    #expect(times(after: .seconds(7)) == [.seconds(3)])
  }

  @Test mutating func aNewPlanBeginsItsOwnWait() {
    push("a", wait: .seconds(10))
    let plan = RecoveryPlan(next: .reconnect, at: .seconds(5))
    let again = SeverityQueue.Report(error: .agentBusy, source: "a", plan: plan)
    queue.push(again, at: start + .seconds(9))
    #expect(times(after: .seconds(9)) == [.seconds(5)])
    #expect(times(after: .seconds(12)) == [.seconds(2)])
  }
}
