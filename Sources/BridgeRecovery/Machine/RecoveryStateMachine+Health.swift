import BridgeErrors

extension RecoveryStateMachine {
  mutating func proved(_ generation: Int, at now: Moment) -> [Output] {
    guard live == generation else { return [] }
    use?.isProven = true
    return settleIfHealthy(generation, at: now)
  }

  /// Bytes that come after the time that health takes prove as much as an answer.
  mutating func heard(_ generation: Int, at instant: Moment, now: Moment) -> [Output] {
    guard live == generation, let use, !use.isHealthy,
      instant - use.since >= RecoveryDefaults.healthyAfter
    else { return [] }
    return proved(generation, at: now)
  }

  /// A round trip on this generation, and long enough up: trusted again.
  private mutating func settleIfHealthy(_ generation: Int, at now: Moment) -> [Output] {
    guard case .up = state, let current = use, current.isProven, !current.isHealthy,
      now - current.since >= RecoveryDefaults.healthyAfter
    else { return [] }
    use?.isHealthy = true
    settleDown()
    return [
      .clearTimer(.health(id)), .healthy(generation: generation),
      .emit(.becameHealthy, generation: generation),
    ]
  }

  mutating func suspected(
    _ generation: Int, silentFor silent: Duration, wantsStandby: Bool, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    guard case .up(generation) = state else { return [] }
    state = .degraded(generation: generation)
    // As good as healthy again: it was heard all the time since the last suspicion.
    if let use, use.isHealthy, case .calm(let since) = use.contact,
      now - silent - since >= RecoveryDefaults.healthyAfter
    {
      settleDown()
    }
    use?.contact = .silent(since: now - silent)
    let doubt: [Output] = [.emit(.suspected(silentFor: silent), generation: generation)]
    // A link that may not be dialed again gets no second connection either.
    guard wantsStandby, refusal == nil, use?.excludesStandby == false, policy.retries != 0 else {
      return doubt
    }
    standby = .planned
    let delay = standbyDelay(.normal, using: &generator)
    guard delay > .zero else { return doubt + wantStandby() }
    return doubt + [.setTimer(.standby(id), at: now + delay)]
  }

  /// How long until a second connection is dialed: the first one since the link was healthy at
  /// once, later ones as late as any other restart.
  private mutating func standbyDelay(
    _ pace: RetryPolicy.Pace, atLeast floor: Duration? = nil,
    using generator: inout some RandomNumberGenerator
  ) -> Duration {
    RetryPolicy.persistent.next(&standbyProgress, pace: pace, atLeast: floor, using: &generator)
      ?? .zero
  }

  /// Requests a second connection as soon as the one before it is torn down.
  mutating func wantStandby() -> [Output] {
    guard let standby, standby.generation == nil else { return [] }
    self.standby = .wanted
    return ending.isEmpty ? [.requestDial(isStandby: true, isForced: false)] : []
  }

  mutating func cleared(_ generation: Int, at now: Moment) -> [Output] {
    guard case .degraded(generation) = state else { return [] }
    state = .up(generation: generation)
    use?.contact = .calm(since: now)
    // That a second one was refused stays true, and shown.
    var outputs: [Output] = refusal == nil ? [.withdraw] : []
    if let use, !use.isHealthy {
      let trusted = max(now, use.since + RecoveryDefaults.healthyAfter)
      outputs.append(.setTimer(.health(id), at: trusted))
    }
    return [.emit(.cleared, generation: generation)] + outputs + dropStandby(at: now)
  }

  /// Drops the second connection, in whatever state it is.
  mutating func dropStandby(at now: Moment) -> [Output] {
    guard let standby else { return [] }
    self.standby = nil
    var outputs: [Output] = [.clearTimer(.standby(id)), .withdrawRequest(isStandby: true)]
    guard let generation = standby.generation else { return outputs }
    outputs.append(
      standby == .up(generation: generation)
        ? .abandoned(generation: generation) : .settleDial(.withdrawn(wasBegun: true)))
    return outputs + end(generation, at: now)
  }

  mutating func standbyFailed(
    _ generation: Int, _ failure: ConnectionError, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    let wasDialing = standby == .dialing(generation: generation)
    let report = Output.emit(.failed(failure), generation: generation)
    var outputs = [report] + end(generation, at: now)
    let next = retryStandby(after: failure, at: now, using: &generator)
    var until: Moment?
    for case .setTimer(_, let at) in next { until = at }
    let settled = outcome(failure, failure.retryClass(), retryAt: until ?? now)
    outputs.append(wasDialing ? .settleDial(settled) : .abandoned(generation: generation))
    return outputs + next
  }

