import BridgeCommands
import BridgeErrors
import BridgeRecovery
import Testing

@Suite struct LinkStatusTests {
  private let start = ContinuousClock.now
  private let refused = AppError.sshConnectionFailed(host: "h", reason: "Refused.")

  private func event(
    _ step: RecoveryEvent.Step, after time: Duration = .zero, generation: Int? = nil
  ) -> RecoveryEvent {
    RecoveryEvent(at: start + time, generation: generation, step: step)
  }

  private func lines(_ status: LinkStatus, after time: Duration, held: Int = 0) -> [String] {
    status.lines(at: start + time, held: held, hasKeyboard: true, color: false, unicode: false)
  }

  /// Up as generation 1, then lost, shown, and waiting for 4 s.
  private func down(attemptsLeft: Int? = nil) -> LinkStatus {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.see(event(.failed(.init(refused)), generation: 1))
    let plan = RecoveryPlan(
      next: .reconnect, at: .seconds(4), attempt: 3, attemptsLeft: attemptsLeft)
    status.see(event(.waiting(plan)))
    status.see(event(.surfaced(PresentedError(error: refused))))
    return status
  }

  @Test func allIsWellWithoutAWord() {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    #expect(lines(status, after: .seconds(9)).isEmpty)
    #expect(!status.isTicking)
  }

  @Test func aFirstMomentOfTroubleIsNotShown() {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.see(event(.failed(.init(refused)), generation: 1))
    #expect(lines(status, after: .zero).isEmpty)
    #expect(status.isTicking)
  }

  @Test func theBannerSaysWhatHappenedWhatIsTriedWhenAndWhichKeysWork() {
    let shown = lines(down(attemptsLeft: 7), after: .milliseconds(900)).joined(separator: "\n")
    #expect(shown.contains("Couldn't connect to h. Refused."))
    #expect(shown.contains("Reconnecting in 4 s (attempt 3, 7 left)"))
    // As the catalogue has them for this error.
    #expect(shown.hasSuffix("  [s] Explain  [r] Retry  [a] Abort"))
  }

  @Test func itCountsDown() {
    let status = down()
    #expect(lines(status, after: .milliseconds(2100)).contains("  Reconnecting in 2 s (attempt 3)"))
    #expect(lines(status, after: .seconds(9)).contains("  Reconnecting (attempt 3)"))
  }

  @Test func lostBytesAreCounted() {
    var status = down()
    status.lostBytes = 12
    #expect(lines(status, after: .zero).contains("  12 typed bytes were not sent."))
    status.lostBytes = 1
    #expect(lines(status, after: .zero).contains("  1 typed byte was not sent."))
  }

  @Test("an end that nothing follows is no trouble to show")
  func finalEnd() {
    for next in [RecoveryPlan.Step.giveUp, .askPerson] {
      var status = LinkStatus(host: "h")
      status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
      status.see(event(.failed(.init(refused)), generation: 1))
      status.see(
        event(.surfaced(PresentedError(error: refused, plan: RecoveryPlan(next: next)))))
      #expect(lines(status, after: .zero).isEmpty)
      #expect(!status.isTicking)
      #expect(status.overdueMessage() == nil)
      status.see(event(.gaveUp(.init(refused), RecoveryPlan(next: next))))
      #expect(lines(status, after: .zero).isEmpty)
    }
  }

  @Test func anAttemptUnderWayIsShown() {
    var status = down(attemptsLeft: 7)
    status.see(event(.attempted(number: 4, isStandby: false), generation: 2))
    #expect(lines(status, after: .zero).contains("  Reconnecting (attempt 4, 7 left)"))
  }

  @Test func itGoesWhenTheLinkIsBack() {
    var status = down()
    status.see(event(.recovered(after: .seconds(1), attempts: 2, isFirst: false), generation: 2))
    #expect(lines(status, after: .zero).isEmpty)
    #expect(!status.isTicking)
  }

  @Test func aSuspicionSaysHowLongAndWhatIsHeld() {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.see(event(.suspected(silentFor: .seconds(6)), after: .seconds(10), generation: 1))
    #expect(
      lines(status, after: .seconds(12), held: 5) == [
        "h has not responded for 8 s. Typed input is held (5 bytes). ~r reconnects, ~. disconnects."
      ])
    status.see(event(.cleared, after: .seconds(13), generation: 1))
    #expect(lines(status, after: .seconds(13)).isEmpty)
    let early = event(.suspected(silentFor: .milliseconds(500)), after: .seconds(14), generation: 1)
    #expect(status.message(for: early) == "h has not responded for 500 ms.")
  }

  @Test func theEndOfAnotherGenerationChangesNothing() {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 2))
    status.see(event(.failed(.init(refused)), generation: 1))
    #expect(!status.isTicking)
  }

  @Test func aLogIsToldOncePerKindOfTrouble() {
    var status = LinkStatus(host: "h")
    let plan = event(.waiting(RecoveryPlan(next: .reconnect, at: .seconds(1))))
    _ = status.message(for: event(.failed(.init(refused)), generation: 1))
    #expect(status.message(for: plan)?.contains("Couldn't connect to h. Refused.") == true)
    _ = status.message(for: event(.failed(.init(refused)), generation: 2))
    #expect(status.message(for: plan) == nil)
    _ = status.message(for: event(.failed(.init(.dnsError(host: "h"))), generation: 3))
    #expect(status.message(for: plan) != nil)
  }

  /// A link that is reset each second would give two lines each second.
  @Test func aLogIsNotToldOfAnOutageThatMayBeOverAtOnceUntilItLasts() {
    var status = LinkStatus(host: "h")
    let up = event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1)
    let plan = event(.waiting(RecoveryPlan(next: .reconnect, at: .milliseconds(250))))
    for next in [up, event(.failed(.init(refused)), generation: 1), plan] {
      status.see(next)
      #expect(status.message(for: next) == nil)
    }
    #expect(status.overdueMessage()?.contains("Couldn't connect to h. Refused.") == true)
  }

  @Test func aLogIsToldOfAnAttemptThatHangs() {
    var status = LinkStatus(host: "h")
    let up = event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1)
    for next in [up, event(.failed(.init(refused)), generation: 1)] {
      #expect(status.overdueMessage() == nil)
      status.see(next)
      #expect(status.message(for: next) == nil)
    }
    #expect(status.overdueMessage()?.contains("Couldn't connect to h. Refused.") == true)
    #expect(status.overdueMessage() == nil)
    let plan = event(.waiting(RecoveryPlan(next: .reconnect, at: .seconds(1))))
    #expect(status.message(for: plan) == nil)
    status.see(up)
    #expect(status.overdueMessage() == nil)
  }

  @Test(arguments: [
    (34, 1, "34 ms (1 try)"), (999, 2, "999 ms (2 tries)"), (5_140, 14, "5.1 s (14 tries)"),
  ])
  func aShortOutageIsToldInMilliseconds(milliseconds: Int, attempts: Int, words: String) {
    let told = LinkStatus.back(after: .milliseconds(milliseconds), attempts)
    #expect(told == "The link is back after \(words).")
  }
}
