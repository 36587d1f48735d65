public import BridgeErrors

extension SupervisorStateMachine {
  /// Whether `target` is among `start` and everything that those depend on.
  func reaches(_ target: ConnectionID, from start: [ConnectionID]) -> Bool {
    var pending = start
    var seen: Set<ConnectionID> = []
    while let id = pending.popLast() {
      if id == target { return true }
      if seen.insert(id).inserted { pending += nodes[id]?.child.parents ?? [] }
    }
    return false
  }

  /// Why a link does not come up before a person decides: it gave up, or something that it depends
  /// on did, or its host is not dialed any more. nil while it may come up.
  public func obstacle(to id: ConnectionID) -> AppError? {
    var pending = [id]
    var seen: Set<ConnectionID> = []
    while let next = pending.popLast() {
      guard seen.insert(next).inserted, let node = nodes[next] else { continue }
      switch node.machine.state {
      case .connecting, .up, .degraded: break
      case .failed(let error): return error
      case .closed: return .cancelled
      case .idle, .suspended, .waiting, .ready:
        if let error = gates[node.child.site]?.stoppedBy { return error }
        pending += node.child.parents
      }
    }
    return nil
  }

  /// Answers the callers that wait for one of `ids`, or for what depends on it, with the reason why
  /// it does not come up.
  mutating func answerBlocked(_ ids: [ConnectionID]) {
    var seen: Set<ConnectionID> = []
    for id in ids.flatMap({ [$0] + descendants(of: $0) }) where seen.insert(id).inserted {
      if let error = obstacle(to: id) { actions.append(.giveUp(id, error)) }
    }
  }

  mutating func close(_ id: ConnectionID, at now: Moment) {
    let children = descendants(of: id)
    advance(id, .close, at: now)
    for child in children where nodes[child]?.machine.live == nil {
      actions.append(.giveUp(child, obstacle(to: child) ?? .cancelled))
    }
  }

  mutating func startIfPossible(_ id: ConnectionID, at now: Moment) {
    guard let node = nodes[id] else { return }
    let missing = node.child.parents.first { nodes[$0]?.machine.live == nil }
    if let missing {
      advance(id, .suspend(by: missing, since: now), at: now)
    } else {
      advance(id, .start, at: now)
    }
  }

  /// Steps one connection and carries its outputs out, in order.
  mutating func advance(
    _ id: ConnectionID, _ input: RecoveryStateMachine.Input, at now: Moment
  ) {
    guard let outputs = nodes[id]?.machine.step(input, at: now, using: &generator) else { return }
    for output in outputs { carryOut(output, of: id, at: now) }
  }

  private mutating func carryOut(
    _ output: RecoveryStateMachine.Output, of id: ConnectionID, at now: Moment
  ) {
    guard let node = nodes[id] else { return }
    let site = node.child.site
    switch output {
    case .requestDial(let isStandby, let isForced):
      prepare(
        .init(
          id: id, isStandby: isStandby, isForced: isForced,
          takesSlot: node.child.limitsUnauthenticated), at: now)
    case .withdrawRequest(let isStandby): withdrawRequest(of: id, isStandby: isStandby)
    case .dial(let generation): actions.append(.dial(id, generation: generation))
    case .close(let generation):
      gates[site]?.ended(id, generation, at: now)
      actions.append(.close(id, generation: generation))
      admit(to: site, at: now)
    case .promote(let generation): actions.append(.promote(id, generation: generation))
    case .disturb: actions.append(.disturb(id))
    case .setTimer(let timer, let at): actions.append(.setTimer(timer, at: at))
    case .clearTimer(let timer): actions.append(.clearTimer(timer))
    case .settleDial(let outcome): settle(id, site, outcome, at: now)
    case .up: for child in node.children { startIfPossible(child, at: now) }
    case .down(let since): suspendChildren(of: id, since: since, at: now)
    case .lost(let generation, let loss):
      gates[site]?.lost(id, generation, loss, at: now)
      if gates[site]?.stoppedBy != nil { answerBlocked([id]) }
      admit(to: site, at: now)
    case .replaced(let generation, let wasHealthy):
      gates[site]?.replaced(id, generation, wasHealthy: wasHealthy, at: now)
    case .abandoned(let generation):
      gates[site]?.abandoned(id, generation, at: now)
      admit(to: site, at: now)
    case .healthy(let generation):
      gates[site]?.becameHealthy(id, generation)
      admit(to: site, at: now)
    case .surface(let report): surface(report, of: node, at: now)
    case .withdraw: queue.resolve(id)
    case .giveUp: answerBlocked([id])
    case .retire: retire(id, at: now)
    case .emit(let step, let generation):
      publish(step, id.description, generation, at: now)
    }
  }

  private mutating func suspendChildren(
    of id: ConnectionID, since: Moment, at now: Moment
  ) {
    for child in nodes[id]?.children ?? [] {
      advance(child, .suspend(by: id, since: since), at: now)
    }
  }

  private mutating func surface(_ report: SeverityQueue.Report, of node: Node, at now: Moment) {
    queue.recoveryFailed(offered(report), at: now)
    queue.inhibit(descendants(of: node.child.id), under: node.child.id)
  }

  private func descendants(of id: ConnectionID) -> [ConnectionID] {
    var found: [ConnectionID] = []
    var pending = nodes[id]?.children ?? []
    while let next = pending.popLast() {
      guard !found.contains(next) else { continue }
      found.append(next)
      pending += nodes[next]?.children ?? []
    }
    return found
  }

  private mutating func retire(_ id: ConnectionID, at now: Moment) {
    guard let node = nodes.removeValue(forKey: id) else { return }
    order.removeAll { $0 == id }
    for parent in node.child.parents { nodes[parent]?.children.removeAll { $0 == id } }
    actions.append(.retire(id))
    forgetIfUnused(node.child.site, at: now)
  }

  /// When several links that depend on the same parent fail together while it is up, the parent is
  /// probed.
  mutating func recordFailure(of id: ConnectionID, at now: Moment) {
    for parent in nodes[id]?.child.parents ?? [] {
      guard nodes[parent]?.machine.live != nil else { continue }
      let last = nodes[parent]?.lastChildFailure
      nodes[parent]?.lastChildFailure = (id, now)
      guard let last, last.child != id, now - last.at <= RecoveryDefaults.settleWindow else {
        continue
      }
      actions.append(.disturb(parent))
    }
  }
}
