import BridgeSSH
import BridgeWaiting
public import FoundationEssentials

/// The host keys of machines that no known_hosts file vouches for, for people to decide about
/// wherever they see them: on a page, in a chat.
///
///     let questions = HostKeyQuestions()
///     let machine = try await RemoteMachine(
///       named: "build", supervisor, lookup: MachineOptions(answers: questions.answers()))
///     for await pending in questions.pending() { … }
///
/// A dial waits for the decision. Where its server ends it meanwhile (LoginGraceTime of sshd), the
/// next dial asks the same question, and has a decision that was made in between. A key that is
/// trusted is added to known_hosts, in the place of another one where the host's has changed.
public final class HostKeyQuestions: Sendable {
  private let ledger = Mutex(HostKeyLedger())
  private let changes = Changes()
  private let now: @Sendable () -> Date

  /// No questions yet.
  ///
  /// - Parameter now: the date now.
  public init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

  /// What answers the questions of logins: those about host keys from here.
  ///
  /// - Parameter others: answers the rest; nil where none is.
  public func answers(besides others: MachineOptions.Answers? = nil) -> MachineOptions.Answers {
    { account in
      var interaction = others?(account) ?? SSHInteraction()
      interaction.trust = { await self.isTrusted($0) }
      interaction.asksAboutChangedKeys = true
      return interaction
    }
  }

  /// What is asked, whenever that changes, the present list first: in order of age.
  public func pending() -> PendingHostKeys { PendingHostKeys(questions: self) }

  /// Decides about a question: the first answer counts.
  ///
  /// - Parameters:
  ///   - number: of the question, its `id`.
  ///   - trusts: whether the key is the host's.
  ///   - name: who decides, for the others.
  /// - Returns: what became of the answer; nil for a question that is not asked any more.
  public func decide(_ number: Int, trusts: Bool, by name: String) -> HostKeyReply? {
    let decision = HostKeyDecision(trusts: trusts, by: name, at: now())
    let answer = ledger.withLock { $0.decide(number, decision) }
    changes.announce()
    return answer
  }

  private func isTrusted(_ question: HostKeyQuestion) async -> Bool {
    let number: Int
    switch ledger.withLock({ $0.ask(question, at: now()) }) {
    case .decided(let trusts): return trusts
    case .wait(let waited): number = waited
    }
    changes.announce()
    defer {
      ledger.withLock { $0.end(number, at: now()) }
      changes.announce()
    }
    while !Task.isCancelled {
      let version = changes.version
      if let decision = ledger.withLock({ $0.decision(about: number) }) { return decision.trusts }
      try? await changes.wait(after: version)
    }
    return false
  }

  /// Waits for a list that differs; nil where the task is canceled.
  func pending(otherThan last: [PendingHostKey]?) async -> [PendingHostKey]? {
    while !Task.isCancelled {
      let version = changes.version
      let pending = ledger.withLock { $0.pending(at: now()) }
      if pending != last { return pending }
      try? await changes.wait(after: version)
    }
    return nil
  }
}
