/// What became of a person's answer.
public enum ApprovalAnswer: Sendable, Hashable {
  /// It is the decision, and is stored; the agent receives it.
  case decided(ApprovalDecision)
  /// Another answer came first.
  case alreadyDecided(ApprovalDecision)
  /// The request takes no answer any more.
  case canceled(ApprovalCancellation)

  /// A line for the person: "Already decided: Allow (ada)".
  public var text: String {
    switch self {
    case .decided(let decision): "Decided: \(decision.name)"
    case .alreadyDecided(let decision): "Already decided: \(decision.name) (\(decision.by))"
    case .canceled(let cancellation):
      switch cancellation.by {
      case .agent: "The agent asks no longer."
      case .person(let name): "Canceled by \(name)."
      case .replaced: "The agent asks something else now."
      }
    }
  }
}
