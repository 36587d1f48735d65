/// How far one resource is in its retries. Each pace grows by itself: a host that refused for a
/// minute and then drops one handshake is not made to wait half a minute for it.
public struct RetryProgress: Sendable, Equatable {
  /// Retries since the last healthy time.
  public internal(set) var retries = 0
  /// Whether the one retry that comes at once is still unspent. Earned by a healthy time, and a
  /// fresh resource has it: a link that flaps gets it once.
  public internal(set) var mayStartAtOnce = true
  var normal = 0
  var unanswered = 0
  var throttled = 0

  /// Nothing tried again yet.
  public init() {}

  /// Starts again from the beginning, after a healthy period or at a person's request.
  public mutating func reset() {
    self = RetryProgress()
  }
}
