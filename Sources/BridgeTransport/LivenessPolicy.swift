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
