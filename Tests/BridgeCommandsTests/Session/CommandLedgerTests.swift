import BridgeCommands
import Testing

/// The rule that a plain command runs at most once.
@Suite struct CommandLedgerTests {
  private enum Step {
    case send
    case start
    case lose(CommandLedger.Loss, again: Bool = false)
    case giveUp
    case end
  }

  private enum Answer: Equatable {
    case none
    case sent(Bool)
    case repeated(Bool)
    case consequence(CommandLedger.Consequence)
    case endsNow(Bool)
  }

  private func answers(_ ledger: inout CommandLedger, _ steps: [Step]) -> [Answer] {
    steps.map { step in
      switch step {
      case .send: return .sent(ledger.send())
      case .start: return .repeated(ledger.start())
      case .lose(let loss, let again):
        return .consequence(ledger.lose(loss, mayRunAgain: again))
      case .giveUp: return .endsNow(ledger.giveUp())
      case .end:
        ledger.end()
        return .none
      }
    }
  }

  private func command(_ steps: Step..., ends phase: CommandLedger.Phase) -> Answer? {
    var ledger = CommandLedger()
    let answers = answers(&ledger, steps)
    #expect(ledger.phase == phase)
    return answers.last
  }

  @Test func aCommandThatWasNotSentIsSentOnTheNextLink() {
    #expect(
      command(.send, .lose(.notSent), ends: .unsent) == .consequence(.continues))
    #expect(command(.send, .lose(.notSent), .send, .start, ends: .started) == .repeated(false))
  }

  @Test func aCommandThatMayHaveRunEndsTheRun() {
    #expect(
      command(.send, .lose(.mayHaveRun), ends: .outcomeUnknown) == .consequence(.endsUnknown))
    #expect(
      command(.send, .start, .lose(.mayHaveRun), ends: .outcomeUnknown)
        == .consequence(.endsUnknown))
  }

  /// Its output may still be written when the next link is up.
  @Test func aCommandThatIsOutIsNotSentOnAnotherLink() {
    #expect(command(.send, .send, ends: .sent) == .sent(false))
    #expect(command(.send, .start, .send, ends: .started) == .sent(false))
    let lost = command(.send, .start, .lose(.mayHaveRun), .send, ends: .outcomeUnknown)
    #expect(lost == .sent(false))
  }

  @Test func theLastLinkIsReportedByWhatLosesTheCommand() {
    // Nothing was sent: the run ends at once.
    #expect(command(.giveUp, ends: .unsent) == .endsNow(true))
    #expect(command(.send, .lose(.notSent), .giveUp, ends: .unsent) == .endsNow(true))
    // It is out: whether it ran is known with its loss.
    #expect(command(.send, .giveUp, ends: .sent) == .endsNow(false))
    #expect(command(.send, .giveUp, .lose(.notSent), ends: .unsent) == .consequence(.ends))
    #expect(
      command(.send, .giveUp, .lose(.mayHaveRun), ends: .outcomeUnknown)
        == .consequence(.endsUnknown))
  }

  @Test func anIdempotentCommandRunsAgain() {
    var ledger = CommandLedger()
    let steps: [Step] = [.send, .start, .lose(.mayHaveRun, again: true), .send, .start]
    #expect(answers(&ledger, steps).last == .repeated(true))
    // Its input could not be kept.
    #expect(answers(&ledger, [.lose(.mayHaveRun)]) == [.consequence(.endsUnknown)])
  }

  /// What came of it is written first.
  @Test func whatMayRunAgainEndsWithItsLastLink() {
    #expect(command(.send, .start, .giveUp, ends: .started) == .endsNow(false))
    let lost: Step = .lose(.mayHaveRun, again: true)
    #expect(command(.send, .start, .giveUp, lost, ends: .unsent) == .consequence(.ends))
    #expect(command(.send, .start, lost, .giveUp, ends: .unsent) == .endsNow(true))
    #expect(command(.send, .giveUp, lost, ends: .unsent) == .consequence(.ends))
  }

  @Test func aRunThatIsOverHasNoConsequences() {
    #expect(
      command(.send, .start, .end, .lose(.mayHaveRun), ends: .over) == .consequence(.continues))
    #expect(command(.end, .send, ends: .over) == .sent(false))
    #expect(command(.end, .start, ends: .over) == .repeated(false))
    #expect(command(.end, .giveUp, ends: .over) == .endsNow(false))
  }

  @Test func whatMayHaveRunCountsAsStarted() {
    var ledger = CommandLedger()
    _ = answers(&ledger, [.send, .lose(.mayHaveRun, again: true)])
    #expect(ledger.wasStarted)
    var unsent = CommandLedger()
    _ = answers(&unsent, [.send, .lose(.notSent)])
    #expect(!unsent.wasStarted)
  }
}
