/// What became of a person's answer about a host key.
public enum HostKeyReply: Sendable, Hashable {
  /// It is the decision.
  case decided(HostKeyDecision)
  /// Another answer came first.
  case alreadyDecided(HostKeyDecision)

  /// A line for the person: "Already decided: trusted (ada)".
  public var text: String {
    switch self {
    case .decided(let decision): "Decided: \(decision.word)"
    case .alreadyDecided(let decision): "Already decided: \(decision.word) (\(decision.by))"
    }
  }
}

extension HostKeyDecision {
  fileprivate var word: String { trusts ? "trusted" : "refused" }
}
