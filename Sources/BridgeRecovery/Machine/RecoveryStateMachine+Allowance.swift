import BridgeErrors

// A connection pays for its own dials, second ones included, until it is healthy. What the host
// sees of many connections is limited by its gate; that gate's budget is full again with every dial
// that is answered, so it does not limit one link that is answered and dies again and again.
extension RecoveryStateMachine {
  /// A dial begins.
  mutating func payDial(at now: Moment) {
    var budget = allowance ?? RetryBudget(at: now)
    // The dial is granted: a wait for the allowance came before.
    if case .granted(let taken) = budget.admit(at: now, forced: true) { charge = taken }
    allowance = budget
  }

  /// The dial ended, and its host never saw it, or was too busy for it. One that was answered is
  /// paid until the connection is healthy, and one that we gave up is, too.
  mutating func refundDial(_ cost: DialCost) {
    allowance?.settle(charge: charge, at: cost)
    charge = 0
  }

  /// How long until the allowance pays another dial.
  func allowanceWait(at now: Moment) -> Duration {
    allowance?.refusal(at: now).map { $0 - now } ?? .zero
  }

  mutating func waitForAllowance(_ until: Moment, at now: Moment) -> [Output] {
    state = .waiting(until: until)
    isAskedToWait = false
    let plan = RecoveryPlan(
      next: .reconnect, at: until - now, attempt: attempts + 1, isSkippable: true)
    return [.emit(.waiting(plan), generation: nil), .setTimer(.retry(id), at: until)]
  }

  /// Healthy: the next trouble starts from the beginning.
  mutating func settleDown() {
    progress.reset()
    standbyProgress.reset()
    hasRetriedOnce = false
    allowance = nil
  }
}
