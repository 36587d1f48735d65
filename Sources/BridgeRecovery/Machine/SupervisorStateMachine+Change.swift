public import BridgeErrors

extension SupervisorStateMachine {
  /// Replaces the settings of a connection: its name, its entry in the order and what depends on it
  /// stay.
  ///
  /// - Parameter reconnects: whether its connections are ended, because they lead elsewhere or are
  ///   made in another way; what depends on it is suspended until it is up again. Otherwise the
  ///   policy counts from the next failure on. What it depends on counts at once in both cases.
  /// - Throws: `cancelled` when it is unknown or closed, `internalError` when it would depend on
  ///   itself.
  public mutating func change(
    _ child: Child, reconnects: Bool, at now: Moment
  ) throws(AppError) -> [RecoveryAction] {
    guard let old = nodes[child.id]?.child, state(of: child.id) != .closed else {
      throw .cancelled
    }
    guard !reaches(child.id, from: child.parents) else {
      throw .internalError(detail: "\(child.id) would depend on itself")
    }
    let change = RecoveryStateMachine.Input.change(
      child.policy, retriesFirstDial: child.retriesFirstDial,
      reconnects: reconnects || child.site != old.site)
    // Everything about the old site is settled before the new one counts.
    advance(child.id, change, at: now)
    nodes[child.id]?.child = child
    for parent in old.parents { nodes[parent]?.children.removeAll { $0 == child.id } }
    for parent in child.parents { nodes[parent]?.children.append(child.id) }
    if gates[child.site] == nil { gates[child.site] = HostGate(at: now) }
    // Like a retry by hand, it may dial a host that is not dialed any more.
    if reconnects || child.site != old.site {
      gates[child.site]?.retryNow(byPerson: true, at: now)
    }
    startIfPossible(child.id, at: now)
    for site in [old.site, child.site] { admit(to: site, at: now) }
    forgetIfUnused(old.site, at: now)
    return finish(at: now)
  }
}
