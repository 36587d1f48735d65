import BridgeSSH
import FoundationEssentials

/// The host keys that people are asked about, and what they have decided. Pure: a step is returned,
/// and made elsewhere.
struct HostKeyLedger {
  /// What a dial does about its host key.
  enum Step: Equatable {
    /// It waits for the decision about this question.
    case wait(Int)
    /// It is decided.
    case decided(trusts: Bool)
  }

  private enum State {
    case pending
    /// A refusal that no dial has had yet is for the next one alone.
    case decided(HostKeyDecision, isOwed: Bool)
  }

  private struct Entry {
    let number: Int
    let question: HostKeyQuestion
    let asked: Date
    /// How many dials wait.
    var dials: Int
    /// When the last dial has begun to wait, or has ended.
    var used: Date
    var state = State.pending

    var isPending: Bool {
      if case .pending = state { true } else { false }
    }

    func isOld(at now: Date) -> Bool {
      guard dials == 0 else { return false }
      return switch state {
      case .pending: now.timeIntervalSince(used) > unasked
      case .decided(let decision, _): now.timeIntervalSince(decision.at) > kept
      }
    }
  }

  /// How long a question stays that no dial waits for: longer than the time between two dials.
  static let unasked: TimeInterval = 600
  /// How long a decision counts for other dials. Behind it known_hosts has the key.
  static let kept: TimeInterval = 300

  private var entries: [Entry] = []
  private var last = 0

  /// A dial asks.
  mutating func ask(_ question: HostKeyQuestion, at now: Date) -> Step {
    prune(at: now)
    let index = entries.lastIndex { $0.question == question }
    if let index {
      switch entries[index].state {
      case .pending:
        entries[index].dials += 1
        entries[index].used = now
        return .wait(entries[index].number)
      case .decided(let decision, _) where decision.trusts: return .decided(trusts: true)
      case .decided(let decision, isOwed: true):
        entries[index].state = .decided(decision, isOwed: false)
        return .decided(trusts: false)
      case .decided: break
      }
    }
    // A host whose key changes with each dial has one question.
    entries.removeAll { $0.isPending && $0.dials == 0 && $0.question.host == question.host }
    last += 1
    entries.append(Entry(number: last, question: question, asked: now, dials: 1, used: now))
    return .wait(last)
  }

  /// The decision that a dial waits for; nil while there is none.
  func decision(about number: Int) -> HostKeyDecision? {
    guard case .decided(let decision, _) = entries.first(where: { $0.number == number })?.state
    else { return nil }
    return decision
  }

  /// A dial waits no more: it has the decision, or has ended.
  mutating func end(_ number: Int, at now: Date) {
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
    entries[index].dials -= 1
    entries[index].used = now
  }

  /// A person decides; nil for a question that is not asked any more.
  mutating func decide(_ number: Int, _ decision: HostKeyDecision) -> HostKeyReply? {
    prune(at: decision.at)
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return nil }
    if case .decided(let first, _) = entries[index].state { return .alreadyDecided(first) }
    entries[index].state = .decided(decision, isOwed: entries[index].dials == 0)
    return .decided(decision)
  }

  /// What a person is asked now, the oldest first.
  func pending(at now: Date) -> [PendingHostKey] {
    entries.filter { $0.isPending && !$0.isOld(at: now) }
      .map { PendingHostKey(id: $0.number, question: $0.question, asked: $0.asked) }
  }

  private mutating func prune(at now: Date) { entries.removeAll { $0.isOld(at: now) } }
}
