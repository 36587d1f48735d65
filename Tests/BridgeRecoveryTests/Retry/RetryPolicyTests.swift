import BridgeRecovery
import Testing

@Suite struct RetryPolicyTests {
  private var generator = SeededGenerator(seed: 7)
  private var progress = RetryProgress()

  @Test mutating func standardWaitsTwoFourEightAndGivesUp() {
    let delays = (1...5).map { _ in
      RetryPolicy.standard.next(&progress, pace: .normal, using: &generator)
    }
    #expect(delays == [.seconds(2), .seconds(4), .seconds(8), nil, nil])
    #expect(progress.retries == 3)
  }

  @Test mutating func standardIsTheSameWhileNothingAnswers() {
    let delays = (1...4).map { _ in
      RetryPolicy.standard.next(&progress, pace: .unanswered, using: &generator)
    }
    #expect(delays == [.seconds(2), .seconds(4), .seconds(8), nil])
  }

  @Test mutating func persistentStartsAtOnceAndOnlyOnce() {
    #expect(RetryPolicy.persistent.next(&progress, pace: .normal, using: &generator) == .zero)
    #expect(!progress.mayStartAtOnce)
    let rest = (0..<200).map { _ in
      RetryPolicy.persistent.next(&progress, pace: .normal, using: &generator)
    }
    #expect(rest.allSatisfy { $0.map { $0 <= .seconds(30) } == true })
    #expect(rest.count { $0 == .zero } < 3)
  }

  @Test mutating func persistentStaysUnderASecondWhileNothingAnswers() {
    for _ in 0..<300 {
      let delay = RetryPolicy.persistent.next(&progress, pace: .unanswered, using: &generator)
      #expect(delay.map { $0 <= .seconds(1) } == true)
    }
  }

  @Test mutating func refusalsDoNotLengthenTheNextOrdinaryDelay() {
    for _ in 0..<100 {
      _ = RetryPolicy.persistent.next(&progress, pace: .unanswered, using: &generator)
    }
    let delay = RetryPolicy.persistent.next(&progress, pace: .normal, using: &generator)
    #expect(delay.map { $0 <= .milliseconds(100) } == true)
  }

  @Test(arguments: [RetryPolicy.standard, .persistent])
  func aBusyServerIsLeftAloneForFifteenSeconds(policy: RetryPolicy) throws {
    var generator = SeededGenerator(seed: 8)
    var progress = RetryProgress()
    let first = try #require(policy.next(&progress, pace: .throttled, using: &generator))
    let second = try #require(policy.next(&progress, pace: .throttled, using: &generator))
    #expect(first >= .seconds(15) && first <= .seconds(19))
    #expect(second >= .seconds(30) && second <= .seconds(38))
  }

  @Test(arguments: [(1, 2), (7, 7), (10_000, 600)])
  func aDelayGivenByTheServerIsAFloorUpToACeiling(asked: Int, waited: Int) {
    var generator = SeededGenerator(seed: 9)
    var progress = RetryProgress()
    let delay = RetryPolicy.standard.next(
      &progress, pace: .normal, atLeast: .seconds(asked), using: &generator)
    #expect(delay == .seconds(waited))
  }

  @Test mutating func resetStartsOver() {
    for _ in 1...4 { _ = RetryPolicy.standard.next(&progress, pace: .normal, using: &generator) }
    progress.reset()
    #expect(RetryPolicy.standard.next(&progress, pace: .normal, using: &generator) == .seconds(2))
  }

  /// Its word takes the place of the 15 s that are assumed without it.
  @Test(arguments: [0, 1, 2, 14, 90, 599, 600, 86_400])
  func aServerThatSaysHowLongIsObeyed(seconds: Int) throws {
    var generator = SeededGenerator(seed: 7)
    let policy = RetryPolicy.persistent
    for _ in 0..<50 {
      var progress = RetryProgress()
      let delay = try #require(
        policy.next(
          &progress, pace: .throttled, atLeast: .seconds(seconds), using: &generator))
      let least = Duration.seconds(min(seconds, 600))
      #expect(delay >= least)
      #expect(delay <= min(max(least * 1.25, RecoveryDefaults.reconnectBase), .seconds(600)))
    }
  }

  /// A server that asks for nothing, again and again, is not stormed.
  @Test func aServerThatAsksForNoWaitIsDialedLaterEachTime() throws {
    var generator = SeededGenerator(seed: 7)
    var progress = RetryProgress()
    var total = Duration.zero
    for _ in 0..<12 {
      total += try #require(
        RetryPolicy.persistent.next(
          &progress, pace: .throttled, atLeast: .zero, using: &generator))
    }
    #expect(total > .seconds(10))
  }
}
