import BridgeErrors

extension SupervisorStateMachine {
  /// Starts as many of the dials that wait for `site` as may start now.
  mutating func admit(to site: String, at now: Moment) {
    while let admission = gates[site]?.admit(at: now) {
      switch admission {
      case .go(let request):
        advance(request.id, .granted(isStandby: request.isStandby), at: now)
      case .later(let instant):
        actions.append(.setTimer(.host(site), at: instant))
        return
      case .noDial:
        return
      }
    }
  }

  mutating func settle(
    _ id: ConnectionID, _ site: String, _ outcome: RecoveryStateMachine.DialOutcome,
    at now: Moment
  ) {
    let wasInFlight: Bool?
    switch outcome {
    case .alive(let generation):
      wasInFlight = gates[site]?.settle(id, as: .alive(generation: generation), at: now)
    case .answered(let error):
      wasInFlight = gates[site]?.settle(id, as: .answered, at: now)
      if let error { stop(site, error) }
    case .failed(let cost, let retryAt, let isAsked):
      let down = HostGate.Outcome.down(cost, until: retryAt, isAsked: isAsked)
      wasInFlight = gates[site]?.settle(id, as: down, at: now)
      if gates[site]?.stoppedBy != nil { answerBlocked(order.filter { $0 == id }) }
    case .withdrawn(let wasBegun):
      wasInFlight = gates[site]?.settle(id, as: .withdrawn(wasBegun: wasBegun), at: now)
    }
    if wasInFlight == true { admit(to: site, at: now) }
  }

  /// Stops every dial to `site` until a person has decided, and answers the callers that wait for a
  /// link to it.
  private mutating func stop(_ site: String, _ error: AppError) {
    gates[site]?.stop(error)
    answerBlocked(order.filter { nodes[$0]?.child.site == site })
  }

  /// The peer answered on this generation: it has counted it as authenticated.
  mutating func prove(_ id: ConnectionID, _ generation: Int, at now: Moment) {
    advance(id, .proved(generation: generation), at: now)
    guard let site = nodes[id]?.child.site else { return }
    if gates[site]?.proved(id, generation) == true { admit(to: site, at: now) }
  }

  mutating func retryNow(_ ids: [ConnectionID], rearms: Bool, at now: Moment) {
    let sites = ids.compactMap { nodes[$0]?.child.site }
    for site in sites { gates[site]?.retryNow(byPerson: rearms, at: now) }
    for id in ids { advance(id, .retryNow(rearms: rearms), at: now) }
    for site in sites { admit(to: site, at: now) }
  }

  mutating func redial(_ id: ConnectionID, after delay: Duration, at now: Moment) {
    guard let site = nodes[id]?.child.site else { return }
    gates[site]?.recordUse(at: now)
    advance(id, .redial(after: delay), at: now)
    admit(to: site, at: now)
  }

  mutating func fire(_ timer: RecoveryTimer, at now: Moment) {
    switch timer {
    case .retry(let id), .standby(let id), .health(let id), .teardown(let id, _):
      advance(id, .timer(timer), at: now)
    case .host(let site):
      admit(to: site, at: now)
    case .queue:
      queue.advance(to: now)
    }
  }
}
