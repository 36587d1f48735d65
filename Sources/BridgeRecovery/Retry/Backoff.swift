/// The one formula for the time between attempts: base × factor^(retry − 1), capped, then spread.
public struct Backoff: Sendable, Equatable {
  /// The random share of a delay.
  public enum Jitter: Sendable, Equatable {
    /// Not at all.
    case none
    /// Uniform from zero to the ceiling ("full jitter"), so that capping does not bunch delays.
    case full
    /// Longer by up to so many percent, never shorter than the plain delay except that the cap
    /// holds: there the whole band lies below it.
    case upward(percent: Int)
  }

  /// The random share of a delay.
  public let jitter: Jitter
  private let base: Int64
  private let factor: Int64
  private let cap: Int64

  /// A backoff that starts at `base` and never exceeds `cap`. Negative durations count as zero.
  public init(
    base: Duration, factor: Int = RecoveryDefaults.backoffFactor, cap: Duration,
    jitter: Jitter = .none
  ) {
    self.base = base.wholeNanoseconds
    self.factor = Int64(max(1, factor))
    self.cap = cap.wholeNanoseconds
    self.jitter = jitter
  }

  /// The delay before retry number `retry` (1 is the first), at most `limit` where that is lower
  /// than the cap.
  public func delay(
    beforeRetry retry: Int, cappedAt limit: Duration? = nil,
    using generator: inout some RandomNumberGenerator
  ) -> Duration {
    let cap = min(cap, limit?.wholeNanoseconds ?? .max)
    let grown = grown(retry)
    switch jitter {
    case .none:
      return .nanoseconds(min(cap, grown))
    case .full:
      return .nanoseconds(Int64.random(in: 0...min(cap, grown), using: &generator))
    case .upward(let percent):
      let (stretched, overflow) = grown.multipliedReportingOverflow(by: 100 + Int64(percent))
      let ceiling = min(cap, overflow ? .max : stretched / 100)
      let floor = ceiling / (100 + Int64(percent)) * 100
      return .nanoseconds(Int64.random(in: floor...ceiling, using: &generator))
    }
  }

  private func grown(_ retry: Int) -> Int64 {
    var delay = base
    for _ in 1..<max(1, min(retry, Int64.bitWidth)) {
      guard delay < cap else { break }
      let (next, overflow) = delay.multipliedReportingOverflow(by: factor)
      delay = overflow ? .max : next
    }
    return delay
  }
}

extension Duration {
  /// Nanoseconds, rounded down, from zero to `Int64.max`.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || carry ? .max : sum
  }
}
