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
    queue.push(.init(error: Self.error, source: "a", settles: true), at: start)
    queue.recoveryFailed(
      .init(error: .sshHostKeyMismatch(host: "h"), source: "a"), at: start)
    #expect(queue.shown?.error == .sshHostKeyMismatch(host: "h"))
  }

  @Test mutating func anEchoBecomesACountOnItsRoot() {
    queue.push(Self.error, source: "parent")
    queue.push(.init(error: Self.error, source: "child", root: "parent"), at: start)
    #expect(queue.shown?.count == 2)
    #expect(queue.count == 1)
  }

  @Test mutating func echoesThatCameFirstJoinTheRootWhenItIsKnown() {
    queue.push(.init(error: Self.error, source: "one", settles: true), at: start)
    queue.push(.init(error: Self.error, source: "two", settles: true), at: start)
    queue.push(Self.error, source: "parent")
    queue.inhibit(["one", "two"], under: "parent")
    queue.advance(to: start + .seconds(1))
    #expect(queue.shown?.source == "parent")
    #expect(queue.shown?.count == 3)
    #expect(queue.waiting.isEmpty)
  }

  @Test mutating func withoutItsRootAnEchoIsShown() {
    queue.push(.init(error: Self.error, source: "child", root: "parent"), at: start)
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
