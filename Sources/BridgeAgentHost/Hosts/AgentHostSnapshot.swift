import BridgeErrors
import BridgeStore

/// What an agent host does at a moment. Instants are in milliseconds since 1970, by the host's
/// clock: where nothing has happened between two snapshots, they are equal.
public struct AgentHostSnapshot: Sendable, Hashable, Codable {
  /// An agent that the host carries.
  public struct Agent: Sendable, Hashable, Codable {
    /// Its name.
    public var name: String
    /// The number of the lease under which the host writes for it.
    public var fence: Int64
    /// Since when the host has carried it.
    public var since: Int64
    /// What its work does.
    public var work: Work
  }

  /// What the work of an agent does.
  public enum Work: Sendable, Hashable, Codable {
    /// It has gone on since then.
    case running(since: Int64)
    /// It goes on, and its session has waited since then for a link to the machine. Whether the
    /// agent's program runs there is not known.
    case waiting(machine: String, since: Int64)
    /// It has failed, and begins again at `until`.
    case pausing(Problem, until: Int64)
    /// It was asked to end then, and the agent is given up once it has.
    case ending(since: Int64)
  }

  /// An error as people read it, and when it was there.
  public struct Problem: Sendable, Hashable, Codable {
    /// The case of the error, as `AppError.caseName` has it.
    public var name: String
    /// What it is, in one to four words.
    public var title: String
    /// What went wrong, without secrets.
    public var message: String
    /// What would help; nil where nothing is known to.
    public var hint: String?
    /// Since when.
    public var since: Int64
    /// When it was over; nil while it is not.
    public var end: Int64?
  }

  /// How often something has happened since the host was made.
  public struct Counts: Sendable, Hashable, Codable {
    /// Agents were taken whose host had died or fallen silent.
    public var takeovers: Int
    /// Agents were lost: their lease ended, or was another host's.
    public var losses: Int
    /// Work of an agent has failed, and begins again.
    public var failures: Int
  }

  /// What other hosts call the host.
  public var host: String
  /// Whether it can do its work.
  public var health: AgentHostHealth
  /// The agents that it carries, by name.
  public var agents: [Agent]
  /// The last problem of its store, also one that is over; nil where there was none.
  public var storeProblem: Problem?
  /// How often something has happened.
  public var counts: Counts

  /// Whether it takes no agent any more: it shuts down, or its run is over.
  public var isShuttingDown: Bool { health == .stopping }
}

extension AgentHostSnapshot {
  /// What the leases and the store of a host are at an instant of its clock.
  ///
  /// - Parameters:
  ///   - limit: how long a store may take to answer.
  ///   - epoch: the instant zero, in milliseconds since 1970.
  init(
    of host: String, _ leases: HostLeases, _ watch: StoreWatch, _ reach: MachineReach,
    answering limit: Duration, at now: Duration, epoch: Int64
  ) {
    self.host = host
    func instant(_ time: Duration) -> Int64 { epoch + time.milliseconds }
    let waits = reach.waiting
    var late = 0
    agents = leases.carried.map { carried in
      let work: Work
      switch carried.work {
      case .running(let since):
        if let wait = waits[carried.lease.agent] {
          work = .waiting(machine: wait.machine, since: instant(wait.since))
          if reach.isLate(wait, at: now) { late += 1 }
        } else {
          work = .running(since: instant(since))
        }
      case .paused(let error, let since, let until):
        work = .pausing(Problem(error, since: instant(since)), until: instant(until))
      case .ending(let since): work = .ending(since: instant(since))
      }
      return Agent(
        name: carried.lease.agent, fence: carried.lease.fence, since: instant(carried.since),
        work: work)
    }
    storeProblem = watch.problem.map {
      Problem($0.error, since: instant($0.since), end: $0.end.map(instant))
    }
    counts = Counts(
      takeovers: leases.counts.takeovers, losses: leases.counts.losses,
      failures: leases.counts.failures)
    let pausing = agents.count { if case .pausing = $0.work { true } else { false } }
    health =
      switch leases.phase {
      case .stopping, .over: .stopping
      case .new: .degraded(.notRunning)
      case .running where watch.problem.map { $0.end == nil } ?? false: .degraded(.storeFails)
      case .running:
        if let since = watch.silence(longerThan: limit, at: now) {
          .degraded(.storeSilent(since: instant(since)))
        } else if pausing > 0 {
          .degraded(.agentsPause(count: pausing))
        } else if late > 0 {
          .degraded(.agentsWait(count: late))
        } else {
          .ready
        }
      }
  }
}

extension AgentHostSnapshot.Problem {
  init(_ error: AppError, since: Int64, end: Int64? = nil) {
    (name, title, message) = (error.caseName, error.title, error.shownMessage())
    hint = error.hintBelowMessage()
    (self.since, self.end) = (since, end)
  }
}
