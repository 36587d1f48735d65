import BridgeErrors
import Foundation
import Testing

private let refused = SSHFailure(
  code: 0, message: "", phase: .dial, host: "build.example", port: 22,
  socket: .failed(errno: ECONNREFUSED)
).typed

@Suite("The banner on a terminal")
struct TerminalBannerTests {
  @Test func anErrorOfAConnection() {
    let shown = PresentedError(
      error: refused.error, source: "ssh:build.example:22#1", count: 3, context: refused.context,
      plan: RecoveryPlan(
        next: .reconnect, at: .milliseconds(4250), attempt: 3, attemptsLeft: 7,
        isSkippable: true, options: [.retry, .abort]))
    let expected = """
      ❯ error: SSH Error (ssh:build.example:22#1) ×3
        Couldn't connect to build.example. Connection refused: nothing listens on port 22.
        The host is up, but nothing listens on that port: check the port, and that the server runs.
        Reconnecting in 4.2 s (attempt 3, 7 left)
        [r] Retry  [a] Abort

      """
    #expect(TerminalBanner.render(shown, color: false) == expected)
    let ascii = TerminalBanner.render(shown, color: false, unicode: false)
    #expect(ascii == expected.replacing("❯", with: ">_").replacing("×", with: "x"))
    #expect(ascii.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test func anErrorWithoutASupervisor() {
    #expect(
      TerminalBanner.render(.agentBusy, color: false) == """
        ⧗ info: Agent Busy
          The agent is still working on your previous request. Please wait for it to finish.
          Wait for it to finish, or abort what it is doing.
          [w] Wait  [a] Abort

        """)
  }

  @Test func aFailedRecoveryIsCounted() {
    let shown = PresentedError(error: .sshTimeout(seconds: 5), attempts: 2)
    let text = TerminalBanner.render(shown, color: false)
    #expect(text.contains("The host did not answer for 5 seconds."))
    #expect(text.contains(" Retry failed (attempt 2)."))
    #expect(!text.contains("unexpected"))
  }

  static let colors: [(AppError, String)] = [
    (.agentBusy, "1;34"), (.networkUnavailable, "1;33"), (.sshTimeout(seconds: 1), "1;31"),
    (.internalError(detail: "d"), "1;31"),
  ]

  @Test func colorIsNeverAlone() {
    for (error, code) in Self.colors {
      let colored = TerminalBanner.render(error, color: true)
      #expect(colored.hasPrefix("\u{1B}[\(code)m"))
      #expect(colored.contains(" \(error.severity.name)"))
      let plain = colored.replacing("\u{1B}[\(code)m", with: "").replacing("\u{1B}[0m", with: "")
      #expect(plain == TerminalBanner.render(error, color: false))
    }
  }

  static let terminals: [(Bool, [String: String], Bool)] = [
    (true, [:], true), (true, ["TERM": "xterm"], true), (true, ["NO_COLOR": ""], true),
    (true, ["NO_COLOR": "1"], false), (true, ["TERM": "dumb"], false), (false, [:], false),
  ]

  @Test func colorIsForTerminalsThatWantIt() {
    for (isTerminal, environment, expected) in Self.terminals {
      let uses = TerminalBanner.usesColor(isTerminal: isTerminal, environment: environment)
      #expect(uses == expected)
    }
  }

  @Test func everyIconHasASignAndAnASCIISign() {
    let signs = Set(
      ErrorCatalogue.examples.map {
        TerminalBanner.render($0, color: false).prefix { $0 != " " }
      })
    #expect(signs.count == Set(ErrorCatalogue.examples.map(\.icon)).count)
    for error in ErrorCatalogue.examples {
      let sign = TerminalBanner.render(error, color: false, unicode: false).prefix { $0 != " " }
      #expect(!sign.isEmpty && sign.utf8.allSatisfy { 0x21..<0x7F ~= $0 })
    }
  }

  static let plans: [(RecoveryPlan, String)] = [
    (RecoveryPlan(next: .reconnect, at: .zero), "Reconnecting (attempt 1)"),
    (RecoveryPlan(next: .retry, at: .milliseconds(250)), "Trying again in 250 ms (attempt 1)"),
    (RecoveryPlan(next: .retry, at: .seconds(2), attempt: 2), "Trying again in 2 s (attempt 2)"),
    (
      RecoveryPlan(next: .reconnect, at: .seconds(125), attemptsLeft: 1),
      "Reconnecting in 2 min 5 s (attempt 1, 1 left)"
    ),
    (RecoveryPlan(next: .awaitNetwork), "Waiting for the network (attempt 1)"),
    (RecoveryPlan(next: .askPerson), "Waiting for your choice"),
    (RecoveryPlan(next: .giveUp), "Not tried again"),
  ]

  @Test func everyPlanHasItsWords() {
    for (plan, words) in Self.plans {
      let shown = PresentedError(error: .agentBusy, plan: plan)
      #expect(TerminalBanner.render(shown, color: false).contains("\n  \(words)\n"), "\(words)")
      #expect(WebBanner.render(shown).contains(">\(words)</p>"))
    }
    #expect(Set(Self.plans.map(\.0.next)) == Set(RecoveryPlan.Step.allCases))
  }
}
