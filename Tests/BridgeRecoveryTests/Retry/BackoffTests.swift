import BridgeRecovery
import Testing

@Suite struct BackoffTests {
  @Test func plainDelaysDoubleUntilTheCap() {
    let backoff = Backoff(base: .seconds(2), cap: .seconds(10))
    var generator = SeededGenerator(seed: 1)
    let delays = (1...5).map { backoff.delay(beforeRetry: $0, using: &generator) }
    #expect(delays == [2, 4, 8, 10, 10].map { Duration.seconds($0) })
  }

  @Test(arguments: [0, -3, 1_000, Int.max])
  func noRetryNumberOverflows(retry: Int) {
    let backoff = Backoff(base: .seconds(1), factor: 10, cap: .seconds(Int64.max), jitter: .full)
    var generator = SeededGenerator(seed: 2)
    #expect(backoff.delay(beforeRetry: retry, using: &generator) >= .zero)
  }

  @Test func negativeDurationsCountAsZero() {
    let backoff = Backoff(base: .seconds(-5), cap: .seconds(10), jitter: .full)
    var generator = SeededGenerator(seed: 3)
    #expect(backoff.delay(beforeRetry: 4, using: &generator) == .zero)
  }

  @Test func fullJitterFillsItsBandAndDoesNotBunchAtTheCap() {
    let backoff = Backoff(base: .milliseconds(100), cap: .seconds(30), jitter: .full)
    var generator = SeededGenerator(seed: 4)
    let delays = (0..<2_000).map { _ in backoff.delay(beforeRetry: 20, using: &generator) }
    #expect(delays.allSatisfy { $0 >= .zero && $0 <= .seconds(30) })
    #expect(delays.count { $0 < .seconds(15) } > 900)
    #expect(delays.count { $0 > .seconds(29) } < 100)
  }

  @Test func upwardJitterIsNeverShorterBelowTheCap() {
    var generator = SeededGenerator(seed: 5)
    for (retry, plain) in [(1, 15), (2, 30), (3, 60), (4, 120), (5, 240), (6, 480)] {
      for _ in 0..<200 {
        let delay = Backoff.throttled.delay(beforeRetry: retry, using: &generator)
        #expect(delay >= .seconds(plain) && delay <= min(.seconds(plain) * 1.25, .seconds(600)))
      }
    }
    let last = Backoff.throttled.delay(beforeRetry: 40, using: &generator)
    #expect(last >= .seconds(479) && last <= .seconds(600))
  }

  @Test func theSameSeedGivesTheSameDelays() {
    var one = SeededGenerator(seed: 6)
    var two = SeededGenerator(seed: 6)
    let backoff = Backoff(base: .milliseconds(100), cap: .seconds(30), jitter: .full)
    for retry in 1...50 {
      #expect(
        backoff.delay(beforeRetry: retry, using: &one)
          == backoff.delay(beforeRetry: retry, using: &two))
    }
  }
}
