import BridgeErrors

/// How much a store holds in memory, and what it takes.
public struct StoreLimits: Sendable, Hashable {
  /// The longest name or id, in bytes of UTF-8.
  public static let longestName = 512
  /// The largest write, in bytes: names, values and texts together.
  public static let largestWrite = 16 << 20

  /// How many requests may wait; from 1.
  public var requests: Int
  /// How many bytes the requests that wait may hold.
  public var bytes: Int
  /// How many requests join one transaction at most; from 1.
  public var batch: Int
  /// How long requests wait for a store that does not answer.
  public var timeout: Duration

  /// Limits; beyond these the problem `unavailable` is thrown.
  public init(
    requests: Int = 16_384, bytes: Int = 64 << 20, batch: Int = 512,
    timeout: Duration = .seconds(30)
  ) {
    self.requests = max(1, requests)
    self.bytes = max(1, bytes)
    self.batch = max(1, batch)
    self.timeout = timeout
  }
}

extension StoreLimits {
  /// Verifies a name.
  ///
  /// - Throws: `validationError` where it is empty, too long, or has the character NUL, which
  ///   PostgreSQL keeps in no text.
  static func check(name: String, field: String) throws(AppError) {
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= longestName, !bytes.contains(0) else {
      throw .validationError(
        field: field, message: "A name has 1 to \(longestName) bytes, and no NUL.")
    }
  }

  /// Verifies the size of a write.
  ///
  /// - Throws: `validationError` where it is too large.
  static func check(size: Int) throws(AppError) {
    guard size <= largestWrite else {
      throw .validationError(
        field: "write", message: "A write has at most \(largestWrite) bytes; this one has \(size).")
    }
  }

  /// Verifies the names in a request, and its size.
  ///
  /// - Throws: `validationError`.
  static func check(_ request: StoreRequest) throws(AppError) {
    try check(size: request.size)
    switch request {
    case .acquire(let agent, let host, _):
      try check(name: agent, field: "agent")
      try check(name: host, field: "host")
    case .renew(let leases, _): for lease in leases { try check(name: lease.agent, field: "agent") }
    case .release(let lease): try check(name: lease.agent, field: "agent")
    case .write(let changes, let lease):
      try check(name: lease.agent, field: "agent")
      for change in changes { try check(change) }
    case .replace(let approval, let agent, let state):
      try check(name: agent, field: "agent")
      try check(name: state, field: "state")
      try check(.approval(approval))
    case .record(let outage): try check(name: outage.id, field: "outage")
    case .state(let agent): try check(name: agent, field: "agent")
    case .approvals(let state): try check(name: state, field: "state")
    case .removeOutages, .agents, .outages: break
    }
  }

  private static func check(_ change: StoreChange) throws(AppError) {
    switch change {
    case .session(let session):
      try check(name: session.machine, field: "machine")
      try check(name: session.session, field: "session")
    case .commit(let effect, _): try check(name: effect, field: "effect")
    case .send(let message): try check(name: message.id, field: "message")
    case .delivered(let id): try check(name: id, field: "message")
    case .approval(let approval):
      try check(name: approval.id, field: "approval")
      try check(name: approval.state, field: "state")
    case .removeApproval(let id): try check(name: id, field: "approval")
    case .resume, .close, .removeAgent: break
    }
  }
}
