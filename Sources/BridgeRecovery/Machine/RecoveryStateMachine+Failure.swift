public import BridgeErrors

extension RecoveryStateMachine {
  struct Failure: Sendable {
    var error: AppError
    var context: FailureContext?
  }

  mutating func failed(
    _ generation: Int, _ failure: Failure, at now: Moment,
    using chance: inout some RandomNumberGenerator
  ) -> [Output] {
    if standby?.generation == generation {
      return standbyFailed(generation, failure, at: now, using: &chance)
    }
    guard current == generation else {
      stale += 1
      return []
    }
    let failure = live == nil ? counted(failure) : failure
    let report: [Output] = [
      .note(.failed(failure.error, failure.context), generation: generation)
    ]
    if live != nil {
      return report + lost(generation, failure, at: now, using: &chance)
    }
    return report + end(generation, at: now)
      + decide(failure, isDial: true, at: now, using: &chance)
  }

  /// The same failure of a dial, and how often it has happened in a row.
  private mutating func counted(_ failure: Failure) -> Failure {
    guard var context = failure.context, context.kind == .dropped else {
      drops = nil
      return failure
    }
    let count = drops?.phase == context.phase ? drops?.count ?? 0 : 0
    drops = Drops(phase: context.phase, count: count + 1)
    if count > 0 { context.repeats = count + 1 }
    return Failure(error: failure.error, context: context)
  }

  /// The connection in use is gone: a second one takes over, or the next one is planned.
  private mutating func lost(
    _ generation: Int, _ failure: Failure, at now: Moment,
    using chance: inout some RandomNumberGenerator
  ) -> [Output] {
    let wasHealthy = isHealthy
    let outputs = letGo(of: generation, at: now)
    if standby?.generation != nil { return outputs + switchOver(wasHealthy, at: now) }
    let down: [Output] = dropStandby(at: now) + [.down, .lost(wasHealthy: wasHealthy)]
    if let refusal {
      let retry = refusal.error.retryClass(in: refusal.context)
      return outputs + down + giveUp(refusal, retry)
    }
    return outputs + down
      + decide(failure, isDial: false, at: now, using: &chance)
  }

  /// A person will not wait for the verdict on the suspected `generation`.
  mutating func abandon(_ generation: Int, at now: Moment) -> [Output] {
    let wasHealthy = isHealthy
    let outputs = letGo(of: generation, at: now)
    if standby?.generation != nil { return outputs + switchOver(wasHealthy, at: now) }
    return outputs + dropStandby(at: now) + [.down, .lost(wasHealthy: wasHealthy)]
      + wantDial(isForced: true)
  }

  private mutating func letGo(of generation: Int, at now: Moment) -> [Output] {
    if isHealthy { settleDown() }
    // A link that was in doubt has been of no use since it was last heard.
    (downSince, upSince, silentSince) = (silentSince ?? now, nil, nil)
    return end(generation, at: now) + [.clearTimer(.health(id))]
  }

  /// The second connection takes the place of the first, as far as it has come.
  private mutating func switchOver(_ wasHealthy: Bool, at now: Moment) -> [Output] {
    guard let next = standby?.generation else { return [] }
    let isUp = standby?.isUp == true
    standby = nil
    attempts = 1
    let outputs: [Output] = [
      .clearTimer(.standby(id)), .down, .note(.switched, generation: next),
    ]
    if isUp { return outputs + takeOver(next, at: now) }
    state = .connecting(generation: next)
    return outputs + [.lost(wasHealthy: wasHealthy)]
  }

  private mutating func decide(
    _ failure: Failure, isDial: Bool, at now: Moment,
    using chance: inout some RandomNumberGenerator
  ) -> [Output] {
    let retry = failure.error.retryClass(in: failure.context, isFirstDial: !wasEverUp)
    let isPatient = wasEverUp || retriesFirstDial
    let delay =
      isPatient && isWorthTrying(retry)
      ? policy.next(&progress, pace: retry.pace, atLeast: failure.floor, using: &chance) : nil
    var outputs: [Output] = [.note(.classified(retry), generation: nil)]
    if isDial {
      outputs.append(.settleDial(outcome(failure, retry, retryAt: now + (delay ?? .zero))))
    }
    guard let delay else { return outputs + giveUp(failure, retry) }
    let plan = plan(for: retry, failure.error, delay: delay)
    let report = SeverityQueue.Report(
      error: failure.error, source: id.description, context: failure.context, plan: plan,
      settles: true)
    outputs.append(.surface(report))
    guard delay > .zero else { return outputs + wantDial() }
    state = .waiting(until: now + delay)
    return outputs + [
      .note(.waiting(plan), generation: nil), .setTimer(.retry(id), at: now + delay),
    ]
  }

