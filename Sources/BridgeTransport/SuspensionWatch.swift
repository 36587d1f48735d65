/// Detects that the machine was suspended, by a clock that counts that time beside one that does
/// not (CLOCK_BOOTTIME and CLOCK_MONOTONIC, clock_gettime(2)).
public struct SuspensionWatch: Sendable, Equatable {
  /// A shorter difference is a rounding error, not a sleep.
  public static let tolerance = Duration.milliseconds(500)
  /// The interval of checks: a sleep is detected well within 2 s of waking.
  public static let interval = Duration.seconds(1)

  private var suspended: Duration

  /// Creates a watch; `suspended` is the time this machine has slept so far.
  public init(suspended: Duration) {
    self.suspended = suspended
  }

  /// How long the machine slept since the last check; nil when it did not.
  public mutating func check(suspended now: Duration) -> Duration? {
    let slept = now - suspended
    suspended = now
    return slept > Self.tolerance ? slept : nil
  }

  /// The time by which the two clocks of this machine differ: what it has slept since it booted.
  public static func systemSuspension() -> Duration {
    let origin = ContinuousClock.now
    return origin - Self.continuousEpoch - (SuspendingClock.now - Self.suspendingEpoch)
  }

  private static let continuousEpoch = ContinuousClock.now
  private static let suspendingEpoch = SuspendingClock.now
}