  /// Plans the next second connection after one that failed. What refuses it may refuse only a
  /// second one: the first goes on, and once it is gone a dial of its own shows what is true.
  mutating func retryStandby(
    after failure: ConnectionError, at now: Moment,
    using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    let retry = failure.retryClass()
    if case .refusedUpgrade? = failure.kind { return excludeStandby() }
    guard retry.isAutomatic else {
      guard failure.kind?.stops == .host else { return excludeStandby() }
      standby = .planned
      refusal = failure
      return [.surface(finalReport(failure, retry))]
    }
    standby = .planned
    let delay = standbyDelay(failure.pace(retry), atLeast: failure.floor, using: &generator)
    return [.setTimer(.standby(id), at: now + max(delay, RecoveryDefaults.reconnectBase))]
  }

  private mutating func excludeStandby() -> [Output] {
    standby = nil
    use?.excludesStandby = true
    return []
  }

  mutating func fired(_ timer: RecoveryTimer, at now: Moment) -> [Output] {
    switch timer {
    case .retry:
      guard case .waiting = state else { return [] }
      return wantDial()
    case .standby:
      return wantStandby()
    case .health:
      guard let live else { return [] }
      let outputs = settleIfHealthy(live, at: now)
      guard use?.isHealthy != true else { return outputs }
      return [.setTimer(.health(id), at: now + RecoveryDefaults.healthyAfter), .disturb]
    case .teardown(_, let generation):
      guard ending.contains(generation) else { return [] }
      return [.emit(.lingered, generation: generation)] + tornDown(generation)
    case .host, .queue:
      return []
    }
  }

  mutating func suspend(
    by parent: ConnectionID, since: Moment, at now: Moment
  ) -> [Output] {
    var outputs: [Output] = []
    switch state {
    case .closed, .suspended:
      return []
    case .failed:
      // What failed since the parent was last heard failed because of it, if it can have.
      guard let gaveUp, gaveUp.isPassing, gaveUp.at >= since - RecoveryDefaults.settleWindow else {
        return []
      }
      outputs = [.withdraw]
    case .idle:
      downSince = now
    case .waiting:
      outputs = [.clearTimer(.retry(id))]
    case .ready:
      outputs = [.withdrawRequest(isStandby: false)]
    case .connecting(let generation):
      outputs = [.settleDial(.withdrawn(wasBegun: true))] + end(generation, at: now)
    case .up(let generation), .degraded(let generation):
      downSince = now
      use = nil
      outputs = [.clearTimer(.health(id))] + dropStandby(at: now)
      outputs += [.abandoned(generation: generation)] + end(generation, at: now)
      outputs.append(.down(since: since))
    }
    state = .suspended
    return outputs + [.emit(.suspended(by: parent), generation: nil)]
  }

  /// As after a healthy one, the trouble starts from the beginning, but for the retry that comes at
  /// once: each link that is lost waits, so that its owner decides about it.
  mutating func redial(after delay: Duration, at now: Moment) -> [Output] {
    guard case .waiting = state, !isAskedToWait else { return [] }
    settleDown()
    progress.mayStartAtOnce = false
    guard delay > .zero else { return [.clearTimer(.retry(id))] + wantDial() }
    state = .waiting(until: now + delay)
    return [.setTimer(.retry(id), at: now + delay)]
  }

  mutating func retryNow(rearms: Bool, restartsDial: Bool, at now: Moment) -> [Output] {
    // The cause of the refusal of a second connection is taken for removed: if not, the next
    // connection is refused too.
    let seen: [Output] = rearms && refusal != nil ? [.withdraw] : []
    if rearms {
      refusal = nil
      standbyProgress.reset()
    }
    switch state {
    case .idle, .suspended, .closed:
      return []
    case .connecting(let generation):
      guard restartsDial else { return [] }
      return [.settleDial(.withdrawn(wasBegun: true))] + end(generation, at: now) + wantDial()
    case .waiting:
      // A change of the path does not shorten a wait that a server requires.
      guard rearms || !isAskedToWait else { return [] }
      return [.clearTimer(.retry(id))] + wantDial(isForced: rearms)
    case .ready:
      return wantDial(isForced: rearms || isForced)
    case .failed:
      guard rearms else { return [] }
      settleDown()
      downSince = downSince ?? now
      return wantDial(isForced: true)
    case .up:
      return seen + [.disturb]
    case .degraded(let generation):
      return seen + (rearms ? abandon(generation, at: now) : [.disturb])
    }
  }
}
