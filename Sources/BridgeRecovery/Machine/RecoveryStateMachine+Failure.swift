public import BridgeErrors

extension RecoveryStateMachine {
  mutating func failed(
    _ generation: Int, _ failure: ConnectionError, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    if standby?.generation == generation {
      return standbyFailed(generation, failure, at: now, using: &generator)
    }
    guard current == generation else {
      stale += 1
      return []
    }
    let failure = live == nil ? counted(failure) : counted(closing: failure, at: now)
    let report: [Output] = [
      .emit(.failed(failure), generation: generation)
    ]
    if live != nil {
      return report + lost(generation, failure, at: now, using: &generator)
    }
    return report + end(generation, at: now)
      + decide(failure, isDial: true, at: now, using: &generator)
  }

  /// The same failure of a dial, and how often it has happened in a row.
  private mutating func counted(_ failure: ConnectionError) -> ConnectionError {
    guard var context = failure.context, context.kind == .dropped else {
      drops = nil
      return failure
    }
    let count = drops?.phase == context.phase ? drops?.count ?? 0 : 0
    drops = Drops(phase: context.phase, count: count + 1)
    if count > 0 { context.repeats = count + 1 }
    return ConnectionError(failure.error, context: context)
  }

  /// The same close of a connection in use, and how often an application has closed it so in a row,
  /// right after it came up.
  private mutating func counted(closing failure: ConnectionError, at now: Moment) -> ConnectionError
  {
    guard case .webSocketDisconnected(let code?, _) = failure.error, var context = failure.context,
      context.kind == .closedByApplication, let use,
      now - use.since <= RecoveryDefaults.healthyAfter
    else {
      closes = nil
      return failure
    }
    let count = closes?.code == code ? closes?.count ?? 0 : 0
    closes = Closes(code: code, count: count + 1)
    if count > 0 { context.repeats = count + 1 }
    return ConnectionError(failure.error, context: context)
  }

  /// The connection in use is gone: a second one takes over, or the next one is planned.
  private mutating func lost(
    _ generation: Int, _ failure: ConnectionError, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    let loss = loss(by: failure)
    let outputs = letGo(of: generation, at: now)
    if standby?.generation != nil {
      return outputs + switchOver(from: generation, loss, at: now)
    }
    let down = dropStandby(at: now) + goDown(generation, loss, at: now)
    if let refusal {
      let retry = refusal.retryClass()
      return outputs + down + giveUp(refusal, retry, at: now)
    }
    return outputs + down
      + decide(failure, isDial: false, at: now, using: &generator)
  }

  /// A person does not wait until the suspected `generation` is declared dead.
  mutating func abandon(_ generation: Int, at now: Moment) -> [Output] {
    let loss = Loss.cut(wasHealthy: use?.isHealthy == true)
    let outputs = letGo(of: generation, at: now)
    if standby?.generation != nil {
      return outputs + switchOver(from: generation, loss, at: now)
    }
    return outputs + dropStandby(at: now) + goDown(generation, loss, at: now)
      + wantDial(isForced: true)
  }

  private func loss(by failure: ConnectionError) -> Loss {
    failure.isAnswer.map { .answered(isGoing: $0) }
      ?? .cut(wasHealthy: use?.isHealthy == true)
  }

  private func goDown(_ generation: Int, _ loss: Loss?, at now: Moment) -> [Output] {
    let end = loss.map { Output.lost(generation: generation, $0) }
    return [.down(since: downSince ?? now), end ?? .abandoned(generation: generation)]
  }

  /// This side gives the generation in use up, which says nothing of its host. The next one comes
  /// as after any other loss: at once after a healthy time, then later each time.
  mutating func restart(
    _ generation: Int, _ failure: ConnectionError, isAsked: Bool, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    guard live == generation else { return [] }
    var outputs: [Output] = [.emit(.failed(failure), generation: generation)]
    outputs += letGo(of: generation, at: now)
    if standby?.generation != nil {
      return outputs + switchOver(from: generation, nil, at: now)
    }
    outputs += dropStandby(at: now) + goDown(generation, nil, at: now)
    let policy = isAsked ? .persistent : policy
    guard let delay = policy.next(&progress, pace: .normal, using: &generator) else {
      return outputs + giveUp(failure, .needsPerson, at: now)
    }
    return outputs + wait(delay, after: failure, .reconnect, at: now)
  }

