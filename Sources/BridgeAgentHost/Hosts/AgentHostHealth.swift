/// Whether an agent host can do its work.
public enum AgentHostHealth: Sendable, Hashable, Codable {
  /// Why a host does less than it should.
  public enum Reason: Sendable, Hashable, Codable {
    /// Its run has not begun.
    case notRunning
    /// Its store could not be used when it was last asked: `AgentHostSnapshot.storeProblem`.
    case storeFails
    /// Its store has not answered for longer than a lease lasts; since then, in milliseconds since
    /// 1970.
    case storeSilent(since: Int64)
    /// So many of its agents wait, since their work has failed.
    case agentsPause(count: Int)
    /// So many of its agents wait for their machines, which it does not reach.
    case agentsWait(count: Int)
  }

  /// It takes agents and carries them.
  case ready
  /// It does less than it should.
  case degraded(Reason)
  /// It takes no agent any more: it shuts down, or its run is over.
  case stopping
}
