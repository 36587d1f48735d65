import BridgeAgentHost
import BridgeErrors
import BridgeStore
import BridgeWaiting

/// A store that can be made to fail, or to leave requests without an answer.
final class FaultyStore: AgentStore {
  enum Mode: Sendable {
    case good
    case fails(AppError)
    case silent
  }

  private let store: any AgentStore
  private let mode = Mutex(Mode.good)
  private let requests = Mutex([StoreRequest]())
  private let changed = Changes()

  init(_ store: any AgentStore) { self.store = store }

  var name: String { store.name }

  /// All that was requested so far.
  var requested: [StoreRequest] { requests.withLock { $0 } }

  func become(_ new: Mode) {
    mode.withLock { $0 = new }
    changed.announce()
  }

  func perform(_ request: StoreRequest) async throws(AppError) -> StoreAnswer {
    requests.withLock { $0.append(request) }
    while true {
      let version = changed.version
      switch mode.withLock({ $0 }) {
      case .good: return try await store.perform(request)
      case .fails(let error): throw error
      case .silent: try await changed.wait(after: version)
      }
    }
  }

  func changes() -> AsyncStream<Void> { store.changes() }
  func close() async { await store.close() }
}

/// A store whose agents are listed as they were before any was closed.
final class StaleStore: AgentStore {
  private let store: any AgentStore
  private let count = Mutex(0)

  init(_ store: any AgentStore) { self.store = store }

  var name: String { store.name }
  /// How often an agent was acquired.
  var acquired: Int { count.withLock { $0 } }

  func perform(_ request: StoreRequest) async throws(AppError) -> StoreAnswer {
    let answer = try await store.perform(request)
    if case .acquire = request { count.withLock { $0 += 1 } }
    guard case .agents(var agents) = answer else { return answer }
    for index in agents.indices { agents[index].isClosed = false }
    return .agents(agents)
  }

  func changes() -> AsyncStream<Void> { store.changes() }

  func close() async { await store.close() }
}

/// A store that loses its connection with the answer to a decision, and performs it once more when
/// the agent has had it.
final class RepeatingStore: AgentStore {
  private let store: any AgentStore

  init(_ store: any AgentStore) { self.store = store }

  var name: String { store.name }

  func perform(_ request: StoreRequest) async throws(AppError) -> StoreAnswer {
    guard case .replace(let own, let agent, _) = request else {
      return try await store.perform(request)
    }
    _ = try await store.perform(request)
    var record = try own.record.decoded(as: ApprovalRecord.self)
    if case .decided(let decision) = record.state { record.state = .delivered(decision) }
    let delivered = StoredApproval(
      id: own.id, state: "delivered", record: try StoredValue(encoding: record))
    _ = try await store.perform(.replace(delivered, agent: agent, state: own.state))
    return try await store.perform(request)
  }

  func changes() -> AsyncStream<Void> { store.changes() }

  func close() async { await store.close() }
}
