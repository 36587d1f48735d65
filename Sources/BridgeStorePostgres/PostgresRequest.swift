import BridgeStore
import FoundationEssentials

/// A request as the server's function takes it. Texts of any content and bytes are in Base64:
/// PostgreSQL's texts have no NUL.
struct PostgresRequest: Encodable {
  private enum CodingKeys: String, CodingKey {
    case operation, number, agent, host, fence, lasting, leases, changes, id, state, before, value
    case start
    case isChange = "changes_something"
  }

  struct Lease: Encodable {
    var agent: String
    var fence: Int64
  }

  struct Change: Encodable {
    var change: String
    var id: String?
    var machine: String?
    var state: String?
    var value: Data?
  }

  var operation: String
  var number: Int
  var isChange: Bool
  var agent: String?
  var host: String?
  var fence: Int64?
  var lasting: Int64?
  var leases: [Lease]?
  var changes: [Change]?
  var id: String?
  var state: String?
  var before: String?
  var value: Data?
  var start: Int64?

  init(_ request: StoreRequest, number: Int) throws {
    (operation, self.number, isChange) = ("", number, request.isChange)
    switch request {
    case .acquire(let agent, let host, let lasting):
      (operation, self.agent, self.host) = ("acquire", agent, host)
      self.lasting = lasting.milliseconds
    case .renew(let leases, let lasting):
      (operation, self.lasting) = ("renew", lasting.milliseconds)
      self.leases = leases.map { Lease(agent: $0.agent, fence: $0.fence) }
    case .release(let lease):
      (operation, agent, fence) = ("release", lease.agent, lease.fence)
    case .write(let changes, let lease):
      (operation, agent, fence) = ("write", lease.agent, lease.fence)
      self.changes = changes.map(Change.init)
    case .replace(let approval, let agent, let before):
      (operation, self.agent, self.before) = ("replace", agent, before)
      (id, state, value) = (approval.id, approval.state, approval.record.data)
    case .record(let outage):
      (operation, id, start) = ("record", outage.id, outage.start)
      value = try StoredValue(encoding: outage).data
    case .removeOutages(let start): (operation, self.start) = ("removeOutages", start)
    case .agents: operation = "agents"
    case .state(let agent): (operation, self.agent) = ("state", agent)
    case .approvals(let state): (operation, self.state) = ("approvals", state)
    case .outages(let start): (operation, self.start) = ("outages", start)
    }
  }
}

extension PostgresRequest.Change {
  fileprivate init(_ change: StoreChange) {
    switch change {
    case .session(let session):
      self.init(
        change: "session", id: session.session, machine: session.machine,
        value: session.resume?.data)
    case .resume(let point): self.init(change: "resume", value: point.data)
    case .commit(let effect, let point):
      self.init(change: "commit", id: effect, value: point.data)
    case .send(let message):
      self.init(change: "send", id: message.id, value: Data(message.text.utf8))
    case .delivered(let id): self.init(change: "delivered", id: id)
    case .approval(let approval):
      self.init(
        change: "approval", id: approval.id, state: approval.state, value: approval.record.data)
    case .removeApproval(let id): self.init(change: "removeApproval", id: id)
    case .close: self.init(change: "close")
    case .removeAgent: self.init(change: "removeAgent")
    }
  }
}

extension StoredValue {
  fileprivate var data: Data { Data(bytes) }
}
