import BridgeCommands
import Testing

@Suite("Typing while the link of a durable shell is down") struct TypingGateTests {
  private let start = ContinuousClock.now

  private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test func afterAShortOutageItIsSentByItself() {
    var gate = TypingGate()
    #expect(gate.suspend(at: at(0)) == .hold)
    #expect(gate.attach(at: at(10), held: 7) == .release)
  }

  @Test func afterALongOneTheUserIsAsked() {
    var gate = TypingGate()
    #expect(gate.suspend(at: at(0)) == .hold)
    #expect(gate.attach(at: at(34), held: 7) == .ask(seconds: 34))
    #expect(gate.answer(sends: true) == .release)
    #expect(gate.answer(sends: true) == .nothing)
    #expect(gate.suspend(at: at(40)) == .hold)
    #expect(gate.attach(at: at(80), held: 1) == .ask(seconds: 40))
    #expect(gate.answer(sends: false) == .drop)
  }

  @Test func whereNothingWasTypedThereIsNothingToAsk() {
    var gate = TypingGate()
    _ = gate.suspend(at: at(0))
    #expect(gate.attach(at: at(600), held: 0) == .release)
  }

  /// A suspicion that becomes a loss is one outage.
  @Test func theOutageBeginsWithTheSuspicion() {
    var gate = TypingGate()
    #expect(gate.suspect(true, at: at(0), held: 0) == .hold)
    #expect(gate.suspend(at: at(6)) == .nothing)
    #expect(gate.attach(at: at(12), held: 3) == .ask(seconds: 12))
  }

  @Test func aSuspicionThatIsClearedReleases() {
    var gate = TypingGate()
    _ = gate.suspect(true, at: at(0), held: 0)
    #expect(gate.suspect(false, at: at(3), held: 3) == .release)
    _ = gate.suspect(true, at: at(10), held: 0)
    _ = gate.suspend(at: at(11))
    // The link that was suspected is another one than the next.
    #expect(gate.suspect(false, at: at(12), held: 3) == .nothing)
    #expect(gate.attach(at: at(13), held: 3) == .release)
  }

  /// A full-screen program would draw over the question, and its user would type into nothing.
  @Test func theProgramIsDrawnAgainOnlyOnceTheQuestionIsAnswered() {
    var gate = TypingGate()
    _ = gate.suspend(at: at(0))
    #expect(!gate.attach(at: at(20), held: 3).showsProgram)
    let answered = gate.answer(sends: true)
    #expect(answered == .release && answered.showsProgram)
    _ = gate.suspend(at: at(30))
    #expect(gate.attach(at: at(31), held: 3).showsProgram)
    // The question of an outage stays through the next one.
    _ = gate.suspend(at: at(40))
    _ = gate.attach(at: at(60), held: 3)
    _ = gate.suspend(at: at(61))
    #expect(!gate.attach(at: at(62), held: 3).showsProgram)
    #expect(gate.answer(sends: false).showsProgram)
  }

  @Test func anAnswerWhileTheLinkIsDownAgainHoldsForTheNextOne() {
    var gate = TypingGate()
    _ = gate.suspend(at: at(0))
    #expect(gate.attach(at: at(20), held: 3) == .ask(seconds: 20))
    #expect(gate.suspend(at: at(21)) == .nothing)
    // Still the same question.
    #expect(gate.attach(at: at(22), held: 3) == .nothing)
    #expect(gate.suspend(at: at(23)) == .nothing)
    #expect(gate.answer(sends: true) == .nothing)
    #expect(gate.attach(at: at(60), held: 3) == .release)
  }
}
