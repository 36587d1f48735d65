/// What a failed dial costs the retry budget of its host.
public enum DialCost: String, Sendable, CaseIterable {
  /// Nothing reached the peer: free.
  case neverSent
  /// The server was too busy: half of the cost.
  case throttled
  /// The host ended the dial itself and keeps nothing of it: the full cost.
  case ended
  /// The host may still hold the dial for a while: the full cost.
  case spent
}