  /// What a failed dial says about its host.
  func outcome(_ failure: Failure, _ retry: RetryClass, retryAt: Moment) -> DialOutcome {
    guard !retry.isAutomatic, retry != .never || failure.price == .spent else {
      return .failed(failure.price, retryAt: retryAt, isGone: failure.isGone)
    }
    return .answered(stopsHost: failure.context?.kind.stopsHost == true)
  }

  /// What is retried once has its one chance per healthy time.
  private mutating func isWorthTrying(_ retry: RetryClass) -> Bool {
    guard retry == .reconnectOnce else { return retry.isAutomatic }
    defer { isSecondChanceSpent = true }
    return !isSecondChanceSpent
  }

  private mutating func giveUp(_ failure: Failure, _ retry: RetryClass) -> [Output] {
    state = .failed(failure.error)
    let report = finalReport(failure, retry)
    let gaveUp = report.plan.map {
      Output.note(.gaveUp(failure.error, $0), generation: nil)
    }
    return [.surface(report)] + (gaveUp.map { [$0] } ?? []) + [.giveUp(failure.error)]
  }

  /// Nothing more happens by itself: what could have been tried again may be, by choice.
  func finalReport(_ failure: Failure, _ retry: RetryClass) -> SeverityQueue.Report {
    let options: [ErrorRecoveryOption.Kind] =
      retry.isAutomatic
      ? [.reconnect, .checkSettings] : failure.error.recoveryOptions.map(\.kind)
    let plan = RecoveryPlan(
      next: retry == .never ? .giveUp : .askPerson, attempt: attempts + 1, attemptsLeft: 0,
      options: options)
    return SeverityQueue.Report(
      error: failure.error, source: id.description, context: failure.context, plan: plan)
  }

  private func plan(for retry: RetryClass, _ error: AppError, delay: Duration) -> RecoveryPlan {
    RecoveryPlan(
      next: retry == .awaitNetwork ? .awaitNetwork : .reconnect, at: delay, attempt: attempts + 1,
      attemptsLeft: policy.retries.map { max(0, $0 - progress.retries + 1) }, isSkippable: true,
      options: error.recoveryOptions.map(\.kind))
  }

  /// Healthy again: the next trouble starts from the beginning.
  mutating func settleDown() {
    progress.reset()
    isSecondChanceSpent = false
  }
}

extension RecoveryStateMachine.Failure {
  /// What the server asked for, as a floor of the delay.
  var floor: Duration? {
    error.retryAfter(in: context).map { .seconds(max(0, $0)) }
  }

  /// Whether the host has nothing left of the dial: it never had, or it ended it itself.
  var isGone: Bool { price != .spent || context?.kind == .dropped }

  /// What the dial costs: nothing where it is proven that the peer never saw it.
  var price: RetryBudget.Outcome {
    switch context?.kind {
    case .nameUnknown, .nameTimeout, .offline, .refused, .unreachable, .localResource:
      .neverSent
    case .throttled: .throttled
    case .dialTimeout, .silent, .dropped, .notTheProtocol, .algorithmMismatch, .corrupted,
      .hostKeyProof, .rejected, .hostKeyUnknown, .hostKeyChanged, .hostKeyNewType,
      .authenticationRefused, .keyUnusable, .agentUnavailable, .channelDenied, .targetRefused,
      .outcomeUnknown,
      .linkLost, .linkSilent, .internalFault, .tls, .refusedUpgrade, .closedByPeer, .cancelled,
      nil:
      .spent
    }
  }
}

extension RetryClass {
  /// How soon the next attempt may come.
  public var pace: RetryPolicy.Pace {
    switch self {
    case .reconnectSoon, .awaitNetwork: .unanswered
    case .reconnectLater: .throttled
    case .reconnect, .reconnectOnce, .repeatOperation, .waitThenRepeat, .needsPerson, .never:
      .normal
    }
  }
}
