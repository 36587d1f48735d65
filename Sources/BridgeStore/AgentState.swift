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
  /// Whether it is over, so that no host takes it.
  public var isClosed: Bool

  /// What is kept of an agent; of one that is not known nothing.
  public init(
    session: StoredSession? = nil, commits: [String: StoredValue] = [:],
    outbox: [OutboxMessage] = [], approvals: [StoredApproval] = [], isClosed: Bool = false
  ) {
    self.session = session
    self.commits = commits
    self.outbox = outbox
    self.approvals = approvals
    self.isClosed = isClosed
  }
}
