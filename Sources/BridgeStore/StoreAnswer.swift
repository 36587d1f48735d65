import BridgeErrors

/// What became of a `StoreRequest`.
public enum StoreAnswer: Sendable, Hashable {
  /// It is done.
  case done
  /// The lease that was granted.
  case lease(AgentLease)
  /// The leases that are the newest of their agents.
  case leases([AgentLease])
  /// The approval that is kept now; nil where there is none.
  case approval(StoredApproval?)
  /// Agents, by name.
  case agents([StoredAgent])
  /// What is kept of an agent.
  case state(AgentState)
  /// Approvals, by agent.
  case approvals([String: [StoredApproval]])
  /// Outages, the oldest first.
  case outages([StoredOutage])
}

extension StoreAnswer {
  /// The error of an implementation that gave it to another request.
  var unexpected: AppError {
    .internalError(detail: "the store gave the answer to another request")
  }
}
