/// The right of one host to write for one agent.
public struct AgentLease: Sendable, Hashable {
  /// The agent.
  public let agent: String
  /// The host that carries it.
  public let host: String
  /// The fencing number: every later lease of the store has a higher one. What an agent's writes
  /// reach besides the store may refuse lower ones likewise.
  public let fence: Int64

  /// A lease, as an implementation of a store grants it.
  public init(agent: String, host: String, fence: Int64) {
    self.agent = agent
    self.host = host
    self.fence = fence
  }
}
