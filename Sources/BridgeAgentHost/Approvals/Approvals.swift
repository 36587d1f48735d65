public import BridgeErrors
public import FoundationEssentials
import BridgeWaiting

/// The questions of agents, their answers, and their way back: one decision reaches the agent,
/// once.
///
///     let approvals = Approvals(restoring: stored) { changes in try await store.keep(changes) }
///     // The agent's output:
///     try await approvals.request(request)
///     // Any person, over any link:
///     let answer = try await approvals.decide(id, option: "allow", by: "ada")
///     // The agent's input:
///     try await approvals.deliver(to: "agent") { record in
///       let end = await session.inputPoint?.written ?? 0
///       let place = try await approvals.reserve(record.id, at: end)
///       try await session.deliver(record.responseLine ?? [], at: place)
///     }
///
/// A decision is stored before it is reported to the person and before it is handed to the agent.
/// What was handed over and not confirmed is handed over again by the next run of the application;
/// with its place in the agent's input reserved the agent has it once even so. Bounded by
/// `ApprovalLimits`.
public actor Approvals {
  /// Stores changes, all of them or none; returns when they are on disk.
  public typealias Persist = @Sendable ([ApprovalChange]) async throws(AppError) -> Void

  /// Likewise; returns what another host has decided instead, and then nothing was stored.
  typealias Store = @Sendable (ApprovalLedger.Write) async throws(AppError) -> ApprovalRecord?

  private struct Reader {
    weak var queue: ApprovalEventQueue?
  }

  private let now: @Sendable () -> Date
  private let persist: Store
  private var ledger: ApprovalLedger
  private var readers: [Reader] = []
  /// Answers that have arrived and could not be stored as such yet.
  private var arrived: Set<ApprovalID> = []
  private let changes = Changes()

  /// Approvals that go on where a store has them.
  ///
  /// - Parameters:
  ///   - records: what was stored; in any order.
  ///   - limits: how much is kept.
  ///   - now: the time that records and decisions bear.
  ///   - persist: stores changes. Where it throws, the call that made them throws its error and
  ///     has no effect. Several calls may be under way; those on one record follow each other.
  public init(
    restoring records: [ApprovalRecord] = [], limits: ApprovalLimits = .init(),
    now: @escaping @Sendable () -> Date = { Date() }, persist: @escaping Persist
  ) {
    self.init(records, limits, now) { write throws(AppError) in
      try await persist(write.changes)
      return nil
    }
  }

  /// Likewise, where other hosts decide as well.
  init(
    _ records: [ApprovalRecord], _ limits: ApprovalLimits, _ now: @escaping @Sendable () -> Date,
    persist: @escaping Store
  ) {
    self.now = now
    self.persist = persist
    ledger = ApprovalLedger(limits, restoring: records)
  }

  deinit { for reader in readers { reader.queue?.finish() } }

  // MARK: Reading

  /// The requests that wait for a person, the oldest first.
  public var pending: [ApprovalRecord] { ledger.pending }

  /// All records that are kept, the oldest first.
  public var records: [ApprovalRecord] { ledger.records }

  /// The record of this name; nil where none is kept.
  public func record(_ id: ApprovalID) -> ApprovalRecord? { ledger.record(id) }

  /// The newest record under an id of the agent's own; nil where none is kept.
  public func record(agent: String, wireID: String) -> ApprovalRecord? {
    ledger.id(of: ApprovalRequest.key(wireID), agent: agent).flatMap { ledger.record($0) }
  }

  /// What waits for a person now, and every change from here on.
  public func attach() -> (pending: [ApprovalRecord], events: ApprovalEvents) {
    let queue = ApprovalEventQueue()
    readers.removeAll { $0.queue == nil }
    readers.append(Reader(queue: queue))
    return (ledger.pending, ApprovalEvents(queue: queue))
  }

  // MARK: Agents

  /// Takes a request of an agent, and returns its record once that is stored. A request that comes
  /// again is the same record.
  ///
  /// - Throws: `permissionSystemError` where the agent has too many open requests, or this one is
  ///   too long: the agent must receive `ApprovalRequest.refusalLine(_:)`; `validationError` where
  ///   it has no options, or two of one id; what `persist` throws: the request may be stored all
  ///   the same, and is taken again until it is, instead of an error to the agent; `cancelled`.
  @discardableResult
  public func request(_ request: ApprovalRequest) async throws(AppError) -> ApprovalRecord {
    let (record, _) = try await perform { ledger, time throws(ApprovalRefusal) in
      try ledger.request(request, at: time)
    }
    return try Self.require(record)
  }

  /// The agent `agent` asks no longer under this id of its own; true where the request takes no
  /// answer now. A decision that the agent may have stays one.
  ///
  /// - Parameters:
  ///   - wireID: the id, as the agent writes it.
  ///   - reply: what the agent must receive nevertheless.
  /// - Throws: what `persist` throws; `cancelled`. An id that is not known is passed over: the
  ///   cancellation may come after the end.
  @discardableResult
  public func cancel(
    agent: String, wireID: String, reply: ApprovalReply? = nil
  ) async throws(AppError) -> Bool {
    guard let id = ledger.id(of: ApprovalRequest.key(wireID), agent: agent) else { return false }
    return try await cancel(id, by: .agent, reply: reply)
  }

  /// The agent `agent` says that the request of this id is settled: an answer that was handed over
  /// has arrived, and a request without one takes none any more.
  ///
  /// - Throws: what `persist` throws; `cancelled`.
  public func resolve(agent: String, wireID: String) async throws(AppError) {
    guard let id = ledger.id(of: ApprovalRequest.key(wireID), agent: agent) else { return }
    _ = try await perform { ledger, time throws(ApprovalRefusal) in
      try ledger.resolve(id, at: time)
    }
  }

  /// Ends the open requests of a part of an agent, as its application does when it ends a turn.
  ///
  /// - Parameter reply: what the agent must receive for each.
  /// - Throws: what `persist` throws; `cancelled`.
  public func cancelAll(
    agent: String, scope: String, by name: String, reply: ApprovalReply? = nil
  ) async throws(AppError) {
    let open = ledger.records.filter { record in
      record.isOpen && record.id.agent == agent && record.request.scope == scope
    }
    for record in open { try await cancel(record.id, by: .person(name), reply: reply) }
  }

  /// Removes all records of an agent that is gone for good.
  ///
  /// - Throws: what `persist` throws; `cancelled`.
  public func forget(agent: String) async throws(AppError) {
    _ = try await perform { ledger, _ in ledger.forget(agent) }
  }

  // MARK: People

  /// Answers a request. The first answer counts; a later one learns which that was.
  ///
  /// - Parameters:
  ///   - values: of the request's form, where the option requires them.
  ///   - name: who decides, for the others.
  /// - Throws: `validationError` for a request that is not kept, an option that it has not, and
  ///   values that its form does not take; what `persist` throws, and then the request is as it
  ///   was before; `cancelled`.
  public func decide(
    _ id: ApprovalID, option: String, values: [String: ApprovalValue] = [:], by name: String
  ) async throws(AppError) -> ApprovalAnswer {
    let (found, isOwn) = try await perform { ledger, time throws(ApprovalRefusal) in
      try ledger.decide(id, option: option, values: values, by: name, at: time)
    }
    return try Self.require(found).answer(isOwn: isOwn)
  }

  /// Takes an answer that another host has stored, where the request waits for one.
  ///
  /// - Throws: `cancelled`.
  func adopt(_ stored: ApprovalRecord) async throws(AppError) {
    let before = ledger.record(stored.id)
    let (record, _) = try await perform { ledger, _ in ledger.adopt(stored) }
    announce(record, after: before)
  }

  /// Announces a record that was adopted, where it is another one than before.
  private func announce(_ record: ApprovalRecord?, after before: ApprovalRecord?) {
    guard let record, record != before else { return }
    changes.announce()
    for reader in readers { reader.queue?.append(.put(record)) }
  }

  /// Withdraws a request; true where it takes no answer now. A decision that the agent may have
  /// stays one.
  ///
  /// - Parameter reply: what the agent must receive nevertheless.
  /// - Throws: `validationError` for a request that is not kept; what `persist` throws;
  ///   `cancelled`.
  @discardableResult
  public func cancel(
    _ id: ApprovalID, by origin: ApprovalCancellation.Origin, reply: ApprovalReply? = nil
  ) async throws(AppError) -> Bool {
    let (record, _) = try await perform { ledger, time throws(ApprovalRefusal) in
      try ledger.cancel(id, by: origin, reply: reply, at: time)
    }
    guard case .canceled = record?.state else { return false }
    return true
  }

  /// Waits until a request is decided or canceled.
  ///
  /// - Returns: the decision; nil where the request was canceled.
  /// - Throws: `validationError` for a request that is not kept; `cancelled`.
  public func decision(for id: ApprovalID) async throws(AppError) -> ApprovalDecision? {
    while true {
      guard let record = ledger.record(id) else { throw ApprovalRefusal.unknownRequest(id).error }
      guard record.state == .pending else { return record.decision }
      try await changes.wait(after: changes.version)
    }
  }

  // MARK: Delivery

  /// Hands each answer that an agent must receive to `write`, one after the other, until the task
  /// is canceled or `write` throws. One that `write` did not finish is handed over again.
  ///
  /// - Parameter write: passes the answer on; returns when the agent has it.
  /// - Throws: what `write` and `persist` throw; `cancelled`.
  public func deliver(
    to agent: String, write: (ApprovalRecord) async throws(AppError) -> Void
  ) async throws(AppError) {
    while true {
      let record = try await nextDelivery(for: agent)
      do throws(AppError) {
        try await write(record)
      } catch {
        returnDelivery(record.id)
        throw error
      }
      try await confirmDelivery(record.id)
    }
  }

  /// Waits for the next answer that an agent must receive; each is handed out once, until it is
  /// returned. The caller confirms or returns it.
  ///
  /// - Throws: what `persist` throws, where an earlier confirmation could not be stored;
  ///   `cancelled`.
  public func nextDelivery(for agent: String) async throws(AppError) -> ApprovalRecord {
    for id in arrived where id.agent == agent {
      arrived.remove(id)
      if ledger.record(id)?.awaitsDelivery == true { try await confirmDelivery(id) }
    }
    while true {
      if Task.isCancelled { throw .cancelled }
      if let record = ledger.take(for: agent) { return record }
      try await changes.wait(after: changes.version)
    }
  }

  /// Stores where an answer begins in the agent's input, before it is written; returns the place
  /// that counts, which another run of the application may have reserved.
  ///
  /// Where it throws, the place may be stored all the same: nothing else is written to this input
  /// before the next answer, which is this one again.
  /// - Throws: `validationError` for a request that awaits no delivery; what `persist` throws;
  ///   `cancelled`.
  public func reserve(_ id: ApprovalID, at offset: UInt64) async throws(AppError) -> UInt64 {
    let (record, _) = try await perform { ledger, _ throws(ApprovalRefusal) in
      try ledger.reserve(id, at: offset)
    }
    return record?.inputOffset ?? offset
  }

  /// The agent has the answer: it is not handed over again. Where that cannot be stored,
  /// `nextDelivery` tries once more before all else.
  ///
  /// - Throws: `validationError` for a request that is not decided; what `persist` throws;
  ///   `cancelled`.
  public func confirmDelivery(_ id: ApprovalID) async throws(AppError) {
    do throws(AppError) {
      _ = try await perform { ledger, _ throws(ApprovalRefusal) in try ledger.confirm(id) }
      arrived.remove(id)
    } catch {
      if ledger.record(id)?.awaitsDelivery == true { arrived.insert(id) }
      throw error
    }
  }

  /// The answer was not written, or only a part of it: it is handed over again.
  public func returnDelivery(_ id: ApprovalID) {
    ledger.giveBack(id)
    changes.announce()
  }

  // MARK: Storing

  /// Takes a step, and stores what it changes; whether it changed the record.
  private func perform(
    _ step: (inout ApprovalLedger, Date) throws(ApprovalRefusal) -> ApprovalLedger.Step
  ) async throws(AppError) -> (record: ApprovalRecord?, isOwn: Bool) {
    while true {
      switch try take(step) {
      case .known(let record): return (record, false)
      case .busy: try await changes.wait(after: changes.version)
      case .store(let write):
        let other = try await store(write)
        return (other ?? write.record, other?.hasDecision(of: write.record) ?? true)
      }
    }
  }

  private func take(
    _ step: (inout ApprovalLedger, Date) throws(ApprovalRefusal) -> ApprovalLedger.Step
  ) throws(AppError) -> ApprovalLedger.Step {
    do throws(ApprovalRefusal) {
      return try step(&ledger, now())
    } catch {
      throw error.error
    }
  }

  /// Returns the decision of another host that counts instead.
  private func store(_ write: ApprovalLedger.Write) async throws(AppError) -> ApprovalRecord? {
    defer { changes.announce() }
    let other: ApprovalRecord?
    do throws(AppError) {
      other = try await persist(write)
    } catch {
      ledger.abandon(write)
      throw error
    }
    if let other {
      ledger.abandon(write)
      let before = ledger.record(other.id)
      if case .known(let record) = ledger.adopt(other) { announce(record, after: before) }
      return other
    }
    ledger.commit(write)
    for change in write.changes {
      for reader in readers { reader.queue?.append(change) }
    }
    return nil
  }

  private static func require(_ record: ApprovalRecord?) throws(AppError) -> ApprovalRecord {
    guard let record else { throw .internalError(detail: "A step has no record.") }
    return record
  }
}
