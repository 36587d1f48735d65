import BridgeErrors

/// Storm control for one host and port: who may dial, when, and how many at once.
///
/// While the host is down one dial is in flight at a time and others wait for its outcome; while it
/// is up, eight may be unauthenticated, as the host counts them. Every dial is paid from one
/// budget, and generations that keep failing before they become healthy open the breaker: then
/// dials are slow probes.
struct HostGate: Sendable {
  /// A wish to dial.
  struct Request: Sendable, Equatable {
    var id: ConnectionID
    var isStandby: Bool
    /// A person asked: neither budget nor breaker stand in the way.
    var isForced: Bool
  }

  /// How a dial ended, as far as the host is concerned.
  enum Outcome: Sendable, Equatable {
    /// This generation authenticated.
    case alive(generation: Int)
    /// It answered, and the answer was final: the host is not down.
    case answered
    /// It failed for a reason that others would meet too; they wait as long as the next attempt.
    /// `isGone`: the host has nothing of it any more.
    case down(charge: RetryBudget.Outcome, until: Moment, isGone: Bool)
    /// We let go ourselves, of a dial that was begun or not.
    case withdrawn(wasBegun: Bool)
  }

  private struct Dial: Sendable {
    var request: Request
    var charge: Int
  }

  private(set) var isDown = false
  /// A changed host key stops every dial until a person has decided.
  private(set) var isStopped = false
  private(set) var budget: RetryBudget
  private var inFlight: [Dial] = []
  private var slots = DialSlots()
  private var parked: [Request] = []
  private var breaker = CircuitBreaker()
  private var permits: [ConnectionID: CircuitBreaker.Permit] = [:]
  private var lastToFail: ConnectionID?
  private var notBefore: Moment

  init(at now: Moment) {
    budget = RetryBudget(at: now)
    notBefore = now
  }

  var dialsInFlight: Int { inFlight.count }
  /// What the host may count as unauthenticated.
  var unauthenticated: Int { inFlight.count + slots.count }
  var isBreakerClosed: Bool { breaker.isClosed }

  mutating func park(_ request: Request) {
    parked.removeAll { $0.id == request.id && $0.isStandby == request.isStandby }
    parked.append(request)
  }

  mutating func withdraw(_ id: ConnectionID, isStandby: Bool) {
    parked.removeAll { $0.id == id && $0.isStandby == isStandby }
  }

  /// The next dial that may start, or when to ask again; nil for neither.
  mutating func admit(at now: Moment) -> Admission {
    slots.expire(at: now)
    guard !isStopped, !parked.isEmpty else { return .nobody }
    if isDown, inFlight.count >= RecoveryDefaults.dialsWhileDown { return .nobody }
    guard unauthenticated < RecoveryDefaults.unauthenticatedDials else {
      return slots.next.map { .later($0) } ?? .nobody
    }
    let first = parked.firstIndex { $0.isForced } ?? parked.firstIndex { belongsToProbe($0) }
    guard let index = first ?? parked.firstIndex(where: { isEligible($0, at: now) }) else {
      return .later(notBefore)
    }
    let request = parked[index]
    let permit: CircuitBreaker.Permit
    if belongsToProbe(request), let held = permits[request.id] {
      permit = held
    } else {
      switch breaker.admit(at: now) {
      case .open(let granted): permit = granted
      case .refused(let until): return .later(until)
      }
    }
    switch budget.admit(at: now, forced: request.isForced) {
    case .granted(let charge):
      parked.remove(at: index)
      inFlight.append(Dial(request: request, charge: charge))
      permits[request.id] = permit
      return .go(request)
    case .refused(let until):
      if !belongsToProbe(request) { breaker.abandon(permit, at: now) }
      return .later(until)
    }
  }

  enum Admission: Sendable, Equatable {
    case go(Request)
    case later(Moment)
    case nobody
  }

  /// The granted dial of `id` ended. Says false when there was none.
  @discardableResult
  mutating func settle(_ id: ConnectionID, as outcome: Outcome, at now: Moment) -> Bool {
    guard let index = inFlight.firstIndex(where: { $0.request.id == id }) else { return false }
    let dial = inFlight.remove(at: index)
    // Of a probe's two links the first one is judged for as long as it lives.
    let isJudged = !belongsToProbe(dial.request)
    switch outcome {
    case .alive(let generation):
      budget.settle(charge: dial.charge, as: .alive)
      slots.authenticated(id, generation, at: now)
      comeUp()
    case .answered:
      slots.abandoned(id, at: now)
      budget.settle(charge: dial.charge, as: .spent)
      if isJudged { breakerSettled(id, worked: true, at: now) }
      comeUp()
    case .down(let price, let until, let isGone):
      if !isGone { slots.abandoned(id, at: now) }
      budget.settle(charge: dial.charge, as: price)
      if isJudged { breakerSettled(id, worked: false, at: now) }
      isDown = true
      lastToFail = id
      notBefore = until
    case .withdrawn(let wasBegun):
      if wasBegun { slots.abandoned(id, at: now) }
      budget.settle(charge: dial.charge, as: .neverSent)
      if isJudged, let permit = permits.removeValue(forKey: id) {
        breaker.abandon(permit, at: now)
      }
    }
    return true
  }

  /// The first answer on a generation. Says false when nobody can have waited for it.
  mutating func proved(_ id: ConnectionID, _ generation: Int) -> Bool {
    slots.proved(id, generation)
  }

  /// A generation is closed.
  mutating func ended(_ id: ConnectionID, _ generation: Int, at now: Moment) {
    slots.ended(id, generation, at: now)
  }

  /// An established connection was lost. `wasHealthy`: it had been up long enough to count. Many
  /// that are lost together are one outage.
  mutating func lost(_ id: ConnectionID, wasHealthy: Bool, at now: Moment) {
    let isNews = !isDown
    isDown = true
    guard let permit = permits.removeValue(forKey: id) else { return }
    // A probe that came up and was lost has answered, with whatever else it went down.
    if !breaker.isClosed || !wasHealthy && isNews { breaker.fail(permit, at: now) }
  }

  /// A connection has been up long enough.
  mutating func becameHealthy(_ id: ConnectionID) {
    if let permit = permits.removeValue(forKey: id) { breaker.succeed(permit) }
  }

  /// The host showed the wrong key: nobody dials it until a person has decided.
  mutating func stop() {
    isStopped = true
  }

  /// The path came back, or a person decided: what was to be waited for is over. A person also
  /// lets a host be dialled again that showed a wrong key, or failed too often.
  mutating func hurry(byPerson isPerson: Bool, at now: Moment) {
    notBefore = now
    guard isPerson else { return }
    isStopped = false
    breaker.close()
  }

  private mutating func comeUp() {
    isDown = false
    lastToFail = nil
  }

  private mutating func breakerSettled(_ id: ConnectionID, worked: Bool, at now: Moment) {
    guard let permit = permits.removeValue(forKey: id), !breaker.isClosed else { return }
    if worked { breaker.succeed(permit) } else { breaker.fail(permit, at: now) }
  }

  /// The second link of the one that probes an open breaker is part of its probe.
  private func belongsToProbe(_ request: Request) -> Bool {
    request.isStandby && permits[request.id].map { breaker.isProbing($0) } == true
  }

  private func isEligible(_ request: Request, at now: Moment) -> Bool {
    !isDown || request.id == lastToFail || now >= notBefore
  }
}
