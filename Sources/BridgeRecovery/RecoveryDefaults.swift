/// Every number of the recovery policy, once. Durations are on a clock that counts suspended time.
public enum RecoveryDefaults {
  // Requests: 3 retries after 2, 4 and 8 s (S3-67…S3-69).
  /// Retries of `.standard`, so one attempt more than this in all.
  public static let requestRetries = 3
  /// Delay before the first retry of `.standard`.
  public static let requestBase = Duration.seconds(2)

  // Reconnecting.
  /// Ceiling of the first jittered delay of `.persistent`.
  public static let reconnectBase = Duration.milliseconds(100)
  /// Highest delay of `.persistent`.
  public static let reconnectCap = Duration.seconds(30)
  /// Highest delay while nothing answers (refused or unreachable): such a dial costs the host
  /// nothing.
  public static let unansweredCap = Duration.seconds(1)
  /// Growth of every backoff per retry.
  public static let backoffFactor = 2
  /// Least delay after the server reported that it is too busy.
  public static let throttledBase = Duration.seconds(15)
  /// Highest delay after the server reported that it is too busy, and the longest delay given by a
  /// server that is obeyed.
  public static let throttledCap = Duration.seconds(600)
  /// Highest delay after the server turned a connection away before it was authenticated
  /// (MaxStartups): no longer than what makes it too busy can last.
  public static let turnedAwayCap = Duration.seconds(30)
  /// Share by which a throttled delay may be longer, in percent, so that many do not come at once.
  public static let throttledSpread = 25
  /// How long a generation with a round trip must stay up to count as healthy.
  public static let healthyAfter = Duration.seconds(10)
  /// How long an ended generation may take to close its descriptor and free its session.
  public static let teardownLimit = Duration.seconds(1)

  /// How long the function that makes a connection may take, before that is dialed.
  public static let makeLimit = Duration.seconds(30)

  /// How long the handler of a generation waits for the one before it to return.
  public static let handOverLimit = Duration.seconds(5)

  // Per host and port.
  /// Size of the retry budget in tokens.
  public static let budgetTokens = 100
  /// Tokens a dial costs.
  public static let dialCost = 10
  /// Tokens a dial costs that the server turned away as throttled.
  public static let throttledDialCost = 5
  /// Time in which one token comes back.
  public static let tokenInterval = Duration.seconds(3)
  /// One dial is allowed after this long without one, even without budget.
  public static let probeInterval = Duration.seconds(30)
  /// Dials in flight to one host and port while it is down.
  public static let dialsWhileDown = 1
  /// Unauthenticated connections in flight to one host and port, below MaxStartups 10:30:100.
  public static let unauthenticatedDials = 8
  /// How long a host may count a connection as unauthenticated that is authenticated for us, where
  /// no answer proves the opposite.
  public static let proofLimit = Duration.seconds(15)
  /// How long a host may count a connection that we gave up before it was authenticated.
  public static let departureTime = Duration.seconds(2)
  /// Restarts of generations that never became healthy, per `restartPeriod`, after which the
  /// breaker of the host opens.
  public static let restartIntensity = 8
  /// Hand-overs from generations that were not healthy count as one restart of the host within
  /// this time: many links that are replaced together had one reason.
  public static let outageWindow = Duration.seconds(1)
  /// The window of `restartIntensity`.
  public static let restartPeriod = Duration.seconds(60)
  /// Deadline of a dial that probes an open breaker; then its permit returns.
  public static let breakerProbeDeadline = Duration.seconds(60)

  // What a person sees.
  /// Reports of operations in the severity queue, the shown one included.
  public static let queueCapacity = 64
  /// How long an error that may be the echo of another, or over in a moment, is held back.
  public static let settleWindow = Duration.milliseconds(250)
  /// How long an entry waits before it ranks one level higher.
  public static let agingPeriod = Duration.seconds(60)
  /// Events a slow reader may be behind before it loses the oldest: an outage of two hundred links
  /// to one host is about three thousand.
  public static let eventBuffer = 4_096
}
