import BridgeSSH
import Foundation
import Testing

@testable import BridgeAgentHost

@Suite("A person decides about a host key once, whenever a dial asks") struct HostKeyLedgerTests {
  private let start = Date(timeIntervalSinceReferenceDate: 0)

  private func question(_ fingerprint: String = "SHA256:a") -> HostKeyQuestion {
    HostKeyQuestion(host: "web", keyType: "ED25519", fingerprint: fingerprint, finding: .unknown())
  }

  private func decision(_ trusts: Bool, by name: String = "ada", at date: Date) -> HostKeyDecision {
    HostKeyDecision(trusts: trusts, by: name, at: date)
  }

  @Test(arguments: [true, false]) func allDialsThatWaitHaveOneAnswer(trusts: Bool) {
    var ledger = HostKeyLedger()
    #expect(ledger.ask(question(), at: start) == .wait(1))
    #expect(ledger.ask(question(), at: start) == .wait(1))
    #expect(ledger.pending(at: start).map(\.id) == [1])
    #expect(ledger.decision(about: 1) == nil)
    let first = decision(trusts, at: start)
    #expect(ledger.decide(1, first) == .decided(first))
    let second = decision(!trusts, by: "ben", at: start)
    #expect(ledger.decide(1, second) == .alreadyDecided(first))
    #expect(ledger.decision(about: 1) == first)
    #expect(ledger.pending(at: start) == [])
    #expect(ledger.decide(2, first) == nil)
  }

  /// A server that ends the dial is dialed again.
  @Test(arguments: [true, false]) func aDecisionBetweenTwoDialsCounts(trusts: Bool) {
    var ledger = HostKeyLedger()
    _ = ledger.ask(question(), at: start)
    ledger.end(1, at: start)
    #expect(ledger.pending(at: start + 500).map(\.id) == [1])
    _ = ledger.decide(1, decision(trusts, at: start + 500))
    #expect(ledger.ask(question(), at: start + 501) == .decided(trusts: trusts))
    // A person who has refused a key may retry, and is asked again.
    #expect(
      ledger.ask(question(), at: start + 502) == (trusts ? .decided(trusts: true) : .wait(2)))
  }

  @Test func aRefusalIsForTheDialsThatWaitAlone() {
    var ledger = HostKeyLedger()
    _ = ledger.ask(question(), at: start)
    _ = ledger.decide(1, decision(false, at: start))
    ledger.end(1, at: start)
    #expect(ledger.ask(question(), at: start + 1) == .wait(2))
  }

  @Test func aTrustedKeyIsAskedAboutAgainOnceKnownHostsShouldHaveIt() {
    var ledger = HostKeyLedger()
    _ = ledger.ask(question(), at: start)
    _ = ledger.decide(1, decision(true, at: start))
    ledger.end(1, at: start)
    #expect(ledger.ask(question(), at: start + HostKeyLedger.kept) == .decided(trusts: true))
    #expect(ledger.ask(question(), at: start + HostKeyLedger.kept + 1) == .wait(2))
  }

  @Test func aQuestionThatNoDialAsksGoes() {
    var ledger = HostKeyLedger()
    _ = ledger.ask(question(), at: start)
    ledger.end(1, at: start)
    #expect(ledger.pending(at: start + HostKeyLedger.unasked).count == 1)
    let later = start + HostKeyLedger.unasked + 1
    #expect(ledger.pending(at: later) == [])
    #expect(ledger.decide(1, decision(true, at: later)) == nil)
  }

  /// Nor is the answer about one key that about another.
  @Test func aHostWhoseKeyChangesWithEachDialHasOneQuestion() {
    var ledger = HostKeyLedger()
    for number in 1...1000 {
      #expect(ledger.ask(question("SHA256:\(number)"), at: start) == .wait(number))
      ledger.end(number, at: start)
    }
    #expect(ledger.pending(at: start).map(\.question.fingerprint) == ["SHA256:1000"])
    #expect(ledger.decide(999, decision(true, at: start)) == nil)
    _ = ledger.decide(1000, decision(true, at: start))
    #expect(ledger.ask(question("SHA256:x"), at: start) == .wait(1001))
  }
}
