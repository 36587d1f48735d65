/// Stops what fails too often, and lets one deadline-bound probe through at a time until one works.
///
/// A probe that is never answered for loses its permit at its deadline, so the breaker cannot stay
/// half open forever.
public struct CircuitBreaker: Sendable, Equatable {
  /// The right to try, or how long there is none.
  public enum Admission: Sendable, Equatable {
    /// Closed: try as you like.
    case open(Permit)
    /// Not before this instant.
    case refused(until: Moment)
  }

  /// One admitted attempt. A permit is good for one answer; an old one is ignored.
  public struct Permit: Sendable, Hashable {
    fileprivate var probe: Int?
  }

  private enum State: Sendable, Equatable {
    case closed
    case tripped(until: Moment)
    case probing(number: Int, deadline: Moment)
  }

  private let threshold: Int
  private let period: Duration
  private let pause: Duration
  private let probeDeadline: Duration
  private var state = State.closed
  private var failures: [Moment] = []
  private var oldest = 0
  private var probes = 0

  /// A closed breaker that opens at `threshold` failures (at least 1) within `period`, then admits
  /// one probe after each `pause`.
  public init(
    threshold: Int = RecoveryDefaults.restartIntensity,
    period: Duration = RecoveryDefaults.restartPeriod,
    pause: Duration = RecoveryDefaults.probeInterval,
    probeDeadline: Duration = RecoveryDefaults.breakerProbeDeadline
  ) {
    self.threshold = max(1, threshold)
    self.period = period
    self.pause = pause
    self.probeDeadline = probeDeadline
  }

  /// Whether attempts are free.
  public var isClosed: Bool { state == .closed }

  /// When time alone has nothing more to change: its failures are too old to count. nil where there
  /// are none.
  var settled: Moment? {
    switch state {
    case .closed: failures.max().map { $0 + period }
    case .tripped(let until): until + period
    case .probing(_, let deadline): deadline + period
    }
  }

  /// Requests one attempt.
  public mutating func admit(at now: Moment) -> Admission {
    switch state {
    case .closed:
      return .open(Permit(probe: nil))
    case .tripped(let until) where now < until:
      return .refused(until: until)
    case .probing(_, let deadline) where now < deadline:
      return .refused(until: deadline)
    case .tripped, .probing:
      probes += 1
      state = .probing(number: probes, deadline: now + probeDeadline)
      return .open(Permit(probe: probes))
    }
  }

  /// What was admitted worked: a probe closes the breaker.
  public mutating func succeed(_ permit: Permit) {
    guard isCurrent(permit), permit.probe != nil else { return }
    close()
  }

  /// What was admitted failed at `now`.
  public mutating func fail(_ permit: Permit, at now: Moment) {
    guard isCurrent(permit) else { return }
    guard permit.probe == nil else {
      state = .tripped(until: now + pause)
      return
    }
    guard state == .closed else { return }
    remember(now)
    guard failures.count == threshold, now - failures[oldest] <= period else { return }
    state = .tripped(until: now + pause)
  }

  /// What was admitted said neither: its permit returns at once.
  public mutating func abandon(_ permit: Permit, at now: Moment) {
    guard isCurrent(permit), permit.probe != nil else { return }
    state = .tripped(until: now)
  }

  /// Closes, because a person requested it or the host works again.
  public mutating func close() {
    state = .closed
    failures.removeAll(keepingCapacity: true)
    oldest = 0
  }

  private func isCurrent(_ permit: Permit) -> Bool {
    guard let probe = permit.probe else { return true }
    if case .probing(probe, _) = state { return true }
    return false
  }

  private mutating func remember(_ now: Moment) {
    guard failures.count == threshold else {
      failures.append(now)
      return
    }
    failures[oldest] = now
    oldest = (oldest + 1) % threshold
  }
}