  private mutating func letGo(of generation: Int, at now: Moment) -> [Output] {
    downSince = now
    // A suspected link has been of no use since its last received byte.
    if case .silent(let since)? = use?.contact { downSince = since }
    use = nil
    return end(generation, at: now) + [.clearTimer(.health(id))]
  }

  /// The second connection takes the place of the first, as far as it has come.
  private mutating func switchOver(
    from last: Int, _ loss: Loss?, at now: Moment
  ) -> [Output] {
    guard let standby, let next = standby.generation else { return [] }
    let isUp = standby == .up(generation: next)
    self.standby = nil
    attempts = 1
    let outputs: [Output] = [
      .clearTimer(.standby(id)), .down(since: downSince ?? now),
      .emit(.switched, generation: next),
    ]
    if isUp {
      let end: Output =
        if case .cut(let wasHealthy) = loss {
          .replaced(generation: last, wasHealthy: wasHealthy)
        } else {
          .abandoned(generation: last)
        }
      return outputs + [end] + takeOver(next, at: now)
    }
    state = .connecting(generation: next)
    return outputs + [
      loss.map { .lost(generation: last, $0) } ?? .abandoned(generation: last)
    ]
  }

  private mutating func decide(
    _ failure: ConnectionError, isDial: Bool, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    let retry = retryClass(of: failure)
    let mayRetry = wasEverUp || retriesFirstDial
    let delay =
      mayRetry && isWorthTrying(retry)
      ? policy.next(
        &progress, pace: failure.pace(retry), atLeast: failure.floor, using: &generator) : nil
    var outputs: [Output] = [.emit(.classified(retry), generation: nil)]
    if isDial {
      outputs.append(.settleDial(outcome(failure, retry, retryAt: now + (delay ?? .zero))))
    }
    guard let delay else { return outputs + giveUp(failure, retry, at: now) }
    return outputs + wait(delay, after: failure, retry, at: now)
  }

  /// The next attempt comes after `delay`.
  private mutating func wait(
    _ delay: Duration, after failure: ConnectionError, _ retry: RetryClass, at now: Moment
  ) -> [Output] {
    let plan = plan(for: retry, failure.error, delay: delay)
    let outputs: [Output] = [.surface(report(failure, plan, settles: true))]
    guard delay > .zero else { return outputs + wantDial() }
    state = .waiting(until: now + delay)
    isAskedToWait = failure.isAsked(retry)
    return outputs + [
      .emit(.waiting(plan), generation: nil), .setTimer(.retry(id), at: now + delay),
    ]
  }

  /// The outcome of a failed dial for its host.
  func outcome(_ failure: ConnectionError, _ retry: RetryClass, retryAt: Moment) -> DialOutcome {
    // An answer to the upgrade is about the credential, the path or the quota of this link.
    if case .refusedUpgrade? = failure.kind { return .answered(stopping: nil) }
    guard !retry.isAutomatic, retry != .never || failure.cost == .spent || failure.cost == .ended
    else {
      return .failed(
        failure.cost, retryAt: retryAt, isAsked: failure.isAsked(retry))
    }
    return .answered(stopping: failure.kind?.stops == .host ? failure.error : nil)
  }

  /// What follows from a failure here. An application that closes every new connection with the
  /// same code refuses what it is sent, a token for instance.
  private func retryClass(of failure: ConnectionError) -> RetryClass {
    if failure.chosenClass == nil, failure.isRefusedByApplication { return .needsPerson }
    return failure.retryClass(isFirstDial: !wasEverUp)
  }

  /// What is retried once has one attempt per healthy period.
  private mutating func isWorthTrying(_ retry: RetryClass) -> Bool {
    guard retry == .reconnectOnce else { return retry.isAutomatic }
    defer { hasRetriedOnce = true }
    return !hasRetriedOnce
  }

  private mutating func giveUp(
    _ failure: ConnectionError, _ retry: RetryClass, at now: Moment
  ) -> [Output] {
    state = .failed(failure.error)
    gaveUp = (now, failure.isPassing)
    let report = finalReport(failure, retry)
    let gaveUp = report.plan.map {
      Output.emit(.gaveUp(failure, $0), generation: nil)
    }
    return [.surface(report)] + (gaveUp.map { [$0] } ?? []) + [.giveUp(failure.error)]
  }

