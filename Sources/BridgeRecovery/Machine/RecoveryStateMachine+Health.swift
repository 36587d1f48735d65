import BridgeErrors

extension RecoveryStateMachine {
  mutating func proved(_ generation: Int, at now: Moment) -> [Output] {
    guard live == generation else { return [] }
    isProven = true
    return settleIfHealthy(generation, at: now)
  }

  /// A round trip on this generation, and long enough up: trusted again.
  private mutating func settleIfHealthy(_ generation: Int, at now: Moment) -> [Output] {
    guard isProven, !isHealthy, let upSince, now - upSince >= RecoveryDefaults.healthyAfter else {
      return []
    }
    isHealthy = true
    settleDown()
    return [.clearTimer(.health(id)), .healthy, .note(.becameHealthy, generation: generation)]
  }

  mutating func suspected(
    _ generation: Int, silentFor silent: Duration, at now: Moment
  ) -> [Output] {
    guard case .up(generation) = state else { return [] }
    state = .degraded(generation: generation)
    silentSince = now - silent
    let doubt: [Output] = [.note(.suspected(silentFor: silent), generation: generation)]
    guard refusal == nil else { return doubt }
    standby = Standby()
    standbyProgress.reset()
    return doubt + wantStandby()
  }

  /// Asks for a second connection as soon as nothing is left of the one before it.
  mutating func wantStandby() -> [Output] {
    guard standby?.generation == nil else { return [] }
    standby?.isWanted = true
    return ending.isEmpty ? [.requestDial(isStandby: true, isForced: false)] : []
  }

  mutating func cleared(_ generation: Int, at now: Moment) -> [Output] {
    guard case .degraded(generation) = state else { return [] }
    state = .up(generation: generation)
    silentSince = nil
    // That a second one was refused stays true, and shown.
    let shown: [Output] = refusal == nil ? [.withdraw] : []
    return [.note(.cleared, generation: generation)] + shown + dropStandby(at: now)
  }

  /// Lets go of the second connection, whatever it came to.
  mutating func dropStandby(at now: Moment) -> [Output] {
    guard let standby else { return [] }
    self.standby = nil
    var outputs: [Output] = [.clearTimer(.standby(id)), .withdrawRequest(isStandby: true)]
    guard let generation = standby.generation else { return outputs }
    if !standby.isUp { outputs.append(.settleDial(.withdrawn(wasBegun: true))) }
    return outputs + end(generation, at: now)
  }

  mutating func standbyFailed(
    _ generation: Int, _ failure: Failure, at now: Moment,
    using chance: inout some RandomNumberGenerator
  ) -> [Output] {
    let wasDialing = standby?.isUp == false
    standby = Standby()
    var outputs: [Output] = [
      .note(.failed(failure.error, failure.context), generation: generation)
    ]
    outputs += end(generation, at: now)
    let retry = failure.error.retryClass(in: failure.context)
    let delay = RetryPolicy.persistent.next(
      &standbyProgress, pace: retry.pace, atLeast: failure.floor, using: &chance)
    let until = now + max(delay ?? .zero, RecoveryDefaults.reconnectBase)
    if wasDialing { outputs.append(.settleDial(outcome(failure, retry, retryAt: until))) }
    guard retry.isAutomatic else {
      refusal = failure
      return outputs + [.surface(finalReport(failure, retry))]
    }
    return outputs + [.setTimer(.standby(id), at: until)]
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
      return isHealthy ? outputs : [.disturb]
    case .teardown(_, let generation):
      guard ending.contains(generation) else { return [] }
      return [.note(.lingered, generation: generation)] + tornDown(generation)
    case .host, .queue:
      return []
    }
  }

  mutating func suspend(by parent: ConnectionID, at now: Moment) -> [Output] {
    var outputs: [Output] = []
    switch state {
    case .failed, .closed, .suspended:
      return []
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
      outputs = [.clearTimer(.health(id))] + dropStandby(at: now) + end(generation, at: now)
      outputs.append(.down)
    }
    state = .suspended
    return outputs + [.note(.suspended(by: parent), generation: nil)]
  }

  mutating func hurry(rearms: Bool, at now: Moment) -> [Output] {
    if rearms { refusal = nil }
    switch state {
    case .idle, .suspended, .connecting, .closed:
      return []
    case .waiting:
      return [.clearTimer(.retry(id))] + wantDial(isForced: rearms)
    case .ready:
      return wantDial(isForced: rearms || isForced)
    case .failed:
      guard rearms else { return [] }
      settleDown()
      downSince = downSince ?? now
      return wantDial(isForced: true)
    case .up:
      return [.disturb]
    case .degraded(let generation):
      return rearms ? abandon(generation, at: now) : [.disturb]
    }
  }

  mutating func close(at now: Moment) -> [Output] {
    var outputs: [Output] = [.clearTimer(.retry(id)), .clearTimer(.health(id))]
    switch state {
    case .connecting(let generation):
      outputs += [.settleDial(.withdrawn(wasBegun: true))] + end(generation, at: now)
    case .up(let generation), .degraded(let generation):
      outputs += dropStandby(at: now) + end(generation, at: now) + [.down]
    case .ready:
      outputs.append(.withdrawRequest(isStandby: false))
    case .idle, .suspended, .waiting, .failed, .closed:
      break
    }
    state = .closed
    outputs += [.withdraw, .note(.closed, generation: nil)]
    return ending.isEmpty ? outputs + [.retire] : outputs
  }
}
