/// The durations by which liveness is evaluated.
public struct LivenessPolicy: Sendable, Equatable {
  /// What is lost when a live connection is exchanged for a new one.
  public enum SwitchingCost: Sendable, Hashable, CaseIterable {
    /// Nothing: an idempotent command, a forward, a session that can be resumed.
    case free
    /// A running shell or command dies with the connection; TCP may yet recover.
    case costly
  }

  /// Silence before a probe.
  public var keepalive: Duration
  /// What is lost by switching.
  public var switching: SwitchingCost
  /// How long an unresponsive peer is kept after the probe before it is declared dead, where
  /// switching is costly.
  public var deadAfter: Duration

  /// Creates a policy from these durations.
  public init(
    keepalive: Duration = defaultKeepalive, switching: SwitchingCost = .costly,
    deadAfter: Duration = defaultDeadAfter
  ) {
    self.keepalive = keepalive
    self.switching = switching
    self.deadAfter = deadAfter
  }

  /// Silence before a probe, where nothing else is set.
  public static let defaultKeepalive = Duration.seconds(5)
  /// How long an unresponsive peer is kept, where nothing else is set.
  public static let defaultDeadAfter = Duration.seconds(60)
  /// A wake-up later than this is our own lag and not the peer's silence.
  public static let lagTolerance = Duration.milliseconds(100)
  /// The interval at which a suspected peer is checked for received bytes.
  public static let lookInterval = Duration.milliseconds(250)
  /// From so many evaluated peers on, those whose silence ends at about the same time are probed
  /// together: an idle fleet then wakes a few times a second, and not for every link.
  public static let fleetSize = 16
  /// At about the same time: within this share of `keepalive`.
  static let fleetStep = 50

  /// The time of probes of many peers: `deadline`, later by a fiftieth of `keepalive`
  /// at most, in steps that all links of one keepalive share.
  public func shared(
    _ deadline: ContinuousClock.Instant, since origin: ContinuousClock.Instant
  ) -> ContinuousClock.Instant {
    let step = keepalive / Self.fleetStep
    guard step > .zero, deadline > origin else { return deadline }
    let steps = ((deadline - origin) / step).rounded(.up)
    return max(deadline, origin + step * steps)
  }

  /// So many acknowledged bytes a second, and so many at least, are a message that goes through and
  /// no probe or typed line: those the kernel acknowledges for a process that hangs, too.
  static let leastProgress: (perSecond: Double, atOnce: UInt64) = (2_048, 512)

  /// Whether `bytes` that the peer's kernel has acknowledged within `time` are a sign of life.
  func isProgress(_ bytes: UInt64, in time: Duration) -> Bool {
    bytes >= Self.leastProgress.atOnce
      && Double(bytes) >= Self.leastProgress.perSecond * (time / .seconds(1))
  }

  /// The silence before a probe of a peer that was sending steadily: a quarter of `keepalive`, and
  /// 250 ms at least. Where switching is costly nothing is gained by it: the peer is kept for long
  /// after the probe.
  var steadySilence: Duration {
    switch switching {
    case .free: min(keepalive, max(keepalive / 4, Self.leastSuspicion))
    case .costly: keepalive
    }
  }

  /// So many looks in a row that each found bytes of just now are a steady stream, and no answer to
  /// a command or a key.
  static let steadyLooks = 3

  /// The round trip that is assumed before one was measured.
  static let assumedRoundTrip = Duration.milliseconds(250)
  static let leastSuspicion = Duration.milliseconds(250)
  static let leastProbeTimeout = Duration.milliseconds(500)

  /// From the probe to a suspicion: max(250 ms, 4 × round trip), never later than `probeTimeout`.
  public func suspicion(_ roundTrip: Duration?) -> Duration {
    let wait = max(Self.leastSuspicion, (roundTrip ?? Self.assumedRoundTrip) * 4)
    return min(wait, probeTimeout(roundTrip))
  }

  /// From the probe until the peer is declared dead: max(keepalive / 2, 8 × round trip, 500 ms)
  /// where switching costs nothing, else `deadAfter`.
  public func probeTimeout(_ roundTrip: Duration?) -> Duration {
    switch switching {
    case .free:
      max(keepalive / 2, (roundTrip ?? Self.assumedRoundTrip) * 8, Self.leastProbeTimeout)
    case .costly:
      deadAfter
    }
  }
}
