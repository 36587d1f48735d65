public import FoundationEssentials

/// Whether a person trusts a host key.
public struct HostKeyDecision: Sendable, Hashable {
  /// Whether the key is the host's.
  public let trusts: Bool
  /// Who decided: a name that the application gave.
  public let by: String
  /// When.
  public let at: Date
}
