public import BridgeErrors

/// What dials to one host and port may cost together, so that many connections cannot storm it.
///
/// A bucket of tokens: a dial takes 10 and gives them back when it is proven that nothing was sent,
/// half of them when the server was too busy; proof of life fills it; one token comes back in 3 s.
/// One dial in 30 s is always allowed, so that no outage is forever.
public struct RetryBudget: Sendable, Equatable {
  /// The answer to a request to dial.
  public enum Admission: Sendable, Equatable {
    /// Go; so many tokens were taken, to be named when the dial is settled.
    case granted(charge: Int)
    /// Not before this instant.
    case refused(until: Moment)
  }

  private var tokens: Int
  private var countedAt: Moment
  private var lastDial: Moment?

  /// A full bucket at `now`.
  public init(at now: Moment) {
    tokens = RecoveryDefaults.budgetTokens
    countedAt = now
  }

  /// Tokens at `now`: 0…100.
  public func tokens(at now: Moment) -> Int {
    refilled(at: now).tokens
  }

  /// Requests one dial. `forced`: a person requested it; it is granted and takes what is there.
  public mutating func admit(at now: Moment, forced: Bool = false) -> Admission {
    self = refilled(at: now)
    if !forced, let until = refusal(at: now) { return .refused(until: until) }
    let charge = min(tokens, RecoveryDefaults.dialCost)
    tokens -= charge
    lastDial = now
    return .granted(charge: charge)
  }

  /// Until when a dial would be refused; nil where it would be granted.
  public func refusal(at now: Moment) -> Moment? {
    let budget = refilled(at: now)
    guard budget.tokens < RecoveryDefaults.dialCost, !probeIsDue(at: now) else { return nil }
    let missing = RecoveryDefaults.dialCost - budget.tokens
    let paid = budget.countedAt + RecoveryDefaults.tokenInterval * missing
    let probe = (lastDial ?? now) + RecoveryDefaults.probeInterval
    return min(paid, probe)
  }

  /// When the bucket is full again by time alone; nil where it is.
  func fullAgain(at now: Moment) -> Moment? {
    let budget = refilled(at: now)
    let missing = RecoveryDefaults.budgetTokens - budget.tokens
    return missing > 0 ? budget.countedAt + RecoveryDefaults.tokenInterval * missing : nil
  }

  /// Fills the bucket: the peer answered.
  public mutating func refill() {
    tokens = RecoveryDefaults.budgetTokens
  }

  /// Gives back what the failed dial that took `charge` should not have cost.
  public mutating func settle(charge: Int, at cost: DialCost) {
    switch cost {
    case .neverSent: refund(charge)
    case .throttled: refund(max(0, charge - RecoveryDefaults.throttledDialCost))
    case .ended, .spent: break
    }
  }

  private mutating func refund(_ amount: Int) {
    tokens = min(RecoveryDefaults.budgetTokens, tokens + amount)
  }

  private func probeIsDue(at now: Moment) -> Bool {
    guard let lastDial else { return true }
    return now >= lastDial + RecoveryDefaults.probeInterval
  }

  private func refilled(at now: Moment) -> RetryBudget {
    var next = self
    let elapsed = now - countedAt
    guard elapsed >= RecoveryDefaults.tokenInterval else { return next }
    let earned = elapsed.wholeNanoseconds / RecoveryDefaults.tokenInterval.wholeNanoseconds
    next.tokens = Int(min(Int64(RecoveryDefaults.budgetTokens), Int64(tokens) + earned))
    next.countedAt =
      countedAt
      + .nanoseconds(
        earned * RecoveryDefaults.tokenInterval.wholeNanoseconds)
    return next
  }
}
