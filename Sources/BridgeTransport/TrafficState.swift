/// The state of a transport's traffic, which silence alone does not show.
public struct TrafficState: Sendable, Equatable {
  /// Whether the connection does not read by choice: its reader is slow and its buffer is full.
  public var isPaused: Bool
  /// Bytes that the peer's kernel has acknowledged since the connection was made
  /// (`tcpi_bytes_acked`).
  public var acknowledged: UInt64
  /// A state.
  public init(isPaused: Bool = false, acknowledged: UInt64 = 0) {
    self.isPaused = isPaused
    self.acknowledged = acknowledged
  }
}
