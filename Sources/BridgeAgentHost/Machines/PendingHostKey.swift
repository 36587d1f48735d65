public import BridgeSSH
public import FoundationEssentials

/// A host key that a person is asked about.
public struct PendingHostKey: Sendable, Hashable, Identifiable {
  /// What an answer names.
  public let id: Int
  /// The key, and what is known of its host.
  public let question: HostKeyQuestion
  /// When it was asked first.
  public let asked: Date
}
