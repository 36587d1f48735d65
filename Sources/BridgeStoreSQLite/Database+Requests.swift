import BridgeErrors
import BridgeStore
import FoundationEssentials
import GRDB

typealias StoreResult = Result<StoreAnswer, AppError>

extension Database {
  /// Performs a request within a transaction. A refusal leaves nothing behind.
  func perform(_ request: StoreRequest) throws -> StoreResult {
    switch request {
    case .acquire(let agent, let host, let lasting): try acquire(agent, host, lasting)
    case .renew(let leases, let lasting): .success(.leases(try renew(leases, lasting)))
    case .release(let lease): .success(try release(lease))
    case .write(let changes, let lease): try write(changes, lease)
    case .replace(let approval, let agent, let state):
      .success(.approval(try replace(approval, agent, state)))
    case .record(let outage): .success(try record(outage))
    case .removeOutages(let start):
      .success(try run("DELETE FROM outage WHERE start < ?", [start]))
    case .agents: .success(.agents(try agents()))
    case .state(let agent): .success(.state(try state(agent)))
    case .approvals(let state): .success(.approvals(try approvals(state)))
    case .outages(let start): .success(.outages(try outages(start)))
    }
  }

  @discardableResult
  private func run(_ sql: String, _ arguments: StatementArguments) throws -> StoreAnswer {
    try cachedStatement(sql: sql).execute(arguments: arguments)
    return .done
  }

  private func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
  }

  private func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
    try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
  }
}

// Leases.
extension Database {
  /// The store's clock, in milliseconds since 1970: of SQLite, so that it is the same for all.
  private func now() throws -> Int64 {
    try row("SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)", [])?[0] ?? 0
  }

  private func acquire(_ agent: String, _ host: String, _ lasting: Duration) throws -> StoreResult {
    let now = try now()
    let held = try row("SELECT host FROM lease WHERE agent = ? AND expires > ?", [agent, now])
    if let other: String = held?[0], other != host {
      return .failure(.agentTakenOver(agent: agent, by: other))
    }
    try run("UPDATE counter SET fence = fence + 1", [])
    let fence: Int64 = try row("SELECT fence FROM counter", [])?[0] ?? 0
    try run(
      "INSERT OR REPLACE INTO lease (agent, host, fence, expires) VALUES (?, ?, ?, ?)",
      [agent, host, fence, now + lasting.milliseconds])
    return .success(.lease(AgentLease(agent: agent, host: host, fence: fence)))
  }

  private func renew(_ leases: [AgentLease], _ lasting: Duration) throws -> [AgentLease] {
    let end = try now() + lasting.milliseconds
    return try leases.filter { lease in
      try run(
        "UPDATE lease SET expires = ? WHERE agent = ? AND fence = ?",
        [end, lease.agent, lease.fence])
      return changesCount > 0
    }
  }

  private func release(_ lease: AgentLease) throws -> StoreAnswer {
    try run("DELETE FROM lease WHERE agent = ? AND fence = ?", [lease.agent, lease.fence])
  }
}

// What is kept of an agent. Texts are bytes: as text they would end at the first NUL.
extension Database {
  private func write(_ changes: [StoreChange], _ lease: AgentLease) throws -> StoreResult {
    let newest = try row("SELECT fence, host FROM lease WHERE agent = ?", [lease.agent])
    guard newest?[0] == lease.fence else {
      return .failure(.agentTakenOver(agent: lease.agent, by: newest?[1] ?? ""))
    }
    for change in changes { try make(change, lease.agent) }
    return .success(.done)
  }

  private func make(_ change: StoreChange, _ agent: String) throws {
    switch change {
    case .session(let session):
      try run(
        "INSERT OR REPLACE INTO session (agent, machine, session, resume) VALUES (?, ?, ?, ?)",
        [agent, session.machine, session.session, session.resume?.data])
    case .resume(let point):
      try run("UPDATE session SET resume = ? WHERE agent = ?", [point.data, agent])
    case .commit(let effect, let point):
      try run(
        "INSERT OR REPLACE INTO point (agent, effect, point) VALUES (?, ?, ?)",
        [agent, effect, point.data])
    case .send(let message):
      try run(
        "INSERT OR IGNORE INTO message (agent, id, text) VALUES (?, ?, ?)",
        [agent, message.id, Data(message.text.utf8)])
    case .delivered(let id):
      try run("DELETE FROM message WHERE agent = ? AND id = ?", [agent, id])
    case .approval(let approval):
      try run(
        """
        INSERT INTO approval (agent, id, state, record) VALUES (?, ?, ?, ?)
        ON CONFLICT (agent, id) DO UPDATE SET state = excluded.state, record = excluded.record
        """, [agent, approval.id, approval.state, approval.record.data])
    case .removeApproval(let id):
      try run("DELETE FROM approval WHERE agent = ? AND id = ?", [agent, id])
    case .close:
      try run("INSERT OR IGNORE INTO closed (agent) VALUES (?)", [agent])
      try run("DELETE FROM lease WHERE agent = ?", [agent])
    case .removeAgent:
      for table in ["lease", "session", "point", "message", "approval", "closed"] {
        try run("DELETE FROM \(table) WHERE agent = ?", [agent])
      }
    }
  }

