/// The name of an approval request, the same on all links and after a restart.
///
/// It is not the id that the agent gave: an agent may use one again for another question, and an
/// answer to the first must not be taken for an answer to the second.
public struct ApprovalID: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The agent that asks.
  public var agent: String
  /// Counts the requests of the agent, from 1.
  public var number: Int

  /// A name.
  public init(agent: String, number: Int) {
    self.agent = agent
    self.number = number
  }

  /// `AGENT#NUMBER`.
  public var description: String { "\(agent)#\(number)" }
}