  /// Nothing more happens by itself: what could have been tried again may be, by choice.
  func finalReport(_ failure: ConnectionError, _ retry: RetryClass) -> SeverityQueue.Report {
    // A dismissal repairs nothing: a person can try again, change something, or close the link.
    let own = failure.error.recoveryOptions.map(\.kind)
      .filter { ![.dismiss, .retry, .reconnect, .cancel].contains($0) }
    let options =
      [.reconnect] + (retry.isAutomatic && own.isEmpty ? [.checkSettings] : own) + [.cancel]
    let plan = RecoveryPlan(
      next: retry == .never ? .giveUp : .askPerson, attempt: attempts + 1, attemptsLeft: 0,
      options: options)
    return report(failure, plan)
  }

  private func report(
    _ failure: ConnectionError, _ plan: RecoveryPlan, settles: Bool = false
  ) -> SeverityQueue.Report {
    var report = SeverityQueue.Report(
      failure: failure, source: id.description, plan: plan, settles: settles)
    report.link = id
    return report
  }

  private func plan(for retry: RetryClass, _ error: AppError, delay: Duration) -> RecoveryPlan {
    RecoveryPlan(
      next: retry == .awaitNetwork ? .awaitNetwork : .reconnect, at: delay, attempt: attempts + 1,
      attemptsLeft: policy.retries.map { max(0, $0 - progress.retries + 1) }, isSkippable: true,
      options: error.recoveryOptions.map(\.kind))
  }
}

extension RecoveryStateMachine {
  /// The connection of the next generation could not be made. Its host was not dialed.
  mutating func unprepared(
    isStandby: Bool, _ failure: ConnectionError, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    let report = Output.emit(.failed(failure), generation: nil)
    if isStandby {
      guard standby == .wanted else { return [] }
      return [report] + retryStandby(after: failure, at: now, using: &generator)
    }
    guard state == .ready else { return [] }
    attempts += 1
    return [report] + decide(failure, isDial: false, at: now, using: &generator)
  }

  /// Healthy: the next trouble starts from the beginning.
  mutating func settleDown() {
    progress.reset()
    standbyProgress.reset()
    hasRetriedOnce = false
  }
}

extension ConnectionError {
  /// Whether the peer ended a connection in use with a reason of its own, and then whether it may
  /// be gone for a while: it restarts, or is too busy. nil where nothing proves that it works.
  var isAnswer: Bool? {
    switch kind {
    case .closedByPeer, .closedByApplication, .rejected: return false
    default: break
    }
    // 1002 stands for 1012 to 1014 where the library does not know these.
    guard case .webSocketDisconnected(let code?, _) = error else { return nil }
    return [1001, 1002, 1012, 1013, 1014].contains(code) ? true : nil
  }

  /// The wait that the server requires, as a floor of the delay.
  var floor: Duration? {
    retryAfter.map { .seconds(max(0, $0)) }
  }

  /// So many connections in a row that an application closed at once with one code are no accident.
  private static let manyCloses = 3

  var isRefusedByApplication: Bool {
    context?.kind == .closedByApplication && (context?.repeats ?? 1) >= Self.manyCloses
  }

  /// Whether it may have had a reason that passes, such as the end of what the link depends on.
  var isPassing: Bool {
    !isRefusedByApplication && retryClass().isAutomatic
  }

  /// Whether the server requires the wait.
  func isAsked(_ retry: RetryClass) -> Bool {
    floor != nil || !retry.pace.mayStartAtOnce
  }

  /// How soon the next attempt may come. Where a server turns connections away because too many are
  /// not authenticated yet, the delay is no longer than that can last.
  func pace(_ retry: RetryClass) -> RetryPolicy.Pace {
    guard let context, context.kind == .throttled, context.phase.isBeforeSession, floor == nil
    else { return retry.pace }
    return .turnedAway
  }

  /// What the dial costs: nothing where it is proven that the peer never saw it.
  var cost: DialCost { context?.kind.dialCost ?? .spent }
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
