public import BridgeErrors
public import BridgeStore
public import FoundationEssentials

/// An agent that this host carries: what was kept of it, and the right to write.
public struct CarriedAgent: Sendable {
  /// The right, and its number.
  public let lease: AgentLease
  /// What was kept when this host took it.
  public let state: AgentState

  private let store: any AgentStore
  private let answers: StoredAnswers
  private let reach: ReachWatch
  private let leaseHasEnded: @Sendable (LeaseEnd) async -> Void

  /// Why a host has an agent no more.
  enum LeaseEnd: Sendable {
    /// A write was refused: another host has it.
    case refused
    /// The agent is over.
    case closed
    /// Its machine is not reached: another host may.
    case outOfReach
  }

  init(
    _ lease: AgentLease, _ state: AgentState, in store: any AgentStore, _ answers: StoredAnswers,
    _ reach: ReachWatch, leaseHasEnded: @escaping @Sendable (LeaseEnd) async -> Void
  ) {
    (self.lease, self.state, self.store) = (lease, state, store)
    (self.answers, self.reach) = (answers, reach)
    self.leaseHasEnded = leaseHasEnded
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

// What it is carried over.
extension CarriedAgent {
  /// Opens a channel to its machine. Where that takes too long another host may have the agent.
  ///
  /// - Throws: as `open`.
  func opening<Channel: Sendable>(
    to machine: String, _ open: @escaping @Sendable () async throws(AppError) -> Channel
  ) async throws(AppError) -> Channel {
    try await reach.opening(
      for: name, to: machine,
      orGivingUp: { [leaseHasEnded] in await leaseHasEnded(.outOfReach) }, open)
  }
}

// Approvals in a store.
extension CarriedAgent {
  /// Its questions and their answers, as `Approvals` begin with.
  ///
  /// - Throws: `decodingError` where another program has written them.
  func approvals() throws(AppError) -> [ApprovalRecord] {
    var records: [ApprovalRecord] = []
    for approval in state.approvals {
      records.append(try approval.record.decoded(as: ApprovalRecord.self))
    }
    return records
  }

  /// Keeps what `Approvals` changes; returns the decision of another host that is the one instead
  /// (`AgentStore.decide`), and then nothing is kept.
  ///
  /// - Throws: as `write`; `encodingError`; `decodingError` where another program has written that
  ///   decision.
  func keep(_ write: ApprovalLedger.Write) async throws(AppError) -> ApprovalRecord? {
    if let record = write.record, let state = write.replaced {
      return try await replace(record, in: state)
    }
    var kept: [StoreChange] = []
    for change in write.changes {
      switch change {
      case .put(let record): kept.append(.approval(try StoredApproval(record)))
      case .remove(let id): kept.append(.removeApproval(id: "\(id.number)"))
      }
    }
    try await self.write(kept)
    return nil
  }

  /// Keeps a record in the place of the one in this state.
  private func replace(
    _ record: ApprovalRecord, in state: ApprovalRecord.State
  ) async throws(AppError) -> ApprovalRecord? {
    // People decide on any host; what the agent says is for the one that carries it.
    let isDecision = state == .pending && record.decision != nil
    if !isDecision { try await write([]) }
    let own = try StoredApproval(record)
    let kept = try await store.replace(own, of: name, in: state.word)
    return kept == own ? nil : try kept.record.decoded(as: ApprovalRecord.self)
  }

  /// Hands the answers that are given on other hosts to `approvals`, until the task is canceled.
  /// `CarriedSession.deliver` does.
  ///
  /// - Throws: `decodingError` where another program has written them; `cancelled`.
  public func follow(_ approvals: Approvals) async throws(AppError) {
    try await answers.follow(name) { decided throws(AppError) in
      for approval in decided {
        try await approvals.adopt(try approval.record.decoded(as: ApprovalRecord.self))
      }
    }
  }
}

extension Approvals {
  /// Those of an agent that this host carries, in the store of its host. A decision that another
  /// host has stored meanwhile is the one; `CarriedSession.deliver` hands it to the agent.
  ///
  /// - Throws: `decodingError` where another program has written them.
  public init(
    of agent: CarriedAgent, limits: ApprovalLimits = .init(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(AppError) {
    self.init(try agent.approvals(), limits, now) { write throws(AppError) in
      try await agent.keep(write)
    }
  }
}

extension ApprovalRecord.State {
  /// The word of a decision that the agent is not known to have.
  static let decidedWord = "decided"

  /// The state as a store is searched by it.
  public var word: String {
    switch self {
    case .pending: "pending"
    case .decided: Self.decidedWord
    case .delivered: "delivered"
    case .canceled: "canceled"
    }
  }
}
