import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import Testing

@testable import BridgeAgentHost
@testable import BridgeConsole

@Suite("Links as the page shows them") struct LinkCourseTests {
  private var course = LinkCourse(prefix: "0.")
  private let refused = ConnectionError(.sshConnectionFailed(host: "h", reason: "It refused."))

  private mutating func see(
    _ step: RecoveryEvent.Step, _ generation: Int? = nil, at now: Int64
  ) -> ConsoleState.Link? {
    let event = RecoveryEvent(
      at: ContinuousClock.now, source: "chat", generation: generation, step: step)
    _ = course.see(event, at: now)
    return course.links["chat"]
  }

  private mutating func comeUp() {
    _ = see(.attempted(number: 1, isStandby: false), 1, at: 100)
    _ = see(.recovered(after: .seconds(1), attempts: 1, isFirst: true), 1, at: 200)
  }

  @Test mutating func aLinkComesUpBreaksAndHeals() {
    var link = see(.attempted(number: 1, isStandby: false), 1, at: 100)
    #expect(link?.state == .connecting && link?.since == 100 && link?.attempts == 1)
    #expect(link?.id == "0.chat")
    link = see(.entered(.authenticate), 1, at: 150)
    #expect(link?.phase == "authenticate")
    link = see(.recovered(after: .seconds(1), attempts: 1, isFirst: true), 1, at: 200)
    #expect(link == ConsoleState.Link(id: "0.chat", name: "chat", state: .up, since: 200))
    link = see(.failed(refused), 1, at: 300)
    #expect(link?.state == .waiting && link?.since == 300)
    #expect(link?.problem?.message.contains("refused") == true)
    link = see(.waiting(RecoveryPlan(next: .reconnect, at: .seconds(5))), at: 300)
    #expect(link?.nextAt == 5300 && link?.since == 300)
    link = see(.attempted(number: 2, isStandby: false), 2, at: 5300)
    #expect(link?.state == .connecting && link?.nextAt == nil && link?.since == 300)
    link = see(.recovered(after: .seconds(5), attempts: 1, isFirst: false), 2, at: 5400)
    #expect(link?.state == .up && link?.since == 5400 && link?.problem == nil)
  }

  @Test mutating func silenceIsShownWhileTheLinkIsOfUse() {
    comeUp()
    var link = see(.suspected(silentFor: .seconds(2)), 1, at: 5000)
    #expect(link?.state == .silent && link?.silentSince == 3000 && link?.since == 200)
    link = see(.cleared, 1, at: 5100)
    #expect(link?.state == .up && link?.silentSince == nil && link?.since == 200)
  }

  @Test mutating func aStandbyThatFailsIsNoLoss() {
    comeUp()
    _ = see(.attempted(number: 1, isStandby: true), 2, at: 300)
    #expect(see(.failed(refused), 2, at: 400)?.state == .up)
    #expect(see(.failed(refused), 1, at: 500)?.state == .waiting)
  }

  @Test mutating func theEndAndWhatItWaitsForAreShown() {
    comeUp()
    #expect(see(.suspended(by: "jump"), at: 300)?.waitsFor == "jump")
    #expect(see(.resumed, at: 400)?.state == .connecting)
    let plan = RecoveryPlan(next: .askPerson)
    #expect(see(.gaveUp(refused, plan), at: 500)?.state == .failed)
    #expect(see(.closed, at: 600) == nil)
  }

  @Test mutating func operationsAreNoLinks() {
    #expect(see(.attempted(number: 2, isStandby: false), at: 1) == nil)
    #expect(see(.failed(refused), at: 2) == nil)
  }

  @Test mutating func theOverviewReplacesWhatWasMissed() {
    comeUp()
    let names = course.see(
      [
        LinkOverview(id: "new", state: .failed(.agentBusy)),
        LinkOverview(id: "other", state: .up(generation: 3)),
      ], at: 900)
    #expect(names == ["chat", "new", "other"])
    #expect(course.links["chat"] == nil && course.links["new"]?.state == .failed)
    #expect(course.links["other"]?.state == .up && course.links["other"]?.since == 900)
    let measured = LinkOverview(
      id: "other", state: .up(generation: 3), roundTrip: .microseconds(1234))
    #expect(course.measure([measured]) == ["other"] && course.measure([measured]).isEmpty)
    #expect(course.links["other"]?.roundTrip == 1.2)
  }

  /// The specified message of these errors is "An unexpected error occurred. Please try again."
  @Test mutating func theTrueWordsAreShown() throws {
    let context = FailureContext(
      kind: .hostKeyChanged, phase: .hostKey, host: "h", detail: "known_hosts:3",
      command: "ssh-keygen -R h")
    let changed = ConnectionError(.sshHostKeyMismatch(host: "h"), context: context)
    _ = see(.attempted(number: 1, isStandby: false), 1, at: 1)
    let problem = see(.gaveUp(changed, RecoveryPlan(next: .askPerson)), at: 2)?.problem
    #expect(problem?.message == "The key of h is not the one on record. known_hosts:3.")
    let hint = try #require(problem?.hint)
    #expect(hint.hasPrefix("Do not continue: ") && hint.hasSuffix(" `ssh-keygen -R h`"))
    for error in [AppError.sshTimeout(seconds: 15), .dnsError(host: "nosuch.invalid")] {
      let shown = [
        see(.failed(ConnectionError(error)), 1, at: 3)?.problem?.message,
        ConsoleState.Problem(PresentedError(error: error, attempts: 7)).message,
        ConsoleState.Trouble(AgentHostSnapshot.Problem(error, since: 1)).message,
      ]
      #expect(shown == Array(repeating: error.shownMessage(), count: 3))
      #expect(error.shownMessage() != error.userMessage)
    }
  }

  @Test mutating func textsOfPeersAreEscapedAndBounded() {
    let text = "\u{1B}[2J\u{202E}" + String(repeating: "x", count: 5000)
    let failure = ConnectionError(.sshConnectionFailed(host: "h", reason: text))
    _ = see(.attempted(number: 1, isStandby: false), 1, at: 1)
    let message = see(.failed(failure), 1, at: 2)?.problem?.message ?? text
    #expect(!message.contains("\u{1B}") && !message.contains("\u{202E}"))
    #expect(message.utf8.count <= 1024)
  }
}
