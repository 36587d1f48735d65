/// What a store is requested to do; the functions of `AgentStore` make them.
public enum StoreRequest: Sendable, Hashable {
  /// Take an agent for a host; `lease`, or `agentTakenOver`.
  case acquire(agent: String, host: String, lasting: Duration)
  /// Make leases last from now on; `leases`: those that are the newest.
  case renew([AgentLease], lasting: Duration)
  /// End a lease, where it is the newest; `done`.
  case release(AgentLease)
  /// Make changes under a lease; `done`, or `agentTakenOver`.
  case write([StoreChange], under: AgentLease)
  /// Replace an approval in a state; `approval`: what is kept now.
  case replace(StoredApproval, agent: String, state: String)
  /// Keep an outage; `done`.
  case record(StoredOutage)
  /// Remove outages that began before an instant; `done`.
  case removeOutages(before: Int64)
  /// Read all agents; `agents`.
  case agents
  /// Read one agent; `state`.
  case state(agent: String)
  /// Read the approvals in a state; `approvals`.
  case approvals(state: String)
  /// Read the outages that began at an instant or later; `outages`.
  case outages(since: Int64)
}

extension StoreRequest {
  /// About how many bytes it holds.
  package var size: Int {
    let fixed = 128
    return switch self {
    case .write(let changes, _): changes.reduce(fixed) { $0 + $1.size }
    case .replace(let approval, _, _): fixed + approval.size
    case .record(let outage): fixed + outage.size
    case .renew(let leases, _): fixed * (leases.count + 1)
    case .acquire, .release, .removeOutages, .agents, .state, .approvals, .outages: fixed
    }
  }

  /// Whether others may have to look again after it.
  package var isChange: Bool {
    switch self {
    case .acquire, .release, .write, .replace, .record, .removeOutages: true
    case .renew, .agents, .state, .approvals, .outages: false
    }
  }
}

extension StoreChange {
  /// About how many bytes it holds.
  var size: Int {
    switch self {
    case .session(let session):
      session.machine.utf8.count + session.session.utf8.count + (session.resume?.bytes.count ?? 0)
    case .resume(let point): point.bytes.count
    case .commit(let effect, let point): effect.utf8.count + point.bytes.count
    case .send(let message): message.id.utf8.count + message.text.utf8.count
    case .approval(let approval): approval.size
    case .delivered(let id), .removeApproval(let id): id.utf8.count
    case .close, .removeAgent: 0
    }
  }
}

extension StoredApproval {
  /// About how many bytes it holds.
  var size: Int { id.utf8.count + state.utf8.count + record.bytes.count }
}

extension Duration {
  /// Whole milliseconds, rounded up, from zero to some thousand years: what a store counts with.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return min(seconds, 1 << 40) * 1000 + rest
  }
}
