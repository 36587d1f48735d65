/// All that is kept of one agent.
public struct AgentState: Sendable, Hashable {
  /// Where it runs; nil where that was not written.
  public var session: StoredSession?
  /// How far each effect of its output has come, by the effect's name.
  public var commits: [String: StoredValue]
  /// What was not delivered, in order.
  public var outbox: [OutboxMessage]
  /// Its approvals, in the order in which they were first written.
  public var approvals: [StoredApproval]

  /// What is kept of an agent; of one that is not known nothing.
  public init(
    session: StoredSession? = nil, commits: [String: StoredValue] = [:],
    outbox: [OutboxMessage] = [], approvals: [StoredApproval] = []
  ) {
    self.session = session
    self.commits = commits
    self.outbox = outbox
    self.approvals = approvals
  }
}
