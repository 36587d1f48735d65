public import BridgeErrors
public import BridgeStore
public import FoundationEssentials

extension AgentStore {
  /// Answers a request of an agent, whichever host carries it, or none: the host that does hands
  /// the answer to the agent (`CarriedAgent.follow`). The first answer counts; a later one learns
  /// which that was.
  ///
  /// Where a store that does not answer makes it throw, the answer may be stored all the same.
  /// - Parameters:
  ///   - values: of the request's form, where the option requires them.
  ///   - name: who decides, for the others.
  ///   - time: when.
  /// - Throws: `validationError` for a request that is not kept, an option that it has not, and
  ///   values that its form does not take; `decodingError` where another program has written it;
  ///   `encodingError`; as `perform`.
  public func decide(
    _ id: ApprovalID, option: String, values: [String: ApprovalValue] = [:], by name: String,
    at time: Date = Date()
  ) async throws(AppError) -> ApprovalAnswer {
    let stored = try await state(of: id.agent).approvals.first { $0.id == "\(id.number)" }
    guard let stored else { throw ApprovalRefusal.unknownRequest(id).error }
    let record = try stored.record.decoded(as: ApprovalRecord.self)
    var ledger = ApprovalLedger(restoring: [record])
    let step: ApprovalLedger.Step
    do throws(ApprovalRefusal) {
      step = try ledger.decide(id, option: option, values: values, by: name, at: time)
    } catch {
      throw error.error
    }
    guard case .store(let write) = step, let decided = write.record else {
      return try record.answer(isOwn: false)
    }
    let own = try StoredApproval(decided)
    let kept = try await replace(own, of: id.agent, in: record.state.word)
    let found = try kept.record.decoded(as: ApprovalRecord.self)
    return try found.answer(isOwn: found.hasDecision(of: decided))
  }
}

extension StoredApproval {
  /// A record as a store has it.
  init(_ record: ApprovalRecord) throws(AppError) {
    self.init(
      id: "\(record.id.number)", state: record.state.word, record: try StoredValue(encoding: record)
    )
  }
}

extension ApprovalRecord {
  /// Whether its decision is that of `other`. It may be delivered by now: a store whose answer was
  /// lost with its connection performs the request once more.
  func hasDecision(of other: ApprovalRecord?) -> Bool {
    decision != nil && decision == other?.decision
  }

  /// What a person's answer has come to.
  ///
  /// - Parameter isOwn: whether the decision is this answer.
  func answer(isOwn: Bool) throws(AppError) -> ApprovalAnswer {
    switch state {
    case .decided(let decision), .delivered(let decision):
      isOwn ? .decided(decision) : .alreadyDecided(decision)
    case .canceled(let cancellation, reply: _): .canceled(cancellation)
    case .pending: throw .internalError(detail: "The request \(id) was not decided.")
    }
  }
}
