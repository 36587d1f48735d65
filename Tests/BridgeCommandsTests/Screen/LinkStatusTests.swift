import BridgeCommands
import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeTerminal
import Testing

@Suite struct LinkStatusTests {
  private let start = ContinuousClock.now
  private let refused = AppError.sshConnectionFailed(host: "h", reason: "Refused.")

  private func event(
    _ step: RecoveryEvent.Step, after time: Duration = .zero, generation: Int? = nil
  ) -> RecoveryEvent {
    RecoveryEvent(at: start + time, generation: generation, step: step)
  }

  private func lines(
    _ status: LinkStatus, after time: Duration, held: Int = 0, keys: LinkStatus.Keys = .bare
  ) -> [String] {
    status.lines(at: start + time, held: held, keys: keys, color: false, unicode: false)
      .flatMap { TerminalText.broken($0, at: 1_000) }
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

  @Test func aHintGoesByItselfAndBehindWhatMattersMore() {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.hint = LinkStatus.Hint("Viewing.", for: .seconds(5), at: start)
    #expect(lines(status, after: .zero) == ["Viewing."] && status.isTicking)
    status.askedAfter = 30
    #expect(lines(status, after: .zero).first?.hasPrefix("Not sent yet") == true)
    status.askedAfter = nil
    status.dropHint(at: start + .seconds(4))
    #expect(lines(status, after: .seconds(4)) == ["Viewing."])
    status.dropHint(at: start + .seconds(5))
    #expect(lines(status, after: .seconds(5)).isEmpty && !status.isTicking)
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
    #expect(shown.contains("error: Couldn't connect to h. Refused."))
    #expect(shown.contains("  No link for 900 ms; next attempt (3, 7 left) in 4 s."))
    // As the catalogue has them for this error.
    #expect(shown.hasSuffix("  [s] Explain  [r] Retry  [a] Abort"))
  }

  /// Where no key explains it.
  @Test func withoutKeysTheRemedyIsThereAtOnce() {
    let shown = lines(down(), after: .seconds(1), keys: .none)
    #expect(shown.count == 4 && shown[1] == "  Couldn't connect to h. Refused.")
    #expect(shown[3] == "  No link for 1 s; next attempt (3) in 3 s.")
  }

  /// On a phone each row that it takes hides one of the program.
  @Test func aRefusalIsShort() {
    let all = down().lines(
      at: start + .seconds(1), held: 4, keys: shell, color: false, unicode: false)
    let shown = all.flatMap { TerminalText.broken($0, at: 44) }
    #expect(
      shown == [
        ">_ error: Couldn't connect to h. Refused.",
        "  No link for 1 s; next attempt (3) in 3 s;", "  the session goes on.",
        "  Typed input is held (4 bytes).", "  ~r retries now, ~s explains, ~d detaches,",
        "  ~. disconnects.",
      ])
  }

  /// What the user asks for in an outage is no text over the screen: it goes with the banner.
  @Test func anAnswerIsPartOfTheBanner() {
    var status = down()
    let plain = lines(status, after: .seconds(1), keys: shell)
    status.toggle(.lines(["a list"]))
    #expect(lines(status, after: .seconds(1), keys: shell).contains("a list"))
    status.toggle(.status(login: "ann at web:22"))
    let explained = lines(status, after: .seconds(1), keys: shell)
    #expect(explained.contains("  ann at web:22") && !explained.contains("a list"))
    #expect(explained.count >= plain.count + 3, "cause and remedy")
    status.toggle(.status(login: "ann at web:22"))
    #expect(lines(status, after: .seconds(1), keys: shell) == plain)

    for end in [RecoveryEvent.Step.cleared, .recovered(after: .zero, attempts: 2, isFirst: false)] {
      var status = suspected()
      status.toggle(.lines(["a list"]))
      status.see(event(end, after: .seconds(20), generation: 1))
      #expect(lines(status, after: .seconds(20)).isEmpty)
      status.see(event(.suspected(silentFor: .seconds(6)), after: .seconds(30), generation: 1))
      #expect(!lines(status, after: .seconds(30)).contains("a list"))
    }
  }

  /// A jump host that drops us is not the host.
  @Test func anExplanationNamesTheJumpHostThatItIsAbout() {
    var status = LinkStatus(
      host: "h", at: start,
      jumpHost: { failure in
        failure?.host == "a"
          ? .init(
            login: .init(user: "ann", host: "a"), words: "jump host on the way to h failed: a:22.")
          : nil
      })
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.see(event(.suspended(by: "a"), generation: 1))
    let failure = ConnectionError(
      .sshConnectionFailed(host: "a", reason: "Refused."),
      context: FailureContext(kind: .dropped, phase: .banner, host: "a", port: 22))
    status.see(event(.failed(failure), after: .seconds(1)))
    status.toggle(.status(login: "ann at web:22"))
    let explained = lines(status, after: .seconds(2), keys: shell)
    #expect(explained.contains("  jump host on the way to h failed: a:22."))
    #expect(!explained.contains("  ann at web:22"))
  }

