public import BridgeErrors

extension SeverityQueue {
  /// All that is on the screen at `now`, the shown error first. The time of each plan is what is
  /// left of its wait, in whole seconds that are rounded up; zero once the wait is over.
  public func presented(at now: Moment) -> [PresentedError] {
    visible.map { $0.presented(at: now) }
  }

  /// The next instant at which a countdown of `presented(at:)` changes; nil while none runs.
  public func nextCountdown(after now: Moment) -> Moment? {
    visible.compactMap { $0.nextCountdown(after: now) }.min()
  }
}

extension SeverityQueue.Entry {
  /// What is left of the wait for the next step; nil where the plan has none.
  private func remaining(at now: Moment) -> Duration? {
    guard let wait = presented.plan?.at, let planSince else { return nil }
    return max(.zero, planSince + wait - now)
  }

  /// The plan with what is left of its wait at `now`.
  func plan(at now: Moment?) -> RecoveryPlan? {
    guard var plan = presented.plan, let now, let remaining = remaining(at: now) else {
      return presented.plan
    }
    plan.at = remaining
    return plan
  }

  fileprivate func presented(at now: Moment) -> PresentedError {
    var presented = presented
    if let remaining = remaining(at: now) { presented.plan?.at = .seconds(remaining.seconds) }
    return presented
  }

  fileprivate func nextCountdown(after now: Moment) -> Moment? {
    guard let remaining = remaining(at: now), remaining > .zero else { return nil }
    return now + remaining - .seconds(remaining.seconds - 1)
  }
}

extension Duration {
  /// Whole seconds, rounded up.
  fileprivate var seconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
