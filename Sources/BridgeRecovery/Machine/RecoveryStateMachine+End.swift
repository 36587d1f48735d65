import BridgeErrors

// The ends of a link's connections that are no failure.
extension RecoveryStateMachine {
  mutating func close(at now: Moment) -> [Output] {
    var outputs = stop(at: now)
    state = .closed
    outputs += [.withdraw, .emit(.closed, generation: nil)]
    return ending.isEmpty ? outputs + [.retire] : outputs
  }

  /// With other settings the link begins anew: neither its failures nor its entry count any more.
  mutating func change(
    _ policy: RetryPolicy, retriesFirstDial: Bool, reconnects: Bool, at now: Moment
  ) -> [Output] {
    self.policy = policy
    self.retriesFirstDial = retriesFirstDial
    guard reconnects else { return [] }
    let outputs = stop(at: now)
    settleDown()
    state = .idle
    (wasEverUp, isForced, isAskedToWait) = (false, false, false)
    (gaveUp, drops, closes, refusal) = (nil, nil, nil, nil)
    attempts = 0
    return outputs + [.withdraw, .emit(.changed, generation: nil)]
  }

  /// Ends its connections, dials and waits.
  private mutating func stop(at now: Moment) -> [Output] {
    var outputs: [Output] = [.clearTimer(.retry(id)), .clearTimer(.health(id))]
    use = nil
    switch state {
    case .connecting(let generation):
      outputs += [.settleDial(.withdrawn(wasBegun: true))] + end(generation, at: now)
    case .up(let generation), .degraded(let generation):
      outputs += dropStandby(at: now) + [.abandoned(generation: generation)]
      outputs += end(generation, at: now) + [.down(since: now)]
    case .ready:
      outputs.append(.withdrawRequest(isStandby: false))
    case .idle, .suspended, .waiting, .failed, .closed:
      break
    }
    return outputs
  }
}
