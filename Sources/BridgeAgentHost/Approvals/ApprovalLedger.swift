import FoundationEssentials

/// Decides what becomes of the requests of all agents: one decision for each, delivered once.
///
/// A step that changes records returns a write. Its effect begins with `commit`, when it is stored;
/// until then its records are busy, and other steps on them wait. A write that failed is abandoned
/// and leaves everything as it was.
struct ApprovalLedger: Sendable {
  /// What a step requires.
  enum Step: Sendable {
    /// Nothing: the record is as it was before; nil where none is.
    case known(ApprovalRecord?)
    /// The record is being stored: do the step again later.
    case busy
    /// Store this, then commit or abandon it.
    case store(Write)
  }

  /// Changes that are stored together.
  struct Write: Sendable {
    /// The record that the step is about, as it will be; nil where it is removed.
    var record: ApprovalRecord?
    /// What is stored.
    var changes: [ApprovalChange]
    /// The state that a store must have the record in, where other hosts decide as well: else
    /// theirs is the decision, and nothing is stored. Nil where it does not matter.
    var replaced: ApprovalRecord.State?
  }

  fileprivate struct Entry: Sendable {
    /// As it is stored; nil while it is stored for the first time.
    var record: ApprovalRecord?
    /// As it is being stored.
    var proposed: ApprovalRecord?
    /// Its answer was handed out, by this run of the application.
    var isHanded = false
    /// A place in the agent's input that may be on disk, though storing it failed.
    var reservation: UInt64?

    var isBusy: Bool { proposed != nil }
    /// What it counts as.
    var latest: ApprovalRecord? { proposed ?? record }
  }

  fileprivate struct Agent: Sendable {
    var entries: [Int: Entry] = [:]
    /// The newest number of each id of the agent.
    var newest: [String: Int] = [:]
    var last = 0
    /// Requests that may be on disk, though storing them failed, with the agent's ids.
    var doubtful: [Int: String] = [:]

    var isEmpty: Bool { entries.isEmpty && doubtful.isEmpty }
  }

  private let limits: ApprovalLimits
  private var agents: [String: Agent] = [:]

  /// A ledger of what a store kept.
  ///
  /// A write that failed may be on disk all the same: a request that came again has two records
  /// then, of which the newest counts.
  init(_ limits: ApprovalLimits = .init(), restoring records: [ApprovalRecord] = []) {
    self.limits = limits
    for record in records {
      var agent = agents[record.id.agent, default: Agent()]
      agent.entries[record.id.number] = Entry(record: record)
      agent.last = max(agent.last, record.id.number)
      let key = record.request.key
      agent.newest[key] = max(agent.newest[key] ?? 0, record.id.number)
      agents[record.id.agent] = agent
    }
    for record in records {
      let wasPlaced = record.inputOffset != nil
      guard id(of: record.request.key, agent: record.id.agent) != record.id,
        let ended = record.ended(byReplacementAt: record.at, mayHaveArrived: wasPlaced)
      else { continue }
      agents[record.id.agent]?.entries[record.id.number] = Entry(record: ended)
    }
  }

  // MARK: Reading

  /// The requests that wait for a person, the oldest first.
  var pending: [ApprovalRecord] { sorted { $0.state == .pending } }

  /// All records that are stored, the oldest first.
  var records: [ApprovalRecord] { sorted { _ in true } }

  /// Most records are settled: what is sorted was chosen before.
  private func sorted(where isChosen: (ApprovalRecord) -> Bool) -> [ApprovalRecord] {
    let records = agents.values.flatMap { $0.entries.values.compactMap(\.record).filter(isChosen) }
    return records.sorted { one, other in
      (one.at, one.id.agent, one.id.number) < (other.at, other.id.agent, other.id.number)
    }
  }

  /// The record of this name.
  func record(_ id: ApprovalID) -> ApprovalRecord? {
    agents[id.agent]?.entries[id.number]?.record
  }

  // MARK: Steps of an agent

