/// How much is kept of an agent's requests.
public struct ApprovalLimits: Sendable, Hashable {
  /// How many requests of an agent may be pending or await their delivery.
  public var open: Int
  /// How long a request may be, and the values of its answer, in bytes of UTF-8 of all that is
  /// kept.
  public var size: Int
  /// How many requests of an agent are kept after their end, for answers that come late and for
  /// lines that are read again.
  public var settled: Int

  /// Limits.
  public init(open: Int = 64, size: Int = 256 << 10, settled: Int = 256) {
    self.open = max(1, open)
    self.size = max(1, size)
    self.settled = max(1, settled)
  }
}
