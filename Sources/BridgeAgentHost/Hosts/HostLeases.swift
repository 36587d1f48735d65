import BridgeStore

/// Which agents of a store a host carries, and what it does next about each.
///
/// It has no clock: instants are given, as times since one that stays. A lease counts from before
/// its request was sent, and so ends here no later than in the store: what is not known to be ours
/// is not touched.
struct HostLeases: Sendable {
  /// What becomes of an agent whose work has ended.
  enum Ending: Sendable, Equatable {
    /// It is over: all that is kept of it is removed.
    case remove(AgentLease)
    /// It failed, and its work begins again after this time.
    case pause(Duration)
    /// Another host may take it.
    case release(AgentLease)
    /// Another host may have it.
    case leave
  }

  private enum Work: Sendable {
    case running(since: Duration)
    case paused(until: Duration)
    /// It is asked to end, and another host may have the agent then.
    case ending
  }

  private enum State: Sendable {
    /// The lease was requested.
    case requested
    /// The lease is good until then.
    case held(AgentLease, until: Duration, Work)
    /// The lease is not ours any more, and the work is asked to end.
    case lost(AgentLease)
  }

  private var states: [String: State] = [:]
  /// How often the work of an agent has failed in a row.
  private var failures: [String: Int] = [:]
  private let timing: AgentHostTiming
  /// Whether no agent is taken any more.
  private(set) var isStopping = false

  init(_ timing: AgentHostTiming) { self.timing = timing }

  /// The leases that are to last on.
  var leases: [AgentLease] {
    states.values.compactMap { if case .held(let lease, _, _) = $0 { lease } else { nil } }
      .sorted { $0.agent < $1.agent }
  }

  /// Whether nothing is carried or requested.
  var isEmpty: Bool { states.isEmpty }

  /// Whether the work under this lease may go on.
  func mayGoOn(_ lease: AgentLease) -> Bool {
    guard case .held(lease, _, .running) = states[lease.agent] else { return false }
    return true
  }

  /// When the next lease ends or the next work begins again; nil for neither.
  var nextInstant: Duration? {
    states.values.compactMap { state -> Duration? in
      switch state {
      case .held(_, let end, .paused(let next)): min(end, next)
      case .held(_, let end, _): end
      case .requested, .lost: nil
      }
    }.min()
  }

  // MARK: Taking

  /// The agents whose leases are to be requested, of those that the store has.
  mutating func take(from agents: [StoredAgent]) -> [String] {
    guard !isStopping else { return [] }
    let free = agents.filter { agent in
      states[agent.name] == nil && agent.carrier.map { $0.remaining <= .zero } ?? true
    }
    for agent in free { states[agent.name] = .requested }
    return free.map(\.name)
  }

  /// A lease was requested; false where it is requested or held already, or none is taken.
  mutating func request(_ agent: String) -> Bool {
    guard !isStopping, states[agent] == nil else { return false }
    states[agent] = .requested
    return true
  }

  /// A lease was granted. Returns whether the work begins; it is given back otherwise.
  mutating func begin(_ lease: AgentLease, until end: Duration, at now: Duration) -> Bool {
    guard !isStopping, end > now else {
      states[lease.agent] = nil
      return false
    }
    states[lease.agent] = .held(lease, until: end, .running(since: now))
    return true
  }

  /// A lease was not granted.
  mutating func miss(_ agent: String) { states[agent] = nil }

  // MARK: Holding

  /// The store has said which of the leases that were to last on are ours, until `end`.
  mutating func renew(_ asked: [AgentLease], held: [AgentLease], until end: Duration) {
    let held = Set(held)
    for lease in asked {
      guard case .held(lease, let before, let work) = states[lease.agent] else { continue }
      if held.contains(lease) {
        states[lease.agent] = .held(lease, until: max(before, end), work)
      } else {
        lose(lease, work)
      }
    }
  }

  /// A write under this lease was refused.
  mutating func lose(_ lease: AgentLease) {
    guard case .held(lease, _, let work) = states[lease.agent] else { return }
    lose(lease, work)
  }

  /// Gives up the leases that have ended; returns those whose work begins again.
  mutating func pass(to now: Duration) -> [AgentLease] {
    var starts: [AgentLease] = []
    for (agent, state) in states {
      guard case .held(let lease, let end, let work) = state else { continue }
      if end <= now {
        lose(lease, work)
      } else if case .paused(let next) = work, next <= now {
        states[agent] = .held(lease, until: end, .running(since: now))
        starts.append(lease)
      }
    }
    return starts.sorted { $0.agent < $1.agent }
  }

  private mutating func lose(_ lease: AgentLease, _ work: Work) {
    switch work {
    case .running, .ending: states[lease.agent] = .lost(lease)
    case .paused: states[lease.agent] = nil
    }
  }

  // MARK: Ending

  /// The work under this lease has ended.
  mutating func end(_ lease: AgentLease, hasFailed: Bool, at now: Duration) -> Ending {
    switch states[lease.agent] {
    case .held(lease, let end, let work):
      // What is over is over, also where it was asked to end.
      guard hasFailed else {
        forget(lease)
        return .remove(lease)
      }
      guard case .running(let since) = work else {
        forget(lease)
        return .release(lease)
      }
      let isOld = now - since >= timing.steady
      let count = isOld ? 1 : (failures[lease.agent] ?? 0) + 1
      failures[lease.agent] = count
      let pause = timing.pause(afterFailure: count)
      states[lease.agent] = .held(lease, until: end, .paused(until: now + pause))
      return .pause(pause)
    case .lost(lease):
      forget(lease)
      return .leave
    case .requested, .held, .lost, nil: return .leave
    }
  }

  private mutating func forget(_ lease: AgentLease) {
    states[lease.agent] = nil
    failures[lease.agent] = nil
  }

  /// Takes no agent any more and asks all work to end; returns the leases under which none runs.
  mutating func stop() -> [AgentLease] {
    isStopping = true
    var idle: [AgentLease] = []
    for (agent, state) in states {
      guard case .held(let lease, let end, let work) = state else { continue }
      switch work {
      case .running: states[agent] = .held(lease, until: end, .ending)
      case .paused:
        states[agent] = nil
        idle.append(lease)
      case .ending: break
      }
    }
    return idle.sorted { $0.agent < $1.agent }
  }
}
