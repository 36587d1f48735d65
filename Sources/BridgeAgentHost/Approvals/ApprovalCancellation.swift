public import FoundationEssentials

/// Why a request takes no answer any more.
public struct ApprovalCancellation: Sendable, Hashable, Codable {
  /// Who withdrew it.
  public enum Origin: Sendable, Hashable, Codable {
    /// The agent asks no longer.
    case agent
    /// A person or the application, by this name, ended what the agent did.
    case person(String)
    /// The agent asks something else under the same id.
    case replaced
  }

  /// Who withdrew it.
  public var by: Origin
  /// When.
  public var at: Date

  /// A cancellation.
  public init(by: Origin, at: Date) {
    self.by = by
    self.at = at
  }
}
