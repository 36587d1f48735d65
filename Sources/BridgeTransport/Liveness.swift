/// Evaluates whether the peer of one connection is alive.
///
/// Received bytes are life, and so are many bytes of ours that the peer's kernel has taken: a probe
/// cannot pass them. A silence is probed, sooner where it follows a steady stream; an unanswered
/// probe becomes a suspicion, during which a second connection may be made ready; then the peer is
/// declared dead. A peer that answers before
/// that stays. Time in which this process was not running counts against no peer.
///
/// While the connection itself does not read, its silence means nothing, and the evaluation rests
/// until it reads again; then it begins with a probe. Until then a peer whose kernel has stopped is
/// indistinguishable from a healthy one: nothing arrives from either. Bytes of ours that stay
/// without an acknowledgement would not distinguish them, because a living peer whose own reader is
/// slow leaves them so as well. Where the kernel has something to send it gives up by itself
/// (`tcp_retries2`, about 15 minutes), and the transport reports that as the end of the connection.
public struct Liveness: Sendable, Equatable {
  /// An input.
  public enum Event: Sendable, Equatable {
    /// `deadline` has passed.
    case tick
    /// The last byte from the peer came at this instant.
    case heard(ContinuousClock.Instant)
    /// The state of the traffic, as it was just now.
    case observed(TrafficState)
    /// The probe was answered after this round trip.
    case answered(roundTrip: Duration)
    /// The network path changed: the peer must be probed.
    case disturbed
    /// The machine slept for so long, just before now: the peer must be probed.
    case slept(Duration)
  }

  /// An output, to be executed.
  public enum Action: Sendable, Equatable {
    /// Send a probe and wait for its answer at most this long.
    case sendProbe(within: Duration)
    /// Nothing came back yet; the peer has been silent for so long. The time to make a second
    /// connection ready, without giving up the first.
    case suspect(silentFor: Duration)
    /// The suspicion was wrong.
    case clear
    /// The peer is declared dead.
    case dead(silentFor: Duration)
  }

  /// An unanswered probe.
  private struct Probe: Sendable, Equatable {
    /// When the first one went out that has no answer yet.
    var since: ContinuousClock.Instant
    /// A late wake-up of ours was taken off its time. Once: the next one has read what the kernel
    /// had received by then, so that an answer cannot lie unread.
    var isExcused = false
  }

  private enum State: Sendable, Equatable {
    case quiet
    case probing(Probe)
    case suspecting(Probe)
    /// The connection does not read; `seen`: when that was observed last.
    case paused(seen: ContinuousClock.Instant)
    case gone
  }

  /// The numbers in use.
  public var policy: LivenessPolicy
  /// Smoothed round trip (RFC 6298, 2); nil until the first answer.
  public private(set) var roundTrip: Duration?
  private var state = State.quiet
  private var lastHeard: ContinuousClock.Instant
  /// Looks in a row that found bytes of just now.
  private var freshLooks = 0
  /// Whether the next answer begins such a row: the first one, and that of a peer that was sending
  /// steadily. Others are followed by silence, as a rule, and need no look of their own.
  private var listensAfterAnswer = true
  /// When the newest probe went out.
  private var probed: ContinuousClock.Instant?
  /// What the peer's kernel had acknowledged, and when that was observed.
  private var acknowledged: Acknowledged?

  private struct Acknowledged: Sendable, Equatable {
    var bytes: UInt64
    var at: ContinuousClock.Instant
  }

  /// A connection that was heard last at `now`.
  public init(policy: LivenessPolicy, at now: ContinuousClock.Instant) {
    self.policy = policy
    lastHeard = now
  }

  /// When `tick` is due; nil once the peer is declared dead.
  public var deadline: ContinuousClock.Instant? {
    switch state {
    case .quiet: lastHeard + (freshLooks > 0 ? policy.steadySilence : policy.keepalive)
    case .probing(let probe): probe.since + policy.suspicion(roundTrip)
    case .suspecting(let probe): probe.since + policy.probeTimeout(roundTrip)
    case .paused(let seen): seen + policy.keepalive
    case .gone: nil
    }
  }

  /// Whether no probe is unanswered.
  public var isQuiet: Bool {
    switch state {
    case .quiet, .paused: true
    case .probing, .suspecting, .gone: false
    }
  }

  /// Whether an unanswered probe has become a suspicion.
  public var isSuspecting: Bool {
    if case .suspecting = state { return true }
    return false
  }

  /// Takes an event at `now` and returns the actions.
  public mutating func step(_ event: Event, at now: ContinuousClock.Instant) -> [Action] {
    switch event {
    case .tick: tick(at: now)
    case .heard(let instant): look(instant, at: now)
    case .observed(let traffic): observe(traffic, at: now)
    case .answered(let sample): answer(sample, at: now)
    case .disturbed: disturb(at: now)
    case .slept(let duration): wake(after: duration, at: now)
    }
  }

