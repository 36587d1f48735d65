import Testing

@testable import BridgeReactor

/// A network that changes all the time must not keep a far host from being reached.
@Suite struct ChangePaceTests {
  private let start = ContinuousClock.now

  @Test func theFirstChangeIsReportedAtOnce() {
    #expect(ChangePace().delay(at: start) == .zero)
  }

  @Test func eachOneThatFollowsWaitsTwiceAsLong() {
    var pace = ChangePace()
    var now = start
    var delays: [Duration] = []
    for _ in 0..<8 {
      pace.report(at: now)
      let delay = pace.delay(at: now + .milliseconds(500)) + .milliseconds(500)
      delays.append(delay)
      now += delay
    }
    #expect(delays == [5, 10, 20, 40, 80, 160, 300, 300].map { .seconds($0) })
  }

  @Test func afterAQuietTimeItBeginsAgain() {
    var pace = ChangePace()
    pace.report(at: start)
    pace.report(at: start + .seconds(5))
    #expect(pace.delay(at: start + .seconds(5)) == .seconds(10))
    pace.report(at: start + .seconds(606))
    #expect(pace.delay(at: start + .seconds(606)) == .seconds(5))
  }
}
