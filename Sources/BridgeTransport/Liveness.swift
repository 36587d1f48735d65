/// Judges whether the peer of one connection is still there.
///
/// Received bytes are life, sent bytes are not. A silence is probed; an unanswered probe becomes a
/// suspicion, during which a second connection may be made ready; then a verdict. A peer that
/// answers before the verdict stays. Time in which we ourselves were not running counts against
/// nobody.
public struct Liveness: Sendable, Equatable {
  /// What happened.
  public enum Event: Sendable, Equatable {
    /// `deadline` has passed.
    case tick
    /// The last byte from the peer came at this instant.
    case heard(ContinuousClock.Instant)
    /// The probe was answered after this round trip.
    case answered(roundTrip: Duration)
    /// The machine slept, or the network path changed: whatever was known is in doubt.
    case disturbed
  }

  /// What to do about it.
  public enum Action: Sendable, Equatable {
    /// Ask the peer for a round trip and wait at most this long.
    case sendProbe(within: Duration)
    /// Nothing came back yet; the peer has been silent for so long.
    case suspect(silentFor: Duration)
    /// Make a second connection ready, without giving up the first.
    case dialSecond
    /// The suspicion was wrong.
    case clear
    /// The peer is gone.
    case verdict(silentFor: Duration)
  }

  private enum State: Sendable, Equatable {
    case quiet
    case probing(since: ContinuousClock.Instant)
    case suspecting(since: ContinuousClock.Instant)
    case gone
  }

  /// The numbers in use.
  public let policy: LivenessPolicy
  /// Smoothed round trip (RFC 6298, 2); nil until the first answer.
  public private(set) var roundTrip: Duration?
  private var state = State.quiet
  private var lastHeard: ContinuousClock.Instant

  /// A connection that was heard last at `now`.
  public init(policy: LivenessPolicy, at now: ContinuousClock.Instant) {
    self.policy = policy
    lastHeard = now
  }

  /// When `tick` is due; nil after the verdict.
  public var deadline: ContinuousClock.Instant? {
    switch state {
    case .quiet: lastHeard + policy.keepalive
    case .probing(let since): since + policy.suspicion(roundTrip)
    case .suspecting(let since): since + policy.verdict(roundTrip)
    case .gone: nil
    }
  }

  /// Whether no question is open.
  public var isQuiet: Bool { state == .quiet }

  /// Whether an unanswered probe has become a suspicion.
  public var isSuspecting: Bool {
    if case .suspecting = state { return true }
    return false
  }

  /// Takes `event` in at `now` and says what to do.
  public mutating func step(_ event: Event, at now: ContinuousClock.Instant) -> [Action] {
    switch event {
    case .tick: tick(at: now)
    case .heard(let instant): hear(instant)
    case .answered(let sample): answer(sample, at: now)
    case .disturbed: probe(at: now)
    }
  }

  private mutating func tick(at now: ContinuousClock.Instant) -> [Action] {
    guard let deadline, now >= deadline else { return [] }
    let lag = now - deadline
    switch state {
    case .quiet:
      return probe(at: now)
    case .probing(let since):
      if lag > LivenessPolicy.lagTolerance { return excuse(lag, since: since) }
      state = .suspecting(since: since)
      return [.suspect(silentFor: now - lastHeard), .dialSecond]
    case .suspecting(let since):
      if lag > LivenessPolicy.lagTolerance { return excuse(lag, since: since) }
      state = .gone
      return [.verdict(silentFor: now - lastHeard)]
    case .gone:
      return []
    }
  }

  /// We woke late: an answer may lie unread, so the clock of the judgement stood still meanwhile.
  private mutating func excuse(
    _ lag: Duration, since: ContinuousClock.Instant
  ) -> [Action] {
    state = isSuspecting ? .suspecting(since: since + lag) : .probing(since: since + lag)
    return []
  }

  private mutating func probe(at now: ContinuousClock.Instant) -> [Action] {
    switch state {
    case .quiet, .probing:
      state = .probing(since: now)
    case .suspecting:
      state = .suspecting(since: now)
    case .gone:
      return []
    }
    return [.sendProbe(within: policy.verdict(roundTrip))]
  }

  private mutating func hear(_ instant: ContinuousClock.Instant) -> [Action] {
    guard instant > lastHeard else { return [] }
    lastHeard = instant
    switch state {
    case .quiet, .gone:
      return []
    case .probing(let since):
      if instant >= since { state = .quiet }
      return []
    case .suspecting(let since):
      guard instant >= since else { return [] }
      state = .quiet
      return [.clear]
    }
  }

  private mutating func answer(_ sample: Duration, at now: ContinuousClock.Instant) -> [Action] {
    roundTrip = roundTrip.map { ($0 * 7 + sample) / 8 } ?? sample
    return hear(max(now, lastHeard + .nanoseconds(1)))
  }
}
