/// How often and how soon something is tried again. Whether it is tried at all is the business of
/// the error's retry class.
public struct RetryPolicy: Sendable, Equatable {
  /// How a failure bears on the time until the next attempt.
  public enum Pace: Sendable, Hashable, CaseIterable {
    /// The policy's own backoff.
    case normal
    /// Nothing answered and nothing was sent: the delay is capped lower.
    case unanswered
    /// The server is too busy: long delays.
    case throttled
    /// The server is too busy with connections that are not authenticated yet: it is over as soon
    /// as they are, so the delays are capped lower.
    case turnedAway
  }

  /// Retries before giving up; nil for no limit.
  public var retries: Int?
  /// Delays after an ordinary failure.
  public var backoff: Backoff
  /// Highest delay while nothing answers; nil where the backoff stands as it is.
  public var unansweredCap: Duration?
  /// Delays after the server reported that it is too busy.
  public var throttled: Backoff
  /// Whether the first retry after a healthy time comes at once.
  public var startsAtOnce: Bool

  /// Creates a policy from these parts.
  public init(
    retries: Int?, backoff: Backoff, unansweredCap: Duration? = nil,
    throttled: Backoff = .throttled, startsAtOnce: Bool = false
  ) {
    self.retries = retries
    self.backoff = backoff
    self.unansweredCap = unansweredCap
    self.throttled = throttled
    self.startsAtOnce = startsAtOnce
  }

  /// Three retries after 2, 4 and 8 s exactly (S3-67…S3-69).
  public static let standard = RetryPolicy(
    retries: RecoveryDefaults.requestRetries,
    backoff: Backoff(base: RecoveryDefaults.requestBase, cap: RecoveryDefaults.throttledCap))

  /// Forever: at once after a healthy time, then full jitter from 100 ms to 30 s, at most 1 s
  /// while nothing answers.
  public static let persistent = RetryPolicy(
    retries: nil,
    backoff: Backoff(
      base: RecoveryDefaults.reconnectBase, cap: RecoveryDefaults.reconnectCap, jitter: .full),
    unansweredCap: RecoveryDefaults.unansweredCap, startsAtOnce: true)

  /// Counts a failure in `progress` and returns the delay before the next attempt.
  ///
  /// - Parameter floor: the delay that the server requires; it is obeyed up to
  ///   `RecoveryDefaults.throttledCap`.
  /// - Returns: nil when the retries are used up.
  public func next(
    _ progress: inout RetryProgress, pace: Pace, atLeast floor: Duration? = nil,
    using generator: inout some RandomNumberGenerator
  ) -> Duration? {
    if let retries, progress.retries >= retries { return nil }
    progress.retries += 1
    guard let floor else { return delay(&progress, pace, &generator) }
    let asked = min(floor, RecoveryDefaults.throttledCap)
    guard pace == .throttled else { return max(delay(&progress, pace, &generator), asked) }
    // The server says how long: its word takes the place of our guess, spread like that one.
    progress.throttled += 1
    let least = backoff.delay(beforeRetry: progress.throttled, using: &generator)
    let spread = asked * RecoveryDefaults.throttledSpread / 100
    let late = Duration.nanoseconds(
      Int64.random(in: 0...spread.wholeNanoseconds, using: &generator))
    return min(max(least, asked + late), RecoveryDefaults.throttledCap)
  }

  private func delay(
    _ progress: inout RetryProgress, _ pace: Pace, _ generator: inout some RandomNumberGenerator
  ) -> Duration {
    if startsAtOnce, progress.mayStartAtOnce, pace.mayStartAtOnce {
      progress.mayStartAtOnce = false
      return .zero
    }
    switch unansweredCap == nil && pace == .unanswered ? .normal : pace {
    case .normal:
      progress.normal += 1
      return backoff.delay(beforeRetry: progress.normal, using: &generator)
    case .unanswered:
      progress.unanswered += 1
      return backoff.delay(
        beforeRetry: progress.unanswered, cappedAt: unansweredCap, using: &generator)
    case .throttled:
      progress.throttled += 1
      return throttled.delay(beforeRetry: progress.throttled, using: &generator)
    case .turnedAway:
      progress.throttled += 1
      return throttled.delay(
        beforeRetry: progress.throttled, cappedAt: RecoveryDefaults.turnedAwayCap,
        using: &generator)
    }
  }
}

extension RetryPolicy.Pace {
  /// Whether the server requires no wait.
  var mayStartAtOnce: Bool {
    switch self {
    case .normal, .unanswered: true
    case .throttled, .turnedAway: false
    }
  }
}

extension Backoff {
  /// At least 15 s, doubling to 600 s, spread upwards.
  public static let throttled = Backoff(
    base: RecoveryDefaults.throttledBase, cap: RecoveryDefaults.throttledCap,
    jitter: .upward(percent: RecoveryDefaults.throttledSpread))
}