  private mutating func tick(at now: ContinuousClock.Instant) -> [Action] {
    guard let deadline, now >= deadline else { return [] }
    let lag = now - deadline
    switch state {
    case .quiet:
      let wasSteady = freshLooks >= LivenessPolicy.steadyLooks
      freshLooks = 0
      guard wasSteady || now >= lastHeard + policy.keepalive else { return [] }
      listensAfterAnswer = wasSteady
      return probe(at: now)
    case .probing(let probe):
      if let excused = excuse(lag, probe) {
        state = .probing(excused)
        return []
      }
      state = .suspecting(probe)
      return [.suspect(silentFor: now - lastHeard)]
    case .suspecting(let probe):
      if let excused = excuse(lag, probe) {
        state = .suspecting(excused)
        return []
      }
      state = .gone
      return [.dead(silentFor: now - lastHeard)]
    case .paused:
      state = .paused(seen: now)
      return []
    case .gone:
      return []
    }
  }

  /// A late wake-up of ours: an answer may lie unread, so the time of the evaluation does not
  /// include it.
  private func excuse(_ lag: Duration, _ probe: Probe) -> Probe? {
    guard lag > LivenessPolicy.lagTolerance, !probe.isExcused else { return nil }
    return Probe(since: probe.since + lag, isExcused: true)
  }

  private mutating func probe(at now: ContinuousClock.Instant) -> [Action] {
    freshLooks = 0
    state = .probing(Probe(since: now))
    return ask(at: now)
  }

  private mutating func ask(at now: ContinuousClock.Instant) -> [Action] {
    probed = now
    return [.sendProbe(within: policy.probeTimeout(roundTrip))]
  }

  /// Probes at once. An unanswered probe stays as old as it is: otherwise a link that is disturbed
  /// often enough would never be declared dead. It is sent again unless the last one was just now.
  private mutating func disturb(at now: ContinuousClock.Instant) -> [Action] {
    switch state {
    case .quiet:
      return probe(at: now)
    case .probing, .suspecting:
      guard let probed, now - probed < policy.suspicion(roundTrip) else { return ask(at: now) }
      return []
    case .paused, .gone:
      return []
    }
  }

  /// The time of an unanswered probe does not include the sleep.
  private mutating func wake(
    after sleep: Duration, at now: ContinuousClock.Instant
  ) -> [Action] {
    switch state {
    case .probing(let probe): state = .probing(woken(probe, sleep, now))
    case .suspecting(let probe): state = .suspecting(woken(probe, sleep, now))
    case .quiet, .paused, .gone: break
    }
    return disturb(at: now)
  }

  private func woken(
    _ probe: Probe, _ sleep: Duration, _ now: ContinuousClock.Instant
  ) -> Probe {
    Probe(since: min(probe.since + sleep, now), isExcused: probe.isExcused)
  }

  private mutating func observe(
    _ traffic: TrafficState, at now: ContinuousClock.Instant
  ) -> [Action] {
    let last = acknowledged
    acknowledged = Acknowledged(bytes: traffic.acknowledged, at: now)
    if traffic.isPaused { return pause(at: now) }
    if case .paused = state { return probe(at: now) }
    guard let last, traffic.acknowledged > last.bytes,
      policy.isProgress(traffic.acknowledged - last.bytes, in: now - last.at)
    else { return [] }
    return isQuiet ? [] : hear(now)
  }

  private mutating func pause(at now: ContinuousClock.Instant) -> [Action] {
    guard state != .gone else { return [] }
    defer { state = .paused(seen: now) }
    return isSuspecting ? [.clear] : []
  }

  /// Bytes that were received while no probe was out show whether the peer sends steadily.
  private mutating func look(
    _ instant: ContinuousClock.Instant, at now: ContinuousClock.Instant
  ) -> [Action] {
    if state == .quiet, instant > lastHeard {
      freshLooks = now - instant < policy.steadySilence ? freshLooks + 1 : 0
    }
    return hear(instant)
  }

  private mutating func hear(_ instant: ContinuousClock.Instant) -> [Action] {
    guard instant > lastHeard else { return [] }
    lastHeard = instant
    switch state {
    case .quiet, .paused, .gone:
      return []
    case .probing(let probe):
      if instant >= probe.since { state = .quiet }
      return []
    case .suspecting(let probe):
      guard instant >= probe.since else { return [] }
      state = .quiet
      return [.clear]
    }
  }

  private mutating func answer(_ sample: Duration, at now: ContinuousClock.Instant) -> [Action] {
    roundTrip = roundTrip.map { ($0 * 7 + sample) / 8 } ?? sample
    let actions = hear(max(now, lastHeard + .nanoseconds(1)))
    if state == .quiet, listensAfterAnswer {
      freshLooks = 1
      listensAfterAnswer = false
    }
    return actions
  }
}