  private func replace(
    _ approval: StoredApproval, _ agent: String, _ state: String
  ) throws -> StoredApproval? {
    try run(
      "UPDATE approval SET state = ?, record = ? WHERE agent = ? AND id = ? AND state = ?",
      [approval.state, approval.record.data, agent, approval.id, state])
    return try row(
      "SELECT id, state, record FROM approval WHERE agent = ? AND id = ?", [agent, approval.id]
    ).map(StoredApproval.init(row:))
  }

  private func agents() throws -> [StoredAgent] {
    let now = try now()
    let names = try rows(
      """
      SELECT name, machine, session, resume, host, fence, expires, closed.agent
      FROM (
        SELECT agent AS name FROM lease UNION SELECT agent FROM session
        UNION SELECT agent FROM closed)
      LEFT JOIN lease ON lease.agent = name LEFT JOIN session ON session.agent = name
      LEFT JOIN closed ON closed.agent = name
      ORDER BY name
      """)
    return names.map { row in
      var agent = StoredAgent(
        name: row[0], session: StoredSession(row: row, from: 1),
        isClosed: row[7] as String? != nil)
      if let host: String = row[4] {
        agent.carrier = StoredAgent.Carrier(
          lease: AgentLease(agent: agent.name, host: host, fence: row[5]),
          remaining: .milliseconds(max(0, row[6] - now)))
      }
      return agent
    }
  }

  private func state(_ agent: String) throws -> AgentState {
    var state = AgentState()
    state.session = try row("SELECT machine, session, resume FROM session WHERE agent = ?", [agent])
      .flatMap { StoredSession(row: $0, from: 0) }
    for row in try rows("SELECT effect, point FROM point WHERE agent = ?", [agent]) {
      state.commits[row[0]] = StoredValue(data: row[1])
    }
    state.outbox = try rows(
      "SELECT id, text FROM message WHERE agent = ? ORDER BY number", [agent]
    ).map { OutboxMessage(id: $0[0], text: String(decoding: $0[1] as Data, as: UTF8.self)) }
    state.approvals = try rows(
      "SELECT id, state, record FROM approval WHERE agent = ? ORDER BY number", [agent]
    ).map(StoredApproval.init(row:))
    state.isClosed = try row("SELECT agent FROM closed WHERE agent = ?", [agent]) != nil
    return state
  }

  private func approvals(_ state: String) throws -> [String: [StoredApproval]] {
    let rows = try rows(
      "SELECT id, state, record, agent FROM approval WHERE state = ? ORDER BY number", [state])
    return rows.reduce(into: [:]) { approvals, row in
      approvals[row[3], default: []].append(StoredApproval(row: row))
    }
  }
}

// Outages.
extension Database {
  private func record(_ outage: StoredOutage) throws -> StoreAnswer {
    try run(
      "INSERT OR REPLACE INTO outage (id, start, value) VALUES (?, ?, ?)",
      [outage.id, outage.start, try StoredValue(encoding: outage).data])
  }

  private func outages(_ start: Int64) throws -> [StoredOutage] {
    try rows("SELECT value FROM outage WHERE start >= ? ORDER BY start, id", [start])
      .map { try StoredValue(data: $0[0]).decoded(as: StoredOutage.self) }
  }
}

extension StoredValue {
  fileprivate var data: Data { Data(bytes) }

  fileprivate init(data: Data) { self.init(bytes: Array(data)) }
}

extension StoredApproval {
  fileprivate init(row: Row) {
    self.init(id: row[0], state: row[1], record: StoredValue(data: row[2]))
  }
}

extension StoredSession {
  /// From the columns machine, session and resume; nil where there is no row.
  fileprivate init?(row: Row, from column: Int) {
    guard let machine: String = row[column] else { return nil }
    let resume: Data? = row[column + 2]
    self.init(
      machine: machine, session: row[column + 1], resume: resume.map { StoredValue(data: $0) })
  }
}
