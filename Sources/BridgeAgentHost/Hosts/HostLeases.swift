import BridgeErrors
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

  /// How far a host's run has come.
  enum Phase: Sendable, Equatable {
    /// It has not begun.
    case new
    /// It takes agents.
    case running
    /// It takes no agent any more, and its work is asked to end.
    case stopping
    /// It is over.
    case over
  }

  /// An agent that is carried.
  struct Carried: Sendable, Equatable {
    enum Work: Sendable, Equatable {
      case running(since: Duration)
      /// It failed, and begins again then.
      case paused(AppError, since: Duration, until: Duration)
      /// It is asked to end, and another host may have the agent then.
      case ending(since: Duration)
    }

    let lease: AgentLease
    /// Since when this host has carried it.
    let since: Duration
    /// When the lease ends.
    fileprivate(set) var end: Duration
    fileprivate(set) var work: Work
  }

  /// How often something has happened.
  struct Counts: Sendable, Equatable {
    /// Agents were taken whose host had died or fallen silent.
    var takeovers = 0
    /// Leases ended or were another host's, and their work was asked to end.
    var losses = 0
    /// Work has failed, and begins again.
    var failures = 0
  }

  private enum State: Sendable {
    /// The lease was requested.
    case requested(isTakeover: Bool)
    /// The lease is good.
    case held(Carried)
    /// The lease is not ours any more, and the work is asked to end.
    case lost(AgentLease)
    /// The agent is over, its lease has ended with it, and the work is about to return.
    case closed(AgentLease)
  }

  private var states: [String: State] = [:]
  /// How often the work of an agent has failed in a row.
  private var failures: [String: Int] = [:]
  private let timing: AgentHostTiming
  private var turns: HostTurns
  private(set) var counts = Counts()
  /// How far the run has come.
  private(set) var phase = Phase.new

  /// - Parameter host: what other hosts call this one.
  init(_ timing: AgentHostTiming, host: String) {
    self.timing = timing
    turns = HostTurns(host: host, spread: timing.spread)
  }

  /// The agents that are carried, by name.
  var carried: [Carried] {
    states.values.compactMap { if case .held(let carried) = $0 { carried } else { nil } }
      .sorted { $0.lease.agent < $1.lease.agent }
  }

  /// The leases that are to last on.
  var leases: [AgentLease] { carried.map(\.lease) }

  /// Whether no agent is taken any more.
  var isStopping: Bool { phase == .stopping || phase == .over }

  /// Whether nothing is carried or requested.
  var isEmpty: Bool { states.isEmpty }

  /// Whether the work under this lease may go on.
  func mayGoOn(_ lease: AgentLease) -> Bool {
    if case .closed(lease) = states[lease.agent] { return !isStopping }
    guard case .held(let carried) = states[lease.agent], carried.lease == lease,
      case .running = carried.work
    else { return false }
    return true
  }

  /// When the next lease ends or the next work begins again; nil for neither.
  var nextInstant: Duration? {
    states.values.compactMap { state -> Duration? in
      guard case .held(let carried) = state else { return nil }
      guard case .paused(_, _, let next) = carried.work else { return carried.end }
      return min(carried.end, next)
    }.min()
  }

  /// When an agent that no host carries, or whose lease ends soon, may be this host's turn; nil
  /// where the store showed none.
  var nextLook: Duration? { turns.next }

  /// The run begins.
  mutating func open() { if phase == .new { phase = .running } }

  /// The run is over.
  mutating func close() { phase = .over }

  // MARK: Taking

  /// The agents whose leases are to be requested, of those that the store has: all that no host
  /// carries, each when it is this host's turn.
  ///
  /// - Parameter delay: how much later that is for an agent.
  mutating func take(
    from agents: [StoredAgent], at now: Duration,
    delay: (StoredAgent) -> Duration = { _ in .zero }
  ) -> [String] {
    guard !isStopping else { return [] }
    let own = states.values.count {
      switch $0 {
      case .requested, .held: true
      case .lost, .closed: false
      }
    }
    let open = agents.filter { !$0.isClosed }
    let free = turns.take(from: open, carried: own, at: now, delay: delay) {
      states[$0] != nil
    }
    for agent in free {
      // One that a host has given up is none.
      let isTakeover = agent.carrier.map { $0.lease.host != turns.host } ?? false
      states[agent.name] = .requested(isTakeover: isTakeover)
    }
    return free.map(\.name)
  }

  /// A lease was requested; false where it is requested or held already, or none is taken.
  mutating func request(_ agent: String) -> Bool {
    guard !isStopping, states[agent] == nil else { return false }
    states[agent] = .requested(isTakeover: false)
    return true
  }

  /// A lease was granted. Returns whether the work begins; it is given back otherwise.
  mutating func begin(_ lease: AgentLease, until end: Duration, at now: Duration) -> Bool {
    guard !isStopping, end > now else {
      states[lease.agent] = nil
      return false
    }
    if case .requested(isTakeover: true) = states[lease.agent] { counts.takeovers += 1 }
    states[lease.agent] = .held(
      Carried(lease: lease, since: now, end: end, work: .running(since: now)))
    return true
  }

  /// A lease was not granted.
  mutating func miss(_ agent: String) { states[agent] = nil }

  // MARK: Holding

  /// The store has said which of the leases that were to last on are ours, until `end`.
  mutating func renew(_ asked: [AgentLease], held: [AgentLease], until end: Duration) {
    let held = Set(held)
    for lease in asked {
      guard case .held(var carried) = states[lease.agent], carried.lease == lease else { continue }
      if held.contains(lease) {
        carried.end = max(carried.end, end)
        states[lease.agent] = .held(carried)
      } else {
        lose(carried)
      }
    }
  }

  /// A write under this lease was refused.
  mutating func lose(_ lease: AgentLease) {
    guard case .held(let carried) = states[lease.agent], carried.lease == lease else { return }
    lose(carried)
  }

  /// The agent of this lease is over, in the store as well.
  mutating func close(_ lease: AgentLease) {
    guard case .held(let carried) = states[lease.agent], carried.lease == lease else { return }
    states[lease.agent] = .closed(lease)
    failures[lease.agent] = nil
  }

  /// Gives up the leases that have ended; returns those whose work begins again.
  mutating func pass(to now: Duration) -> [AgentLease] {
    var starts: [AgentLease] = []
    for (agent, state) in states {
      guard case .held(var carried) = state else { continue }
      if carried.end <= now {
        lose(carried)
      } else if case .paused(_, _, let next) = carried.work, next <= now {
        carried.work = .running(since: now)
        states[agent] = .held(carried)
        starts.append(carried.lease)
      }
    }
    return starts.sorted { $0.agent < $1.agent }
  }

  private mutating func lose(_ carried: Carried) {
    counts.losses += 1
    switch carried.work {
    case .running, .ending: states[carried.lease.agent] = .lost(carried.lease)
    case .paused: states[carried.lease.agent] = nil
    }
  }

  // MARK: Ending

  /// The work under this lease has ended.
  ///
  /// - Parameter error: why; nil where the agent is over.
  mutating func end(_ lease: AgentLease, with error: AppError?, at now: Duration) -> Ending {
    switch states[lease.agent] {
    case .held(let carried) where carried.lease == lease: return end(carried, with: error, at: now)
    case .lost(lease), .closed(lease):
      forget(lease)
      return .leave
    case .requested, .held, .lost, .closed, nil: return .leave
    }
  }

  private mutating func end(
    _ carried: Carried, with error: AppError?, at now: Duration
  ) -> Ending {
    // What is over is over, also where it was asked to end.
    guard let error else {
      forget(carried.lease)
      return .remove(carried.lease)
    }
    guard case .running(let since) = carried.work else {
      forget(carried.lease)
      return .release(carried.lease)
    }
    let agent = carried.lease.agent
    let isOld = now - since >= timing.steady
    let count = isOld ? 1 : (failures[agent] ?? 0) + 1
    failures[agent] = count
    counts.failures += 1
    let pause = timing.pause(afterFailure: count)
    var carried = carried
    carried.work = .paused(error, since: now, until: now + pause)
    states[agent] = .held(carried)
    return .pause(pause)
  }

  private mutating func forget(_ lease: AgentLease) {
    states[lease.agent] = nil
    failures[lease.agent] = nil
  }

  /// Asks the work of an agent to end, so that another host may have the agent; returns its lease
  /// where none runs.
  mutating func giveUp(_ agent: String, at now: Duration) -> AgentLease? {
    guard case .held(var carried) = states[agent] else { return nil }
    switch carried.work {
    case .running:
      carried.work = .ending(since: now)
      states[agent] = .held(carried)
      return nil
    case .paused:
      forget(carried.lease)
      return carried.lease
    case .ending: return nil
    }
  }

  /// Takes no agent any more and asks all work to end; returns the leases under which none runs.
  mutating func stop(at now: Duration) -> [AgentLease] {
    phase = .stopping
    return states.keys.sorted().compactMap { giveUp($0, at: now) }
  }
}
