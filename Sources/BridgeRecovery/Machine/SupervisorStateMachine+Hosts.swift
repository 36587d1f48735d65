import BridgeErrors

extension SupervisorStateMachine {
  /// The connection of a next generation is made first, and then has its turn to dial.
  mutating func prepare(_ request: HostGate.Request, at now: Moment) {
    let known = nodes[request.id]?.preparation
    guard let known, known.request.isStandby == request.isStandby else {
      nodes[request.id]?.preparation = .making(request)
      return actions.append(.prepare(request.id))
    }
    switch known {
    case .making: nodes[request.id]?.preparation = .making(request)
    case .made: park(request, at: now)
    }
  }

  mutating func prepared(_ id: ConnectionID, at now: Moment) {
    guard case .making(let request)? = nodes[id]?.preparation else { return }
    park(request, at: now)
  }

  mutating func unprepared(_ id: ConnectionID, _ failure: ConnectionError, at now: Moment) {
    guard case .making(let request)? = nodes[id]?.preparation else { return }
    nodes[id]?.preparation = nil
    advance(id, .unprepared(isStandby: request.isStandby, failure), at: now)
  }

  mutating func withdrawRequest(of id: ConnectionID, isStandby: Bool) {
    guard let node = nodes[id] else { return }
    gates[node.child.site]?.withdraw(id, isStandby: isStandby)
    guard node.preparation?.request.isStandby == isStandby else { return }
    nodes[id]?.preparation = nil
    actions.append(.discard(id))
  }

  private mutating func park(_ request: HostGate.Request, at now: Moment) {
    guard let node = nodes[request.id] else { return }
    nodes[request.id]?.preparation = .made(request)
    gates[node.child.site]?.park(request)
    let admission = admit(to: node.child.site, at: now)
    guard !request.isStandby, nodes[request.id]?.preparation != nil else { return }
    reportTurn(of: request.id, admission, at: now)
  }

  /// A link that has to wait for its turn reports it: what holds it up may be another link's.
  private mutating func reportTurn(
    of id: ConnectionID, _ admission: HostGate.Admission, at now: Moment
  ) {
    guard let node = nodes[id] else { return }
    let attempt = node.machine.attempts + 1
    if gates[node.child.site]?.stoppedBy != nil {
      let plan = RecoveryPlan(next: .askPerson, attempt: attempt, attemptsLeft: 0)
      publish(.waiting(plan), id.description, nil, at: now)
    } else if case .later(let instant) = admission {
      let plan = RecoveryPlan(
        next: .reconnect, at: max(.zero, instant - now), attempt: attempt, isSkippable: true)
      publish(.waiting(plan), id.description, nil, at: now)
    }
  }

  /// Forgets a site that no link leads to, now or as soon as nothing of it matters any more.
  mutating func forgetIfUnused(_ site: String, at now: Moment) {
    guard gates[site] != nil, !nodes.values.contains(where: { $0.child.site == site }) else {
      return
    }
    gates[site]?.lostItsLinks()
    if let until = gates[site]?.rememberedUntil(now) {
      return actions.append(.setTimer(.host(site), at: until))
    }
    gates[site] = nil
    actions.append(.clearTimer(.host(site)))
  }

  /// Starts as many of the dials that wait for `site` as may start now.
  @discardableResult
  mutating func admit(to site: String, at now: Moment) -> HostGate.Admission {
    while let admission = gates[site]?.admit(at: now) {
      switch admission {
      case .go(let request):
        nodes[request.id]?.preparation = nil
        advance(request.id, .granted(isStandby: request.isStandby), at: now)
      case .later(let instant):
        actions.append(.setTimer(.host(site), at: instant))
        return admission
      case .noDial:
        return admission
      }
    }
    return .noDial
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

  mutating func retryNow(
    _ ids: [ConnectionID], rearms: Bool, restarting: [ConnectionID] = [], at now: Moment
  ) {
    let sites = ids.compactMap { nodes[$0]?.child.site }
    let stopped = sites.filter { gates[$0]?.stoppedBy != nil }
    for site in sites { gates[site]?.retryNow(byPerson: rearms, at: now) }
    for id in ids {
      let restarts = restarting.contains(id)
      advance(id, .retryNow(rearms: rearms, restartsDial: restarts), at: now)
    }
    // A host that showed another key is tried by the link that a person chose; others follow.
    let chosen = ids.filter { nodes[$0]?.preparation != nil }.compactMap { nodes[$0]?.child.site }
    for site in sites where !(stopped.contains(site) && chosen.contains(site)) {
      admit(to: site, at: now)
    }
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
      forgetIfUnused(site, at: now)
    case .queue:
      queue.advance(to: now)
    }
  }
}
