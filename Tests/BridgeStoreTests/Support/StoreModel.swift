import BridgeStore

/// What a store has to keep, without any disk: the model that random histories are compared with.
struct StoreModel {
  private(set) var agents: [String: AgentState] = [:]
  private(set) var leases: [String: AgentLease] = [:]

  mutating func hold(_ lease: AgentLease) { leases[lease.agent] = lease }

  mutating func release(_ lease: AgentLease) {
    if leases[lease.agent] == lease { leases[lease.agent] = nil }
  }

  /// False where the lease is not the newest: then nothing is changed.
  mutating func write(_ changes: [StoreChange], _ lease: AgentLease) -> Bool {
    guard leases[lease.agent] == lease else { return false }
    for change in changes {
      var state = agents[lease.agent] ?? AgentState()
      apply(change, &state)
      agents[lease.agent] = state
      if [.close, .removeAgent].contains(change) { leases[lease.agent] = nil }
    }
    return true
  }

  private func apply(_ change: StoreChange, _ state: inout AgentState) {
    switch change {
    case .session(let session): state.session = session
    case .resume(let point): state.session?.resume = point
    case .commit(let effect, let point): state.commits[effect] = point
    case .send(let message):
      if !state.outbox.contains(where: { $0.id == message.id }) { state.outbox.append(message) }
    case .delivered(let id): state.outbox.removeAll { $0.id == id }
    case .approval(let approval):
      if let index = state.approvals.firstIndex(where: { $0.id == approval.id }) {
        state.approvals[index] = approval
      } else {
        state.approvals.append(approval)
      }
    case .removeApproval(let id): state.approvals.removeAll { $0.id == id }
    case .close: state.isClosed = true
    case .removeAgent: state = AgentState()
    }
  }
}

extension StoreChange {
  static func any(using generator: inout some RandomNumberGenerator) -> StoreChange {
    let number = Int.random(in: 0..<4, using: &generator)
    let value = StoredValue(bytes: [UInt8(number), .random(in: 0...255, using: &generator)])
    return switch Int.random(in: 0..<17, using: &generator) {
    case 0: .session(StoredSession(machine: "m\(number)", session: "s", resume: value))
    case 1: .session(StoredSession(machine: "m\(number)", session: "s"))
    case 2: .resume(value)
    case 3, 4: .commit(effect: "e\(number)", point: value)
    case 5...8: .send(OutboxMessage(id: "\(number)", text: "text \(value.bytes)"))
    case 9, 10: .delivered(id: "\(number)")
    case 11, 12: .approval(StoredApproval(id: "\(number)", state: "pending", record: value))
    case 13: .approval(StoredApproval(id: "\(number)", state: "decided", record: value))
    case 14: .removeApproval(id: "\(number)")
    case 15: .close
    default: .removeAgent
    }
  }
}
