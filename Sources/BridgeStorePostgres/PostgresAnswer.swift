import BridgeErrors
import BridgeStore
import FoundationEssentials

/// An answer of the server's function; which parts it has depends on the request.
struct PostgresAnswer: Decodable {
  struct Session: Decodable {
    var machine: String
    var session: String
    var resume: Data?
  }

  struct Message: Decodable {
    var id: String
    var value: Data
  }

  struct Approval: Decodable {
    var agent: String?
    var id: String
    var state: String
    var value: Data
  }

  struct Agent: Decodable {
    var name: String
    var host: String?
    var fence: Int64?
    var expires: Int64?
    var machine: String?
    var session: String?
    var resume: Data?
    var closed: Bool?
  }

  var by: String?
  var fence: Int64?
  var held: [Int64]?
  var approval: Approval?
  var agents: [Agent]?
  var session: Session?
  var commits: [String: Data]?
  var outbox: [Message]?
  var approvals: [Approval]?
  var outages: [Data]?
  var closed: Bool?

  /// What it says to a request.
  func result(of request: StoreRequest) throws -> Result<StoreAnswer, AppError> {
    switch request {
    case .acquire(let agent, let host, _):
      guard let fence else { return .failure(.agentTakenOver(agent: agent, by: by ?? "")) }
      return .success(.lease(AgentLease(agent: agent, host: host, fence: fence)))
    case .renew(let leases, _):
      let held = Set(held ?? [])
      return .success(.leases(leases.filter { held.contains($0.fence) }))
    case .write(_, let lease):
      return by.map { .failure(.agentTakenOver(agent: lease.agent, by: $0)) } ?? .success(.done)
    case .release, .record, .removeOutages: return .success(.done)
    case .replace: return .success(.approval(approval.map(StoredApproval.init)))
    case .agents: return .success(.agents((agents ?? []).map(StoredAgent.init)))
    case .state: return .success(.state(AgentState(self)))
    case .approvals:
      let byAgent = Dictionary(grouping: approvals ?? []) { $0.agent ?? "" }
      return .success(.approvals(byAgent.mapValues { $0.map(StoredApproval.init) }))
    case .outages:
      let outages = try (outages ?? []).map {
        try StoredValue(data: $0).decoded(as: StoredOutage.self)
      }
      return .success(.outages(outages))
    }
  }
}

extension StoredValue {
  fileprivate init(data: Data) { self.init(bytes: Array(data)) }
}

extension StoredApproval {
  fileprivate init(_ approval: PostgresAnswer.Approval) {
    self.init(
      id: approval.id, state: approval.state, record: StoredValue(data: approval.value))
  }
}

extension StoredAgent {
  fileprivate init(_ agent: PostgresAnswer.Agent) {
    self.init(name: agent.name, isClosed: agent.closed ?? false)
    if let machine = agent.machine, let id = agent.session {
      session = StoredSession(
        machine: machine, session: id, resume: agent.resume.map { StoredValue(data: $0) })
    }
    if let host = agent.host, let fence = agent.fence {
      carrier = Carrier(
        lease: AgentLease(agent: agent.name, host: host, fence: fence),
        remaining: .milliseconds(max(0, agent.expires ?? 0)))
    }
  }
}

extension AgentState {
  fileprivate init(_ answer: PostgresAnswer) {
    self.init(
      session: answer.session.map { session in
        StoredSession(
          machine: session.machine, session: session.session,
          resume: session.resume.map { StoredValue(data: $0) })
      },
      commits: (answer.commits ?? [:]).mapValues { StoredValue(data: $0) },
      outbox: (answer.outbox ?? []).map {
        OutboxMessage(id: $0.id, text: String(decoding: $0.value, as: UTF8.self))
      },
      approvals: (answer.approvals ?? []).map(StoredApproval.init),
      isClosed: answer.closed ?? false)
  }
}