  /// The agent asks. A request that is known, because its line was read again or the agent came
  /// again before it had an answer, is the same record.
  ///
  /// Another question under an id that is in use replaces the first: an agent has one request open
  /// under an id. So does the same question further on in its output, once the agent may have the
  /// answer to the first.
  mutating func request(
    _ request: ApprovalRequest, at time: Date
  ) throws(ApprovalRefusal) -> Step {
    var agent = agents[request.agent, default: Agent()]
    var changes: [ApprovalChange] = []
    if let number = agent.newest[request.key], let entry = agent.entries[number] {
      guard !entry.isBusy, let record = entry.record else { return .busy }
      switch entry.meaning(of: request, under: record) {
      case .same: return .known(agent.record(of: request) ?? record)
      case .moved(let offset):
        var moved = record
        moved.request.outputOffset = offset
        return propose(moved, replacing: record.state)
      case .another: break
      }
      if let ended = record.ended(byReplacementAt: time, mayHaveArrived: entry.mayHaveArrived) {
        agent.entries[number]?.proposed = ended
        changes.append(.put(ended))
      }
    }
    try check(request, of: agent)
    agent.last += 1
    let record = ApprovalRecord(
      id: ApprovalID(agent: request.agent, number: agent.last), request: request, at: time)
    agent.entries[agent.last] = Entry(proposed: record)
    agent.newest[request.key] = agent.last
    changes.append(.put(record))
    changes += agent.surplus(beyond: limits.settled).map { .remove($0) }
    changes += agent.doubtful.keys.sorted().map {
      .remove(ApprovalID(agent: request.agent, number: $0))
    }
    agents[request.agent] = agent
    return .store(Write(record: record, changes: changes))
  }

  private func check(_ request: ApprovalRequest, of agent: Agent) throws(ApprovalRefusal) {
    guard request.size <= limits.size else {
      throw .tooLarge(size: request.size, limit: limits.size)
    }
    guard !request.options.isEmpty else { throw .wrongOptions("There are none.") }
    guard Set(request.options.map(\.id)).count == request.options.count else {
      throw .wrongOptions("Two have one name.")
    }
    for option in request.options {
      guard JSONText.isValue(Array(option.result.utf8)[...]) else {
        throw .wrongOptions("The result of \(option.id) is no JSON in a line.")
      }
    }
    guard JSONText.isID(Array(request.wireID.utf8)[...]) else {
      throw .wrongID(request.wireID)
    }
    // One that could not be stored is never refused when it is asked again: another run of the
    // application may find it, and the agent must not have an error and an answer.
    if agent.doubtful.values.contains(request.key) { return }
    let open = agent.entries.values.count { $0.latest?.isOpen == true }
    guard open + agent.doubtful.count < limits.open else {
      throw .tooManyOpen(agent: request.agent, limit: limits.open)
    }
  }

  /// The name of the newest request under an id of the agent.
  func id(of key: String, agent: String) -> ApprovalID? {
    agents[agent]?.newest[key].map { ApprovalID(agent: agent, number: $0) }
  }

  /// The agent says that a request needs no answer any more, without a word why: it has the
  /// answer, or asks no longer.
  mutating func resolve(_ id: ApprovalID, at time: Date) throws(ApprovalRefusal) -> Step {
    let entry = try entry(id)
    guard !entry.isBusy, let record = entry.record else { return .busy }
    guard record.awaitsDelivery, entry.mayHaveArrived else {
      return try cancel(id, by: .agent, reply: nil, at: time)
    }
    return propose(record.delivered)
  }

  // MARK: Steps of people

  /// A person answers. The first answer counts; for a later one the record says which that was.
  mutating func decide(
    _ id: ApprovalID, option: String, values: [String: ApprovalValue] = [:], by name: String,
    at time: Date
  ) throws(ApprovalRefusal) -> Step {
    let entry = try entry(id)
    guard !entry.isBusy, var record = entry.record else { return .busy }
    guard record.state == .pending else { return .known(record) }
    guard let chosen = record.request.options.first(where: { $0.id == option }) else {
      throw .unknownOption(option, id)
    }
    if let form = record.request.form, form.option == option {
      if let problem = form.problem(of: values) { throw .wrongValues(problem) }
    } else if !values.isEmpty {
      throw .wrongValues("The option \(option) takes no values.")
    }
    let size = values.values.reduce(0) { $0 + $1.size }
    guard size <= limits.size else {
      throw .wrongValues("The values have \(size) bytes; the limit is \(limits.size).")
    }
    record.state = .decided(
      ApprovalDecision(option: option, name: chosen.name, values: values, by: name, at: time))
    return propose(record, replacing: .pending)
  }

