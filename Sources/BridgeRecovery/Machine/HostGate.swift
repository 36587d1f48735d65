import BridgeErrors

/// Storm control for the links of one group, as a rule those to one host and port: which links may
/// dial, when, and how many at once.
///
/// While the host is down one dial is in flight at a time and others wait for its outcome; while it
/// is up, eight may be unauthenticated, as the host counts them. Every dial is paid from one
/// budget, and generations that keep failing before they become healthy open the breaker: then
/// dials are slow probes.
struct HostGate: Sendable {
  /// A request to dial.
  struct Request: Sendable, Equatable {
    var id: ConnectionID
    var isStandby: Bool
    /// A person requested it: neither budget nor breaker nor a dial that hangs refuse it.
    var isForced: Bool
    /// The host limits connections that are not authenticated yet, as sshd does.
    var takesSlot = true
  }

  /// How a dial ended, as far as the host is concerned.
  enum Outcome: Sendable, Equatable {
    /// This generation authenticated.
    case alive(generation: Int)
    /// It answered, and the answer was final: the host is not down.
    case answered
    /// It failed for a reason that others would meet too; they wait as long as the next attempt.
    /// `isAsked`: the host itself requires the wait.
    case down(DialCost, until: Moment, isAsked: Bool)
    /// This side gave the dial up, begun or not.
    case withdrawn(wasBegun: Bool)
  }

  private struct Dial: Sendable {
    var request: Request
    var charge: Int
    var permit: CircuitBreaker.Permit
  }

  private(set) var isDown = false
  /// A changed host key stops every dial until a person has decided.
  private(set) var stoppedBy: AppError?
  private(set) var budget: RetryBudget
  private var inFlight: [Dial] = []
  private var slots = DialSlots()
  private var parked: [Request] = []
  private var breaker = CircuitBreaker()
  /// Of every generation that is up and not healthy yet.
  private var permits: [ConnectionID: [Int: CircuitBreaker.Permit]] = [:]
  private var lastToFail: ConnectionID?
  private var notBefore: Moment
  /// The host itself requires the wait until `notBefore`.
  private var isAsked = false
  private var lastReplaced: Moment?

  init(at now: Moment) {
    budget = RetryBudget(at: now)
    notBefore = now
  }

  var dialsInFlight: Int { inFlight.count }
  /// What the host may count as unauthenticated.
  var unauthenticated: Int { inFlight.count + slots.count }

  mutating func park(_ request: Request) {
    parked.removeAll { $0.id == request.id && $0.isStandby == request.isStandby }
    parked.append(request)
  }

  mutating func withdraw(_ id: ConnectionID, isStandby: Bool) {
    parked.removeAll { $0.id == id && $0.isStandby == isStandby }
  }

  /// The next dial that may start, or when to ask again, or neither.
  mutating func admit(at now: Moment) -> Admission {
    slots.expire(at: now)
    guard stoppedBy == nil else { return .noDial }
    // Where dials are slow probes a second connection is none.
    let requests = parked.indices.filter { !parked[$0].isStandby || breaker.isClosed }
    guard !requests.isEmpty else { return .noDial }
    let forced = requests.first { parked[$0].isForced }
    if forced == nil, isDown, inFlight.count >= RecoveryDefaults.dialsWhileDown { return .noDial }
    guard unauthenticated < RecoveryDefaults.unauthenticatedDials else {
      return slots.next.map { .later($0) } ?? .noDial
    }
    guard let index = forced ?? requests.first(where: { isEligible(parked[$0], at: now) }) else {
      return .later(notBefore)
    }
    let request = parked[index]
    let permit: CircuitBreaker.Permit
    switch breaker.admit(at: now) {
    case .open(let granted): permit = granted
    case .refused(let until): return .later(until)
    }
    switch budget.admit(at: now, forced: request.isForced) {
    case .granted(let charge):
      parked.remove(at: index)
      inFlight.append(Dial(request: request, charge: charge, permit: permit))
      return .go(request)
    case .refused(let until):
      breaker.abandon(permit, at: now)
      return .later(until)
    }
  }

  enum Admission: Sendable, Equatable {
    case go(Request)
    case later(Moment)
    case noDial
  }

  /// Settles the granted dial of `id`, which ended. False when there was none.
  @discardableResult
  mutating func settle(_ id: ConnectionID, as outcome: Outcome, at now: Moment) -> Bool {
    guard let index = inFlight.firstIndex(where: { $0.request.id == id }) else { return false }
    let dial = inFlight.remove(at: index)
    if dial.request.takesSlot { freeSlot(of: id, outcome, at: now) }
    switch outcome {
    case .alive(let generation):
      budget.refill()
      permits[id, default: [:]][generation] = dial.permit
      comeUp()
    case .answered:
      if !breaker.isClosed { breaker.succeed(dial.permit) }
      comeUp()
    case .down(let cost, let until, let isAsked):
      budget.settle(charge: dial.charge, at: cost)
      if !breaker.isClosed { breaker.fail(dial.permit, at: now) }
      isDown = true
      lastToFail = id
      (notBefore, self.isAsked) = (until, isAsked)
    case .withdrawn:
      budget.settle(charge: dial.charge, at: .neverSent)
      breaker.abandon(dial.permit, at: now)
    }
    return true
  }

