import BridgeSSH
import Testing

@Suite struct SessionPaceTests {
  private let now = ContinuousClock.now

  @Test func sessionsThatEndAtOnceAreFollowedByPausesThatDoubleUpToABound() {
    var pace = SessionPace(longest: .seconds(4))
    #expect(pace.pause(at: now) == .zero)
    var pauses: [Duration] = []
    for _ in 0..<6 {
      pace.ended(from: now, wasOfUse: true, at: now + .milliseconds(999))
      pauses.append(pace.pause(at: now + .milliseconds(999)))
    }
    #expect(pauses == [250, 500, 1000, 2000, 4000, 4000].map { .milliseconds($0) })
    #expect(pace.pause(at: now + .seconds(3)) == .milliseconds(1999))
    #expect(pace.pause(at: now + .seconds(5)) == .zero)
  }

  @Test(arguments: [(true, Duration.zero), (false, .milliseconds(250))])
  func oneThatLastedAndWasOfUseIsFollowedAtOnce(wasOfUse: Bool, pause: Duration) {
    var pace = SessionPace(longest: .seconds(4))
    let end = now + SessionPace.steady
    pace.ended(from: now, wasOfUse: wasOfUse, at: end)
    #expect(pace.pause(at: end) == pause)
  }

  @Test func theLinkThatIsBackEndsThePause() {
    var pace = SessionPace(longest: .seconds(4))
    for _ in 0..<5 { pace.ended(from: now, wasOfUse: true, at: now) }
    pace.reset(at: now)
    #expect(pace.pause(at: now) == .zero)
    pace.ended(from: now, wasOfUse: true, at: now)
    #expect(pace.pause(at: now) == ForwardAttempts.waits.first)
  }

  /// The end of a session is seen when it is looked for.
  @Test func aSessionOfTheLinkBeforeSaysNothing() {
    var pace = SessionPace(longest: .seconds(4))
    pace.reset(at: now)
    pace.ended(from: now - .milliseconds(1), wasOfUse: true, at: now + .milliseconds(50))
    #expect(pace.pause(at: now + .milliseconds(50)) == .zero)
  }
}