  /// `--timeout` has no value of its own: it is named as a limit, and ConnectTimeout as the time.
  @Test func theRemedyForASlowHostIsTheOneThatHelps() {
    var status = suspected()
    let failure = ConnectionError(
      .sshTimeout(seconds: 15),
      context: FailureContext(kind: .dialTimeout, phase: .dial, host: "h", port: 22))
    status.see(event(.failed(failure), after: .seconds(1), generation: 1))
    status.toggle(.status(login: "ann at web:22"))
    let text = lines(status, after: .seconds(2), keys: shell).joined(separator: " ")
    #expect(text.contains("ConnectTimeout sets the time"), "\(text)")
  }

  /// The link is up, and nothing of the session comes: a keeper that is stopped, or a slow disk.
  @Test func aSessionThatDoesNotGoOnIsShown() {
    var status = LinkStatus(host: "h", at: start)
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.stall = .init(since: start + .seconds(1))
    #expect(lines(status, after: .seconds(3), keys: shell) == [] && status.isTicking)
    #expect(
      lines(status, after: .seconds(6), keys: shell).first
        == "The session on h has not answered for 5 s; it is asked again.")
    status.stall?.reason = "The keeper does not answer."
    let explained = lines(status, after: .seconds(20), keys: shell)
    #expect(explained.dropFirst().first == "  The keeper does not answer.")
    #expect(explained.last?.contains("~. disconnects") == true)
    // A link that was down meanwhile is no silence of the session.
    status.see(event(.suspected(silentFor: .seconds(6)), after: .seconds(21), generation: 1))
    let back = RecoveryEvent.Step.recovered(after: .zero, attempts: 1, isFirst: false)
    status.see(event(back, after: .seconds(30), generation: 2))
    #expect(lines(status, after: .seconds(32), keys: shell) == [])
    status.stall = nil
    #expect(lines(status, after: .seconds(60), keys: shell) == [] && !status.isTicking)
  }

  @Test func anEscapeIsNamedAsItIsTyped() {
    var status = LinkStatus(host: "h", escape: "^A")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.see(event(.suspected(silentFor: .seconds(6)), after: .seconds(10), generation: 1))
    #expect(lines(status, after: .seconds(10), keys: shell).last?.contains("^A. dis") == true)
    let half = LinkStatus.Keys.escapes(isLineStart: false, canDetach: true)
    #expect(lines(status, after: .seconds(10), keys: half).last?.contains("Enter ^A. d") == true)
    #expect(lines(status, after: .seconds(10), keys: .held).last == "  What you type is held.")
  }

  /// Of a command, which has no keys.
  @Test func withoutKeysItIsSaidThatAProgramGoesOn() {
    var status = down()
    #expect(lines(status, after: .seconds(9), keys: .none).allSatisfy { !$0.contains("goes on") })
    status.outlivesLink = true
    let line = "  No link for 9 s; reconnecting (attempt 3); the session goes on."
    #expect(lines(status, after: .seconds(9), keys: .none).last == line)
  }

  @Test(arguments: [(LinkKeys.Way.abort, "[a]"), (.controlC, "Ctrl-C")])
  func theKeyThatLeavesNextIsNamed(_ way: LinkKeys.Way, _ name: String) {
    var status = down()
    status.disconnecting = way
    #expect(lines(status, after: .seconds(1)).last == "  \(name) again disconnects.")
  }

  @Test func itCountsDown() {
    let status = down()
    let words = [
      "  No link for 2 s; next attempt (3) in 2 s.", "  No link for 9 s; reconnecting (attempt 3).",
    ]
    #expect(lines(status, after: .milliseconds(2100)).contains(words[0]))
    #expect(lines(status, after: .seconds(9)).contains(words[1]))
  }

  @Test func aRefusalSaysSinceWhenTheLinkIsDownAndThatTheSessionGoesOn() {
    let trying = "  No link for 9 s; reconnecting (attempt 3)"
    let goesOn = trying + "; the session goes on."
    #expect(lines(down(), after: .seconds(9), keys: shell).contains(goesOn))
    #expect(lines(down(), after: .seconds(9), keys: .viewing).contains(goesOn))
    #expect(lines(down(), after: .seconds(9)).contains(trying + "."))
    var first = LinkStatus(host: "h")
    first.see(event(.surfaced(PresentedError(error: refused))))
    #expect(!lines(first, after: .seconds(9)).joined().contains("No link"))
  }

  /// Several attempts a second are not "in 1 s" each.
  @Test func aShortWaitIsNotCountedDown() {
    var status = down()
    status.see(event(.waiting(RecoveryPlan(next: .reconnect, at: .milliseconds(400), attempt: 38))))
    #expect(lines(status, after: .zero)[1].hasSuffix("; reconnecting (attempt 38)."))
    #expect(status.report(at: start, held: 0)?[0].hasSuffix("; reconnecting (attempt 38).") == true)
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
    #expect(lines(status, after: .zero)[1].hasSuffix("; reconnecting (attempt 4, 7 left)."))
  }

  /// Between a failure and the plan that follows it the number goes back to none before it.
  @Test func theNumberOfAnAttemptOutlivesItsFailure() {
    var status = down(attemptsLeft: 7)
    status.see(event(.attempted(number: 4, isStandby: false), generation: 2))
    status.see(event(.failed(.init(refused)), generation: 2))
    #expect(lines(status, after: .zero)[1].hasSuffix("; reconnecting (attempt 4, 7 left)."))
  }

  @Test func itGoesWhenTheLinkIsBack() {
    var status = down()
    status.see(event(.recovered(after: .seconds(1), attempts: 2, isFirst: false), generation: 2))
    #expect(lines(status, after: .zero).isEmpty)
    #expect(!status.isTicking)
  }

  private func suspected() -> LinkStatus {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    status.see(event(.suspected(silentFor: .seconds(6)), after: .seconds(10), generation: 1))
    return status
  }

  /// A question is a state: it is there until it is answered, also over what is printed meanwhile.
  @Test func whatWasTypedInALongOutageIsAskedAbout() {
    var status = LinkStatus(host: "h", at: start)
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    #expect(!status.isTicking)
    status.askedAfter = 14
    #expect(status.isTicking)
    #expect(
      status.lines(
        at: start, held: 5, unsent: 1, keys: .none, color: false, unicode: false) == [
          "Not sent yet: 1 typed byte; the link was down for 14 s. "
            + "Enter sends, Ctrl-C drops what was typed."
        ])
    status.askedAfter = nil
    #expect(status.lines(at: start, keys: .none, color: false, unicode: false).isEmpty)
  }

  /// What the question says is what the banner has counted, from the last sign of the peer on.
  @Test func theQuestionCountsAsTheBannerDid() {
    for end in [RecoveryEvent.Step.cleared, .recovered(after: .zero, attempts: 2, isFirst: false)] {
      var status = suspected()
      #expect(lines(status, after: .seconds(20))[0] == "h has not responded for 16 s.")
      status.see(event(end, after: .seconds(20), generation: 1))
      status.ask(after: 10)
      #expect(lines(status, after: .seconds(20))[0].contains("the link was down for 16 s."))
      status.ask(after: 60)
      #expect(lines(status, after: .seconds(20))[0].contains("the link was down for 60 s."))
    }
  }

  private let shell = LinkStatus.Keys.escapes(isLineStart: true, canDetach: true)

  @Test func aSuspicionSaysHowLongAndWhatIsHeld() {
    var status = suspected()
    #expect(
      lines(status, after: .seconds(12), held: 5, keys: shell) == [
        "h has not responded for 8 s.",
        "  Typed input is held (5 bytes). ~r reconnects, ~d detaches, ~. disconnects.",
      ])
    status.see(event(.cleared, after: .seconds(13), generation: 1))
    #expect(lines(status, after: .seconds(13)).isEmpty)
    let early = event(.suspected(silentFor: .milliseconds(500)), after: .seconds(14), generation: 1)
    #expect(status.message(for: early) == "h has not responded for 500 ms.")
  }

  /// Behind a half line a tilde is text, and runs with the line when the link is back.
  @Test func onlyKeysThatWorkNowAreOffered() {
    let half = LinkStatus.Keys.escapes(isLineStart: false, canDetach: true)
    let plain = LinkStatus.Keys.escapes(isLineStart: true, canDetach: false)
    func last(_ status: LinkStatus, _ keys: LinkStatus.Keys) -> String? {
      lines(status, after: .seconds(12), keys: keys).last
    }
    for status in [suspected(), down()] {
      #expect(last(status, half) == "  What you type is held. Enter ~. disconnects.")
      #expect(last(status, plain)?.contains("~d") == false)
      #expect(last(status, .viewing)?.hasPrefix("  ~r re") == true, "it types nothing")
      #expect(last(status, shell)?.contains("~d detaches") == true)
      #expect(last(status, .bare)?.contains("[r] Retry") == true)
      #expect(last(status, .none)?.contains("~") == false)
    }
  }

  /// Nothing is known of what left for a link that was dead by then.
  @Test(arguments: [
    (0, "What you type is held."), (1, "Typed input is held (1 byte)."),
    (21, "Typed input is held (21 bytes)."),
  ])
  func noHeldBytesAreNoZero(_ count: Int, _ words: String) {
    let shown = lines(suspected(), after: .seconds(12), held: count, keys: shell)
    #expect(shown.last?.hasPrefix("  \(words) ") == true)
  }

  /// A shell that goes on keeps no more than a person types.
  @Test func whatIsBeyondTheLimitIsSaidToBeDropped() {
    func last(_ unsent: Int, _ keys: LinkStatus.Keys) -> String? {
      suspected().lines(
        at: start + .seconds(12), held: 4100, unsent: unsent, keys: keys, color: false,
        unicode: false
      ).last
    }
    let dropped = "what you type now is dropped"
    #expect(last(4096, .escapes(isLineStart: false, canDetach: true))?.contains(dropped) == true)
    #expect(last(4095, .escapes(isLineStart: false, canDetach: true))?.contains(dropped) == false)
    #expect(last(4096, .escapes(isLineStart: false, canDetach: false))?.contains(dropped) == false)
  }

  /// The steps of an outage behind the suspicion, in the order of a black hole.
  private var outage: [RecoveryEvent] {
    let shown = PresentedError(error: refused)
    let plan = RecoveryPlan(next: .reconnect, at: .seconds(4), attempt: 2)
    return [
      event(.attempted(number: 1, isStandby: true), after: .seconds(10), generation: 2),
      event(.failed(.init(.sshTimeout(seconds: 6))), after: .seconds(12), generation: 1),
      event(.switched, after: .seconds(12), generation: 2),
      event(.failed(.init(.sshTimeout(seconds: 10))), after: .seconds(20), generation: 2),
      event(.surfaced(shown), after: .seconds(20)),
      event(.waiting(plan), after: .seconds(20)),
      event(.withdrawn(shown.id), after: .seconds(24)),
    ]
  }

  @Test func aBlackHoleIsShownFromTheSuspicionToTheEnd() {
    var status = suspected()
    var seen = lines(status, after: .seconds(10))
    let words = [
      "h has not responded for 6 s; connecting anew.", "h has not responded for 8 s; reconnecting",
      "h has not responded for 8 s; reconnecting (attempt 1)", "h has not responded for 16 s",
      "Couldn't connect to h", "next attempt (2) in 4 s", "reconnecting (attempt 2).",
    ]
    for (step, expected) in zip(outage, words) {
      status.see(step)
      seen = lines(status, after: step.at - start)
      #expect(seen.joined(separator: "\n").contains(expected), "\(step.name): \(seen)")
      #expect(!seen.isEmpty && status.isOut && status.isTicking, "\(step.name)")
    }
    status.see(event(.recovered(after: .seconds(30), attempts: 3, isFirst: false), generation: 3))
    #expect(lines(status, after: .seconds(40)).isEmpty && !status.isOut)
  }

  /// Whatever comes in whatever order: while the link is out there is a line.
  @Test(arguments: UInt64(0)..<300) func noOrderOfStepsLeavesTheScreenBlank(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for wasSuspected in [true, false] {
      var status = wasSuspected ? suspected() : down()
      for step in outage.shuffled(using: &generator) {
        status.see(step)
        for keys in [shell, .bare, .none] {
          let shown = lines(status, after: .seconds(30), keys: keys)
          #expect(!shown.isEmpty, "\(step.name)")
        }
        #expect(status.report(at: start + .seconds(30), held: 0)?.isEmpty == false)
        #expect(status.isOut && status.isTicking)
      }
    }
  }

  @Test func theStatusOfAnOutageSaysSinceWhenWhyAndWhatComesNext() {
    var status = LinkStatus(host: "h")
    status.see(event(.recovered(after: .zero, attempts: 1, isFirst: true), generation: 1))
    #expect(status.report(at: start, held: 0) == nil)
    status = down()
    #expect(
      status.report(at: start + .seconds(1), held: 21) == [
        "The link to h was lost 1 s ago; next attempt (3) in 3 s.",
        "Couldn't connect to h. Refused.", "Typed input is held (21 bytes).",
      ])
    #expect(
      suspected().report(at: start + .seconds(12), held: 0) == ["h has not responded for 8 s."])
  }

  /// The connection in use goes on, whatever becomes of a second one.
  @Test func aSecondConnectionThatIsRefusedLeavesTheSuspicion() {
    var status = suspected()
    let final = RecoveryPlan(next: .askPerson)
    status.see(event(.failed(.init(refused)), after: .seconds(11), generation: 2))
    status.see(event(.surfaced(PresentedError(error: refused, plan: final)), after: .seconds(11)))
    #expect(lines(status, after: .seconds(12)).first == "h has not responded for 8 s.")
    #expect(status.isOut)
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