  /// Takes the decision of a record that another host has stored; nothing where the request does
  /// not wait for one.
  mutating func adopt(_ stored: ApprovalRecord) -> Step {
    guard let entry = agents[stored.id.agent]?.entries[stored.id.number] else {
      return .known(nil)
    }
    guard !entry.isBusy, var record = entry.record else { return .busy }
    guard record.state == .pending, stored.decision != nil else { return .known(record) }
    record.state = stored.state
    agents[stored.id.agent]?.entries[stored.id.number] = Entry(record: record)
    return .known(record)
  }

  /// A request takes no answer any more. A decision that the agent may have stays.
  mutating func cancel(
    _ id: ApprovalID, by origin: ApprovalCancellation.Origin, reply: ApprovalReply?, at time: Date
  ) throws(ApprovalRefusal) -> Step {
    let entry = try entry(id)
    guard !entry.isBusy, var record = entry.record else { return .busy }
    switch record.state {
    case .pending: break
    case .decided where !entry.mayHaveArrived: break
    case .decided, .delivered, .canceled: return .known(record)
    }
    record.state = .canceled(.init(by: origin, at: time), reply: reply)
    return propose(record)
  }

  /// The agent is gone for good: nothing is kept of its requests.
  mutating func forget(_ agent: String) -> Step {
    guard let entries = agents[agent]?.entries else { return .known(nil) }
    guard !entries.values.contains(where: \.isBusy) else { return .busy }
    for (number, entry) in entries { agents[agent]?.entries[number]?.proposed = entry.record }
    let doubtful = agents[agent]?.doubtful ?? [:]
    let removed = (Array(doubtful.keys) + entries.keys).sorted().map {
      ApprovalID(agent: agent, number: $0)
    }
    return .store(Write(record: nil, changes: removed.map { .remove($0) }))
  }

  // MARK: Delivery

  /// Hands out the oldest answer that the agent must still receive, once in this run; nil where
  /// there is none. One that has a place in the agent's input comes before all that have none, and
  /// these wait until it has arrived: their places are behind it.
  mutating func take(for agent: String) -> ApprovalRecord? {
    let waiting = (agents[agent]?.entries ?? [:]).filter { _, entry in
      entry.record?.awaitsDelivery == true && (entry.place != nil || entry.isFree)
    }
    let next = waiting.min { one, other in
      (one.value.place ?? .max, one.key) < (other.value.place ?? .max, other.key)
    }
    guard let (next, entry) = next, entry.isFree else { return nil }
    agents[agent]?.entries[next]?.isHanded = true
    return agents[agent]?.entries[next]?.record
  }

  /// The answer could not be written: it is handed out again.
  mutating func giveBack(_ id: ApprovalID) {
    agents[id.agent]?.entries[id.number]?.isHanded = false
  }

  /// Reserves the place of an answer in the agent's input; one that was reserved before stays.
  mutating func reserve(_ id: ApprovalID, at offset: UInt64) throws(ApprovalRefusal) -> Step {
    let entry = try entry(id)
    guard !entry.isBusy, var record = entry.record else { return .busy }
    guard record.awaitsDelivery else { throw .notDecided(id) }
    guard record.inputOffset == nil else { return .known(record) }
    record.inputOffset = offset
    agents[id.agent]?.entries[id.number]?.reservation = offset
    return propose(record)
  }

  /// The agent has the answer.
  mutating func confirm(_ id: ApprovalID) throws(ApprovalRefusal) -> Step {
    let entry = try entry(id)
    guard !entry.isBusy, let record = entry.record else { return .busy }
    if record.state == .pending { throw .notDecided(id) }
    guard record.awaitsDelivery else { return .known(record) }
    return propose(record.delivered)
  }

  // MARK: Storing

  /// The write is stored.
  mutating func commit(_ write: Write) {
    for change in write.changes {
      switch change {
      case .put(let record):
        let isHanded = agents[record.id.agent]?.entries[record.id.number]?.isHanded ?? false
        agents[record.id.agent]?.entries[record.id.number] = Entry(
          record: record, isHanded: isHanded)
      case .remove(let id):
        agents[id.agent]?.doubtful[id.number] = nil
        remove(id)
      }
    }
  }

