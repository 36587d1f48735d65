import BridgeRecovery
import Testing

@Suite struct CircuitBreakerTests {
  private let start = Moment.now
  private var breaker = CircuitBreaker(
    threshold: 3, period: .seconds(60), pause: .seconds(30), probeDeadline: .seconds(5))

  private mutating func admit(at now: Moment) throws -> CircuitBreaker.Permit {
    guard case .open(let permit) = breaker.admit(at: now) else { throw NotAdmitted() }
    return permit
  }
  private struct NotAdmitted: Error {}

  private mutating func trip() throws {
    for second in 0..<3 {
      let now = start + .seconds(second)
      breaker.fail(try admit(at: now), at: now)
    }
  }

  @Test mutating func itOpensAtTheThresholdWithinThePeriod() throws {
    try trip()
    #expect(!breaker.isClosed)
    #expect(breaker.admit(at: start + .seconds(3)) == .refused(until: start + .seconds(32)))
  }

  @Test mutating func failuresFurtherApartThanThePeriodDoNotOpenIt() throws {
    for second in [0, 31, 62, 93, 124] {
      let now = start + .seconds(second)
      breaker.fail(try admit(at: now), at: now)
    }
    #expect(breaker.isClosed)
  }

  @Test mutating func oneProbeAtATimeAndItsSuccessCloses() throws {
    try trip()
    let probe = try admit(at: start + .seconds(32))
    #expect(breaker.admit(at: start + .seconds(33)) == .refused(until: start + .seconds(37)))
    breaker.succeed(probe)
    #expect(breaker.isClosed)
  }

  @Test mutating func aFailedProbeOpensItAgain() throws {
    try trip()
    breaker.fail(try admit(at: start + .seconds(32)), at: start + .seconds(33))
    #expect(breaker.admit(at: start + .seconds(40)) == .refused(until: start + .seconds(63)))
  }

  @Test mutating func aLostProbeReturnsItsPermitAndIsIgnoredWhenItComesBack() throws {
    try trip()
    let lost = try admit(at: start + .seconds(32))
    let second = try admit(at: start + .seconds(37))
    breaker.succeed(lost)
    #expect(!breaker.isClosed)
    breaker.succeed(second)
    #expect(breaker.isClosed)
  }

  @Test mutating func anAbandonedProbeReturnsItsPermitAtOnce() throws {
    try trip()
    let now = start + .seconds(32)
    breaker.abandon(try admit(at: now), at: now)
    #expect(throws: Never.self) { try admit(at: now) }
  }

  @Test mutating func closingForgetsTheFailures() throws {
    try trip()
    breaker.close()
    breaker.fail(try admit(at: start + .seconds(4)), at: start + .seconds(4))
    #expect(breaker.isClosed)
  }
}
