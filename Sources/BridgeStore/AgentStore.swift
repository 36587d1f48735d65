public import BridgeErrors

/// What an agent host keeps, so that it may be killed at any time and go on where it was.
///
///     let store = try await SQLiteStore(at: "state.db")
///     let lease = try await store.acquire("builder", for: "host-1", lasting: .seconds(2))
///     try await store.write([.commit(effect: "chat", point: point), .send(message)], under: lease)
///
/// What was reported is on disk. Each agent is carried by one host: a lease has a number, every
/// write carries it, and is refused once there is a newer one. A store is one value to its host;
/// two hosts may share what a database keeps.
///
/// An implementation performs requests; the functions of the extension make them.
public protocol AgentStore: Sendable {
  /// What errors call it: a path, or host and database. Without secrets.
  var name: String { get }

  /// Performs a request; all of it is on disk, or it throws.
  ///
  /// A canceled call returns early; what the store has taken by then is done all the same.
  /// - Throws: `agentTakenOver` where the request's lease is not the newest; `storeUnusable`, with
  ///   the problem `unavailable` where the store does not answer in time, and a change may then
  ///   have been made, or where too many requests wait; `validationError` for a name or a size
  ///   beyond `StoreLimits`; `databaseError`; `cancelled`, also when the store is closed.
  func perform(_ request: StoreRequest) async throws(AppError) -> StoreAnswer

  /// An element whenever something may have changed, also by another host: look again. Those that
  /// were not read are one.
  func changes() -> AsyncStream<Void>

  /// Finishes what was requested before and closes the store; every later call throws `cancelled`.
  func close() async
}

// Leases.
extension AgentStore {
  /// Takes an agent that no other host carries; at once where the lease of another has expired.
  ///
  /// A host that comes again under its name takes its own lease over, and the older lease ends.
  /// - Parameter lasting: how long it is good for, by the store's clock; a host renews it long
  ///   before.
  /// - Throws: `agentTakenOver` while another host has it; as `perform`.
  public func acquire(
    _ agent: String, for host: String, lasting: Duration
  ) async throws(AppError) -> AgentLease {
    let answer = try await perform(.acquire(agent: agent, host: host, lasting: lasting))
    guard case .lease(let lease) = answer else { throw answer.unexpected }
    return lease
  }

  /// Makes leases last from now on again; returns those that are still the newest.
  ///
  /// - Throws: as `perform`, but for `agentTakenOver`.
  public func renew(
    _ leases: [AgentLease], lasting: Duration
  ) async throws(AppError) -> [AgentLease] {
    let answer = try await perform(.renew(leases, lasting: lasting))
    guard case .leases(let held) = answer else { throw answer.unexpected }
    return held
  }

  /// Gives an agent up, so that another host takes it at once; nothing where another one has.
  ///
  /// - Throws: as `perform`, but for `agentTakenOver`.
  public func release(_ lease: AgentLease) async throws(AppError) {
    _ = try await perform(.release(lease))
  }
}

// What is kept of an agent.
extension AgentStore {
  /// Makes all the changes, or none of them.
  ///
  /// - Throws: `agentTakenOver` once another lease is newer; as `perform`.
  public func write(_ changes: [StoreChange], under lease: AgentLease) async throws(AppError) {
    _ = try await perform(.write(changes, under: lease))
  }

  /// Replaces an approval that is in the state `state`, on any host: the first caller decides.
  ///
  /// - Returns: the approval as the store has it now: `approval`, or what was decided before.
  /// - Throws: `validationError` where the agent has no such approval; as `perform`.
  public func replace(
    _ approval: StoredApproval, of agent: String, in state: String
  ) async throws(AppError) -> StoredApproval {
    let answer = try await perform(.replace(approval, agent: agent, state: state))
    guard case .approval(let kept) = answer else { throw answer.unexpected }
    guard let kept else {
      throw .validationError(field: "approval", message: "The agent has no such approval.")
    }
    return kept
  }

  /// All agents by name, with the hosts that carry them.
  ///
  /// - Throws: as `perform`.
  public func agents() async throws(AppError) -> [StoredAgent] {
    let answer = try await perform(.agents)
    guard case .agents(let agents) = answer else { throw answer.unexpected }
    return agents
  }

  /// What is kept of one agent; empty where nothing is.
  ///
  /// - Throws: as `perform`.
  public func state(of agent: String) async throws(AppError) -> AgentState {
    let answer = try await perform(.state(agent: agent))
    guard case .state(let state) = answer else { throw answer.unexpected }
    return state
  }

  /// The approvals in a state, by agent, each agent's in the order in which they came.
  ///
  /// - Throws: as `perform`.
  public func approvals(
    in state: String
  ) async throws(AppError) -> [String: [StoredApproval]] {
    let answer = try await perform(.approvals(state: state))
    guard case .approvals(let approvals) = answer else { throw answer.unexpected }
    return approvals
  }
}

// Outages.
extension AgentStore {
  /// Keeps an outage, in the place of one with the same id.
  ///
  /// - Throws: as `perform`.
  public func record(_ outage: StoredOutage) async throws(AppError) {
    _ = try await perform(.record(outage))
  }

  /// The outages that began at `start` or later, in milliseconds since 1970; the oldest first.
  ///
  /// - Throws: as `perform`.
  public func outages(since start: Int64) async throws(AppError) -> [StoredOutage] {
    let answer = try await perform(.outages(since: start))
    guard case .outages(let outages) = answer else { throw answer.unexpected }
    return outages
  }

  /// Removes the outages that began before `start`, in milliseconds since 1970.
  ///
  /// - Throws: as `perform`.
  public func removeOutages(before start: Int64) async throws(AppError) {
    _ = try await perform(.removeOutages(before: start))
  }
}