  /// The write could not be stored: everything is as it was before.
  mutating func abandon(_ write: Write) {
    for change in write.changes {
      let id =
        switch change {
        case .put(let record): record.id
        case .remove(let id): id
        }
      agents[id.agent]?.entries[id.number]?.proposed = nil
      if let entry = agents[id.agent]?.entries[id.number], entry.record == nil {
        if case .put(let record) = change {
          agents[id.agent]?.doubtful[id.number] = record.request.key
        }
        remove(id)
      }
    }
  }

  private mutating func remove(_ id: ApprovalID) {
    agents[id.agent]?.remove(id.number)
    if agents[id.agent]?.isEmpty == true { agents[id.agent] = nil }
  }

  private mutating func propose(
    _ record: ApprovalRecord, replacing state: ApprovalRecord.State? = nil
  ) -> Step {
    agents[record.id.agent]?.entries[record.id.number]?.proposed = record
    return .store(Write(record: record, changes: [.put(record)], replaced: state))
  }

  private func entry(_ id: ApprovalID) throws(ApprovalRefusal) -> Entry {
    guard let entry = agents[id.agent]?.entries[id.number] else { throw .unknownRequest(id) }
    return entry
  }
}

extension ApprovalLedger.Entry {
  /// What a request is to the newest one under its id.
  fileprivate enum Meaning {
    /// This one, or one before it, read again.
    case same
    /// This one, asked again at another place of the agent's output.
    case moved(to: UInt64)
    /// Another one.
    case another
  }

  fileprivate func meaning(
    of other: ApprovalRequest, under record: ApprovalRecord
  ) -> Meaning {
    let isSame = record.request.asksTheSame(as: other)
    guard let place = record.request.outputOffset, let next = other.outputOffset else {
      return isSame ? .same : .another
    }
    guard next > place else { return .same }
    return isSame && record.isOpen && !mayHaveArrived ? .moved(to: next) : .another
  }

  /// Whether the agent may have the answer: it was handed out, or another run has reserved its
  /// place.
  fileprivate var mayHaveArrived: Bool { isHanded || record?.inputOffset != nil }

  /// Its place in the agent's input, where it may have one.
  fileprivate var place: UInt64? { record?.inputOffset ?? reservation }

  /// Whether its answer can be handed out.
  fileprivate var isFree: Bool { !isBusy && !isHanded }
}

extension ApprovalLedger.Agent {
  /// The newest record of the request at this place of the agent's output.
  fileprivate func record(of request: ApprovalRequest) -> ApprovalRecord? {
    entries.values.compactMap(\.record).filter { record in
      record.request.outputOffset == request.outputOffset && record.request.key == request.key
        && record.request.asksTheSame(as: request)
    }.max { $0.id.number < $1.id.number }
  }

  /// Forgets a record, and takes an older one of the same id for the newest.
  fileprivate mutating func remove(_ number: Int) {
    guard entries.removeValue(forKey: number) != nil else { return }
    for (key, newest) in newest where newest == number {
      self.newest[key] =
        entries.filter { $0.value.latest?.request.key == key }.keys.max()
    }
  }

  /// The oldest settled records, beyond so many.
  fileprivate func surplus(beyond limit: Int) -> [ApprovalID] {
    let settled = entries.filter { !$0.value.isBusy && $0.value.record?.isOpen == false }
    return settled.keys.sorted().dropLast(limit).compactMap { entries[$0]?.record?.id }
  }
}

extension ApprovalRecord {
  /// As it is once the agent has the answer.
  fileprivate var delivered: Self {
    var record = self
    switch state {
    case .decided(let decision): record.state = .delivered(decision)
    case .canceled(let cancellation, reply: _): record.state = .canceled(cancellation, reply: nil)
    case .pending, .delivered: break
    }
    return record
  }

  /// As it is once the agent uses its id for another question; nil where that changes nothing. An
  /// answer that the agent may have counts as received: it would be taken for one to the other
  /// question.
  fileprivate func ended(byReplacementAt time: Date, mayHaveArrived: Bool) -> Self? {
    guard isOpen else { return nil }
    if awaitsDelivery, mayHaveArrived { return delivered }
    var record = self
    record.state = .canceled(.init(by: .replaced, at: time), reply: nil)
    return record
  }
}
