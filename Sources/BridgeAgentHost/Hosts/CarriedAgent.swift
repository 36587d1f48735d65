public import BridgeErrors
public import BridgeStore

/// An agent that this host carries: what was kept of it, and the right to write.
public struct CarriedAgent: Sendable {
  /// The right, and its number.
  public let lease: AgentLease
  /// What was kept when this host took it.
  public let state: AgentState

  private let store: any AgentStore
  private let leaseHasEnded: @Sendable (LeaseEnd) async -> Void

  /// Why a host has an agent no more.
  enum LeaseEnd: Sendable {
    /// A write was refused: another host has it.
    case refused
    /// The agent is over.
    case closed
  }

  init(
    _ lease: AgentLease, _ state: AgentState, in store: any AgentStore,
    leaseHasEnded: @escaping @Sendable (LeaseEnd) async -> Void
  ) {
    (self.lease, self.state, self.store, self.leaseHasEnded) = (lease, state, store, leaseHasEnded)
  }

  /// Its name.
  public var name: String { lease.agent }

  /// Makes all the changes to what is kept of it, or none of them; they are on disk then.
  ///
  /// - Throws: `agentTakenOver` once another host carries it: nothing was changed, and its work
  ///   here is canceled; what the store throws.
  public func write(_ changes: StoreChange...) async throws(AppError) {
    try await write(changes)
  }

  /// Likewise.
  public func write(_ changes: [StoreChange]) async throws(AppError) {
    do throws(AppError) {
      try await store.write(changes, under: lease)
    } catch {
      if case .agentTakenOver = error { await leaseHasEnded(.refused) }
      throw error
    }
  }

  /// Ends the agent: no host takes it any more, and what the store has of it stays there to be
  /// read, until `AgentHost.remove`. Its work returns next, and writes nothing any more.
  ///
  /// - Throws: as `write`.
  public func close() async throws(AppError) {
    try await write(.close)
    await leaseHasEnded(.closed)
  }
}

// Approvals in a store.
extension CarriedAgent {
  /// Its questions and their answers, to begin `Approvals` with.
  ///
  /// - Throws: `decodingError` where another program has written them.
  public func approvals() throws(AppError) -> [ApprovalRecord] {
    var records: [ApprovalRecord] = []
    for approval in state.approvals {
      records.append(try approval.record.decoded(as: ApprovalRecord.self))
    }
    return records
  }

  /// Keeps what `Approvals` changes.
  ///
  /// - Throws: as `write`; `encodingError`.
  public func keep(_ changes: [ApprovalChange]) async throws(AppError) {
    var kept: [StoreChange] = []
    for change in changes {
      switch change {
      case .put(let record):
        kept.append(
          .approval(
            StoredApproval(
              id: "\(record.id.number)", state: record.state.word,
              record: try StoredValue(encoding: record))))
      case .remove(let id): kept.append(.removeApproval(id: "\(id.number)"))
      }
    }
    try await write(kept)
  }
}

extension ApprovalRecord.State {
  /// The state as a store is searched by it.
  public var word: String {
    switch self {
    case .pending: "pending"
    case .decided: "decided"
    case .delivered: "delivered"
    case .canceled: "canceled"
    }
  }
}