  /// What the host may still count of a dial that ended.
  private mutating func freeSlot(of id: ConnectionID, _ outcome: Outcome, at now: Moment) {
    switch outcome {
    case .alive(let generation): slots.authenticated(id, generation, at: now)
    case .answered, .down(.spent, _, _), .withdrawn(wasBegun: true):
      slots.abandoned(id, at: now)
    // The host has nothing of it any more.
    case .down, .withdrawn: break
    }
  }

  /// Records the first answer on a generation. False when no dial can have waited for it.
  mutating func proved(_ id: ConnectionID, _ generation: Int) -> Bool {
    slots.proved(id, generation)
  }

  /// A generation is closed.
  mutating func ended(_ id: ConnectionID, _ generation: Int, at now: Moment) {
    slots.ended(id, generation, at: now)
  }

  /// An established generation was lost. A healthy one had been up long enough to count. Many that
  /// are lost together are one outage; one that the peer ended with a reason proves that it works.
  mutating func lost(
    _ id: ConnectionID, _ generation: Int, _ loss: RecoveryStateMachine.Loss, at now: Moment
  ) {
    let permit = takePermit(of: id, generation)
    switch loss {
    case .answered(let isGoing):
      isDown = isDown || isGoing
      if let permit { breaker.succeed(permit) }
    case .cut(let wasHealthy):
      let isNews = !isDown
      isDown = true
      guard let permit else { return }
      // A probe that came up and was lost has answered, with whatever else it went down.
      if !breaker.isClosed || !wasHealthy && isNews { breaker.fail(permit, at: now) }
    }
  }

  /// A second link, which is up, took the place of `generation`: a restart like any other, but the
  /// host is not down.
  mutating func replaced(
    _ id: ConnectionID, _ generation: Int, wasHealthy: Bool, at now: Moment
  ) {
    guard let permit = takePermit(of: id, generation), !wasHealthy else { return }
    if let lastReplaced, now - lastReplaced < RecoveryDefaults.outageWindow { return }
    lastReplaced = now
    breaker.fail(permit, at: now)
  }

  /// Records that this side closed a generation that was up: no evidence about the host.
  mutating func abandoned(_ id: ConnectionID, _ generation: Int, at now: Moment) {
    if let permit = takePermit(of: id, generation) { breaker.abandon(permit, at: now) }
  }

  /// A generation has been up long enough.
  mutating func becameHealthy(_ id: ConnectionID, _ generation: Int) {
    if let permit = takePermit(of: id, generation) { breaker.succeed(permit) }
  }

  /// The host presented the wrong key: it is not dialed until a person has decided.
  mutating func stop(_ error: AppError) {
    stoppedBy = error
  }

  /// Ends the waits, because the path came back or a person decided, except a wait that the host
  /// requires, which only a person overrules. A person also permits dials to a host that presented
  /// a wrong key, or failed too often.
  mutating func retryNow(byPerson isPerson: Bool, at now: Moment) {
    if isPerson || !isAsked { (notBefore, isAsked) = (now, false) }
    guard isPerson else { return }
    stoppedBy = nil
    breaker.close()
  }

  /// Records that a connection which was lost had been of use: it is not the host that fails. What
  /// the host itself requires, and a wrong key, stay.
  mutating func recordUse(at now: Moment) {
    guard !isAsked else { return }
    notBefore = now
    breaker.close()
  }

  /// The last link is gone: a host that shows another key may have been repaired, and what is added
  /// next finds out.
  mutating func lostItsLinks() {
    stoppedBy = nil
  }

  /// Until when it is kept without a link: because of what was spent, a breaker that is open or has
  /// counted failures, a wait that the host requires, or connections that the host may count.
  func rememberedUntil(_ now: Moment) -> Moment? {
    let reasons = [
      budget.fullAgain(at: now), breaker.settled, slots.last, isAsked ? notBefore : nil,
    ]
    return reasons.compactMap(\.self).filter { $0 > now }.max()
  }

  private mutating func comeUp() {
    isDown = false
    isAsked = false
    lastToFail = nil
  }

  private mutating func takePermit(
    of id: ConnectionID, _ generation: Int
  ) -> CircuitBreaker.Permit? {
    let permit = permits[id]?.removeValue(forKey: generation)
    if permits[id]?.isEmpty == true { permits[id] = nil }
    return permit
  }

  private func isEligible(_ request: Request, at now: Moment) -> Bool {
    !isDown || request.id == lastToFail || now >= notBefore
  }
}
