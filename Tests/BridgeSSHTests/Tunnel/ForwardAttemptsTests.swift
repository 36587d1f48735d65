import BridgeSSH
import Testing

@Suite struct ForwardAttemptsTests {
  private let now = ContinuousClock.now
  private let any = ForwardRule(from: .port(address: nil, 0), to: .dynamic, on: .remote)
  private let fixed = ForwardRule(from: .port(address: nil, 80), to: .dynamic, on: .remote)

  @Test func aRefusalIsFollowedByAWaitThatDoublesUpToABound() {
    var attempts = ForwardAttempts()
    attempts.add(fixed, at: now)
    #expect(attempts.next(at: now)?.port == 80)
    var waits: [Duration] = []
    for _ in 0..<10 { waits.append(attempts.refused(fixed, at: now)) }
    #expect(waits.first == .milliseconds(250))
    #expect(waits[1] == .milliseconds(500))
    #expect(waits.last == .seconds(30))
    #expect(attempts.next(at: now) == nil)
    #expect(attempts.due == now + .seconds(30))
    #expect(attempts.next(at: now + .seconds(30))?.rule == fixed)
  }

  @Test func whatTheHostChoseIsAskedForAgainAndThenAnyOther() {
    var attempts = ForwardAttempts()
    attempts.add(any, at: now)
    #expect(attempts.next(at: now)?.port == 0)
    attempts.granted(any, port: 4711)
    #expect(attempts.next(at: now) == nil)
    attempts.lost(at: now)
    #expect(attempts.next(at: now)?.port == 4711)
    #expect(attempts.refused(any, at: now) == .zero)
    #expect(attempts.next(at: now)?.port == 0)
    #expect(attempts.refused(any, at: now) == .milliseconds(250))
  }

  @Test func whatIsListenedOnIsNotTriedWhenTheLinkIsBack() {
    var attempts = ForwardAttempts()
    attempts.add(any, at: now)
    attempts.add(fixed, at: now)
    attempts.add(fixed, at: now)
    attempts.granted(any, port: 4711)
    _ = attempts.refused(fixed, at: now)
    attempts.retryNow(at: now)
    #expect(attempts.waiting == [fixed])
    #expect(attempts.next(at: now)?.rule == fixed)
    attempts.remove(fixed)
    #expect(attempts.next(at: now) == nil && attempts.due == nil && !attempts.isEmpty)
  }

  /// A session with an upload is asked for ports that were not refused yet.
  @Test func aRefusedPortIsLeftOutWhereRetriesAre() {
    var attempts = ForwardAttempts()
    attempts.add(fixed, at: now)
    _ = attempts.refused(fixed, at: now)
    attempts.add(any, at: now)
    attempts.retryNow(at: now)
    #expect(attempts.next(at: now)?.rule == fixed)
    #expect(attempts.next(at: now, retries: false)?.rule == any)
    attempts.granted(any, port: 4711)
    #expect(attempts.next(at: now, retries: false) == nil)
  }

  @Test func aLostSessionBeginsWithTheShortestWait() {
    var attempts = ForwardAttempts()
    attempts.add(fixed, at: now)
    for _ in 0..<5 { _ = attempts.refused(fixed, at: now) }
    attempts.lost(at: now)
    #expect(attempts.refused(fixed, at: now) == ForwardAttempts.waits.first)
  }

  /// The host's end of the lost session has it until that has ended.
  @Test func aPortThatWasOursIsAskedForEveryTwoSeconds() {
    var attempts = ForwardAttempts()
    attempts.add(fixed, at: now)
    attempts.add(any, at: now)
    attempts.granted(fixed, port: 80)
    #expect(!attempts.wasLost(fixed))
    attempts.lost(at: now)
    #expect(attempts.wasLost(fixed) && !attempts.wasLost(any))
    let waits = (0..<10).map { _ in attempts.refused(fixed, at: now) }
    #expect(waits.first == ForwardAttempts.waits.first)
    #expect(waits.last == .seconds(2))
    #expect((0..<10).map { _ in attempts.refused(any, at: now) }.last == .seconds(30))
  }
}
