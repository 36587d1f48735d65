public import BridgeErrors
public import BridgeStore
public import FoundationEssentials
import BridgeSessionProtocol
import BridgeWaiting

/// Carries the agents of a store: each on exactly one of the hosts that share it.
///
///     let host = AgentHost("host-1", sharing: store)
///     try await host.add("builder", .session(session))
///     try await host.run { agent throws(AppError) in
///       // Goes on where `agent.state` says, until the agent is over: see `CarriedSession`.
///     }
///
/// A host that dies, or falls silent for as long as a lease lasts, loses its agents to the others.
/// One that was frozen and wakes up writes nothing: its leases have ended, and the store refuses
/// their numbers. More hosts on the same database are all that is needed for more machines.
public actor AgentHost {
  /// What an agent's work is: it returns when the agent is over, and is canceled when another host
  /// takes the agent, or this one shuts down. Nothing of it may go on after it has returned. What
  /// is kept of the agent is removed then, unless the work has closed it: `CarriedAgent.close`.
  public typealias Carry = @Sendable (CarriedAgent) async throws(AppError) -> Void

  /// Work that has failed.
  public struct Failure: Sendable {
    /// The agent.
    public let agent: String
    /// Why.
    public let error: AppError
    /// After which time it begins again.
    public let pause: Duration
  }

  /// What other hosts call it: its name, and a number of its own for each run, since what it did
  /// before it was killed may still be under way.
  public nonisolated let name: String
  nonisolated let timing: AgentHostTiming
  nonisolated let clock: HostClock
  private nonisolated let store: any AgentStore
  private let failed: @Sendable (Failure) -> Void
  private(set) var leases: HostLeases
  private(set) var watch = StoreWatch()
  /// Leases under which work is to begin.
  private var starts: [AgentLease] = []
  /// Why it cannot go on.
  private var problem: AppError?
  /// Reasons to look at the leases again, and what readers of snapshots wait for.
  nonisolated let changes = Changes()
  /// Reasons to look for agents without a host.
  private nonisolated let looks = Changes()
  /// The answers that were given on other hosts.
  private nonisolated let answers = StoredAnswers()
  /// The machines that its agents' sessions wait for.
  nonisolated let reach: ReachWatch
  private nonisolated let shutDown = Latch()

  /// A host that carries nothing before `run`.
  ///
  /// - Parameters:
  ///   - name: what the host is called; two may have one name.
  ///   - store: what the agents and all hosts share.
  ///   - timing: how long leases last, and how often it looks.
  ///   - clock: the time by which it knows that a lease has ended.
  ///   - date: the date now; the instants of a snapshot count from it by `clock`.
  ///   - failed: is given each failure of an agent's work, before it begins again.
  public init(
    _ name: String, sharing store: any AgentStore, timing: AgentHostTiming = AgentHostTiming(),
    clock: some Clock<Duration> & Sendable = ContinuousClock(), date: Date = Date(),
    failed: @escaping @Sendable (Failure) -> Void = { _ in }
  ) {
    let name = "\(name)/\(Identifier.random())"
    self.name = name
    self.store = store
    self.timing = timing
    self.clock = HostClock(clock, epoch: Int64(date.timeIntervalSince1970 * 1000))
    self.failed = failed
    leases = HostLeases(timing, host: name)
    reach = ReachWatch(timing, clock: self.clock, changes)
  }

  /// The agents that this host carries, by name.
  public var carried: [String] { leases.leases.map(\.agent) }

  /// Makes an agent known, with what is to be kept of it, and carries it: at once where `run` is
  /// under way.
  ///
  /// - Throws: `agentTakenOver` where another host carries an agent of this name;
  ///   `validationError` where this one does, and for one that is closed; what the store throws.
  public func add(_ agent: String, _ changes: StoreChange...) async throws(AppError) {
    guard leases.request(agent) else {
      throw .validationError(field: "agent", message: "This host carries \(agent), or shuts down.")
    }
    let begun = clock.now()
    do throws(AppError) {
      let lease = try await asking { store throws(AppError) in
        try await store.acquire(agent, for: name, lasting: timing.lasting)
      }
      let isClosed = try await asking { store throws(AppError) in
        try await store.state(of: agent).isClosed
      }
      if isClosed {
        await release(lease)
        throw .validationError(field: "agent", message: "\(agent) is closed: remove it first.")
      }
      try await asking { store throws(AppError) in try await store.write(changes, under: lease) }
      await begin(lease, since: begun)
    } catch {
      leases.miss(agent)
      throw error
    }
  }

  /// Removes all that is kept of an agent that no host carries: one that is closed.
  ///
  /// - Throws: `agentTakenOver` where another host carries it; `validationError` where this one
  ///   does; what the store throws.
  public func remove(_ agent: String) async throws(AppError) {
    guard leases.request(agent) else {
      throw .validationError(field: "agent", message: "This host carries \(agent), or shuts down.")
    }
    defer { leases.miss(agent) }
    try await asking { store throws(AppError) in
      let lease = try await store.acquire(agent, for: name, lasting: timing.lasting)
      try await store.write([.removeAgent], under: lease)
    }
  }

  /// Gives an agent up, where this host carries it: its work is canceled, and once it has returned
  /// the host with the fewest agents takes the agent, which is this one where no other comes before
  /// it. So agents move to a host that was started later: hosts take none from another that is
  /// well.
  ///
  /// Returns when the work was asked to end, or the agent given up where none runs.
  public func giveUp(_ agent: String) async {
    let idle = leases.giveUp(agent, at: clock.now())
    changes.announce()
    if let idle { await release(idle) }
  }

  /// Asks `run` to end all work, give the agents up and return; safe at any time, and again.
  public nonisolated func requestShutDown() { shutDown.open() }

  /// Carries agents until a shutdown is requested or the task is canceled; once.
  ///
  /// - Parameter carry: the work of one agent. Where it throws it begins again after a pause.
  /// - Throws: what the store throws that will not be over by itself; `cancelled`.
  public func run(_ carry: @escaping Carry) async throws(AppError) {
    leases.open()
    await withTaskGroup { group in
      group.addTask { await self.untilShutDown() }
      await withTaskGroup { loops in
        loops.addTask { await self.renew() }
        loops.addTask { await self.look() }
        loops.addTask { await self.watchTime() }
        loops.addTask { await self.watchAnswers() }
        loops.addTask { [store, looks] in
          for await _ in store.changes() { looks.announce() }
        }
        await withDiscardingTaskGroup { work in
          while let lease = await nextStart() {
            work.addTask { await self.carry(lease, carry) }
          }
        }
        loops.cancelAll()
      }
      group.cancelAll()
    }
    leases.close()
    changes.announce()
    if let problem { throw problem }
    if Task.isCancelled { throw .cancelled }
  }

  private func untilShutDown() async {
    await shutDown.wait()
    await stop(nil)
  }

  // MARK: Work

  /// The next lease under which work is to begin; nil once none will.
  private func nextStart() async -> AgentLease? {
    while true {
      if Task.isCancelled { await stop(nil) }
      if !leases.isStopping, !starts.isEmpty { return starts.removeFirst() }
      guard !leases.isStopping else { return nil }
      try? await changes.wait(after: changes.version)
    }
  }

  private func carry(_ lease: AgentLease, _ carry: @escaping Carry) async {
    let error = await withTaskGroup(of: AppError?.self) { group in
      group.addTask { await self.result(of: carry, lease) }
      group.addTask {
        await self.untilEnding(lease)
        return .cancelled
      }
      var error = await group.next() ?? .cancelled
      group.cancelAll()
      // The work's own end counts, not that it was asked to.
      if error == .cancelled, let own = await group.next() { error = own }
      return error
    }
    await end(lease, with: error)
  }

  private func result(of carry: Carry, _ lease: AgentLease) async -> AppError? {
    do throws(AppError) {
      let state = try await asking { store throws(AppError) in
        try await store.state(of: lease.agent)
      }
      // A host that looked before it was closed takes it once more.
      guard !state.isClosed else {
        leases.close(lease)
        await release(lease)
        return nil
      }
      try await carry(
        CarriedAgent(lease, state, in: store, answers, reach) { await self.end(lease, $0) })
      return nil
    } catch {
      return error
    }
  }

  /// Waits until the work under this lease may not go on.
  private func untilEnding(_ lease: AgentLease) async {
    while leases.mayGoOn(lease), !Task.isCancelled {
      try? await changes.wait(after: changes.version)
    }
  }

  private func end(_ lease: AgentLease, _ end: CarriedAgent.LeaseEnd) async {
    switch end {
    case .refused: leases.lose(lease)
    case .closed: leases.close(lease)
    case .outOfReach: return await giveUp(lease.agent)
    }
    changes.announce()
  }

  private func end(_ lease: AgentLease, with error: AppError?) async {
    let ending = leases.end(lease, with: error, at: clock.now())
    changes.announce()
    switch ending {
    case .remove(let lease): await release(lease, [.removeAgent])
    case .release(let lease): await release(lease)
    case .pause(let pause):
      if let error { failed(Failure(agent: lease.agent, error: error, pause: pause)) }
    case .leave: break
    }
    looks.announce()
  }

  /// Gives an agent up, with the last changes to what is kept of it. Waits for no longer than the
  /// lease would last: it ends by itself, and another run of the work finds the agent over again.
  private func release(_ lease: AgentLease, _ last: [StoreChange] = []) async {
    await withTaskGroup { group in
      group.addTask {
        try? await self.asking { store throws(AppError) in
          guard last.isEmpty else { return try await store.write(last, under: lease) }
          try await store.release(lease)
        }
      }
      group.addTask { [clock, timing] in _ = await clock.sleep(timing.lasting) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Makes a request of the store, and remembers what became of it.
  private func asking<Answer: Sendable>(
    _ request: (any AgentStore) async throws(AppError) -> Answer
  ) async throws(AppError) -> Answer {
    let number = watch.ask(at: clock.now())
    do throws(AppError) {
      let answer = try await request(store)
      watch.answer(number, nil, at: clock.now())
      return answer
    } catch {
      watch.answer(number, error, at: clock.now())
      changes.announce()
      throw error
    }
  }

  // MARK: Leases

  private func begin(_ lease: AgentLease, since begun: Duration) async {
    guard leases.begin(lease, until: begun + timing.lasting, at: clock.now()) else {
      await release(lease)
      return
    }
    starts.append(lease)
    changes.announce()
  }

  /// Takes the agents that no host carries, again and again.
  private func look() async {
    while !Task.isCancelled {
      let version = looks.version
      let turn = await takeFree()
      // Others may write all the time.
      guard await clock.sleep(timing.poll / 5) else { return }
      await untilLook(after: version, or: turn)
    }
  }

  /// Waits for a change, for this host's turn at an agent, or for the time to look all the same.
  private func untilLook(after version: Int, or turn: Duration?) async {
    let wait = min(timing.poll * 4 / 5, turn.map { $0 - clock.now() } ?? timing.poll)
    await pause(wait, orUntil: looks, after: version)
  }

  /// Waits for so long, or until there is a reason not to.
  private func pause(_ time: Duration, orUntil changes: Changes, after version: Int) async {
    guard time > .zero else { return }
    await withTaskGroup { group in
      group.addTask { [clock] in _ = await clock.sleep(time) }
      group.addTask { try? await changes.wait(after: version) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Takes the agents whose turn it is; returns when the next turn may be, nil where none is known.
  private func takeFree() async -> Duration? {
    do throws(AppError) {
      let agents = try await asking { store throws(AppError) in try await store.agents() }
      let free = leases.take(from: agents, at: clock.now()) {
        reach.delay(on: $0.session?.machine)
      }
      let next = leases.nextLook
      // Together: the store joins what it is asked at one time.
      await withDiscardingTaskGroup { group in
        for agent in free { group.addTask { await self.take(agent) } }
      }
      return next
    } catch {
      await stop(unlessTransient: error)
      return nil
    }
  }

  /// Looks for the answers that are given on other hosts, as it does for agents.
  private func watchAnswers() async {
    while !Task.isCancelled {
      let version = looks.version
      if answers.hasReaders { await readAnswers() }
      guard await clock.sleep(timing.poll / 5) else { return }
      await pause(timing.poll * 4 / 5, orUntil: looks, after: version)
    }
  }

  private func readAnswers() async {
    do throws(AppError) {
      answers.set(
        try await asking { store throws(AppError) in
          try await store.approvals(in: ApprovalRecord.State.decidedWord)
        })
    } catch {
      await stop(unlessTransient: error)
    }
  }

  private func take(_ agent: String) async {
    let begun = clock.now()
    do throws(AppError) {
      let lease = try await asking { store throws(AppError) in
        try await store.acquire(agent, for: name, lasting: timing.lasting)
      }
      await begin(lease, since: begun)
    } catch {
      leases.miss(agent)
      if case .agentTakenOver = error { return }
      await stop(unlessTransient: error)
    }
  }

  private func renew() async {
    while await clock.sleep(timing.renewal) {
      let asked = leases.leases
      guard !asked.isEmpty else { continue }
      let begun = clock.now()
      do throws(AppError) {
        let held = try await asking { store throws(AppError) in
          try await store.renew(asked, lasting: timing.lasting)
        }
        leases.renew(asked, held: held, until: begun + timing.lasting)
        changes.announce()
      } catch {
        await stop(unlessTransient: error)
      }
    }
  }

  /// Ends the work whose lease has ended by our clock, whatever the store does; begins what paused.
  private func watchTime() async {
    while !Task.isCancelled {
      let (now, version) = (clock.now(), changes.version)
      let next = min(leases.nextInstant ?? .seconds(3600), now + timing.renewal)
      // A pause may begin meanwhile that is over before that.
      await pause(max(.milliseconds(1), next - now), orUntil: changes, after: version)
      let passed = clock.now()
      let due = leases.pass(to: passed)
      starts += due
      if !due.isEmpty || passed >= next { changes.announce() }
    }
  }

  // MARK: The end

  private func stop(unlessTransient error: AppError) async {
    if error == .cancelled, Task.isCancelled { return }
    if case .storeUnusable(_, let problem) = error, problem.isTransient { return }
    await stop(error)
  }

  private func stop(_ error: AppError?) async {
    problem = problem ?? error
    guard !leases.isStopping else { return }
    let now = clock.now()
    let idle = leases.stop(at: now) + starts
    for lease in starts { _ = leases.end(lease, with: .cancelled, at: now) }
    starts = []
    changes.announce()
    await withDiscardingTaskGroup { group in
      for lease in idle { group.addTask { await self.release(lease) } }
    }
  }
}
