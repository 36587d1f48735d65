/// The numbers of a liveness judgement.
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
  /// From the probe to the verdict where switching is costly.
  public var patience: Duration

  /// A policy with these numbers.
  public init(
    keepalive: Duration = .seconds(5), switching: SwitchingCost = .costly,
    patience: Duration = .seconds(60)
  ) {
    self.keepalive = keepalive
    self.switching = switching
    self.patience = patience
  }

  /// A wake-up later than this is our own lag and not the peer's silence.
  public static let lagTolerance = Duration.milliseconds(100)
  /// How often to look whether a suspected peer was heard after all.
  public static let lookInterval = Duration.milliseconds(250)
  /// From so many judged peers on, those whose silence ends at about the same time are probed
  /// together: an idle fleet then wakes a few times a second, and not for every link.
  public static let fleetSize = 16
  /// At about the same time: within this share of `keepalive`.
  static let fleetStep = 50

  /// The time of probes where many peers are judged: `deadline`, later by a fiftieth of `keepalive`
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
  /// no probe, or line somebody typed: those the kernel takes for a process that hangs, too.
  static let leastProgress: (perSecond: Double, atOnce: UInt64) = (2_048, 512)

  /// Whether `bytes` that the peer's kernel has acknowledged within `time` are a sign of life.
  func isProgress(_ bytes: UInt64, in time: Duration) -> Bool {
    bytes >= Self.leastProgress.atOnce
      && Double(bytes) >= Self.leastProgress.perSecond * (time / .seconds(1))
  }

  /// The round trip that is assumed before one was measured.
  static let assumedRoundTrip = Duration.milliseconds(250)
  static let leastSuspicion = Duration.milliseconds(250)
  static let leastVerdict = Duration.milliseconds(500)

  /// From the probe to a suspicion: max(250 ms, 4 × round trip), never later than the verdict.
  public func suspicion(_ roundTrip: Duration?) -> Duration {
    let wait = max(Self.leastSuspicion, (roundTrip ?? Self.assumedRoundTrip) * 4)
    return min(wait, verdict(roundTrip))
  }

  /// From the probe to the verdict: max(keepalive / 2, 8 × round trip, 500 ms) where switching
  /// costs nothing, else `patience`.
  public func verdict(_ roundTrip: Duration?) -> Duration {
    switch switching {
    case .free:
      max(keepalive / 2, (roundTrip ?? Self.assumedRoundTrip) * 8, Self.leastVerdict)
    case .costly:
      patience
    }
  }
}
