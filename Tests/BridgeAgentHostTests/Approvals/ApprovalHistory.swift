import BridgeFaults
import Foundation
import Testing

@testable import BridgeAgentHost

/// An agent that asks, people who answer, and an application between them that is killed, whose
/// store fails, and whose link to the agent ends, all at any point.
struct ApprovalHistory {
  /// A question of the agent, and what it knows of its answer.
  private struct Question {
    let wireID: String
    let offset: UInt64
    /// The results that it received.
    var results: [String] = []
    var isWithdrawn = false
    /// The application said that the request was canceled.
    var isCanceled = false
    /// What people learned: the option that was decided.
    var reported: Set<String> = []

    var isOpen: Bool { results.isEmpty && !isWithdrawn }
  }

  /// What the application does when a write has ended.
  private enum Purpose {
    case request(question: Int)
    case decision(question: Int, ApprovalID)
    case cancellation(question: Int)
    case place(ApprovalRecord)
    case proof(ApprovalID)
  }

  private var generator: SplitMix64
  private var ledger = ApprovalLedger(Self.limits)
  /// What is on disk.
  private var stored: [ApprovalID: ApprovalRecord] = [:]
  /// What is being stored.
  private var writes: [(write: ApprovalLedger.Write, purpose: Purpose)] = []
  private var questions: [Question] = []
  /// The cards that people have seen, also of runs before.
  private var cards: [(id: ApprovalID, question: Int)] = []
  /// What the agent has read; a text of the user, or the answer to a question.
  private var input: [String] = []
  /// The answer that is on its way, and where it begins once that is stored.
  private var delivery: (record: ApprovalRecord, place: UInt64?)?
  /// A place may be reserved: nothing else is written before its answer.
  private var mayBeReserved = false
  /// Answers that the agent has, which could not be stored yet.
  private var arrived: [ApprovalID] = []

  private static let limits = ApprovalLimits(open: 2, settled: 8)

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps { try step(mayFail: true) }
    // Quiet at last: everything that is open is decided, and arrives.
    for _ in 0..<2000 where !isSettled { try step(mayFail: false) }
    #expect(
      isSettled,
      "\(ledger.records.filter(\.isOpen)) \(writes) \(String(describing: delivery))")
    for question in questions {
      let isDecided = question.results.count == 1 && !question.isCanceled
      let isWithdrawn = question.results.isEmpty && question.isWithdrawn
      #expect(isDecided || isWithdrawn, "\(question)")
      #expect(question.reported.count <= 1)
      #expect(question.results.isEmpty || question.reported.isSubset(of: question.results))
    }
  }

  private var isSettled: Bool {
    questions.allSatisfy { !$0.isOpen } && writes.isEmpty && delivery == nil
      && ledger.records.allSatisfy { !$0.isOpen }
  }

  private mutating func step(mayFail: Bool) throws {
    switch Int.random(in: 0..<14, using: &generator) {
    case 0 where mayFail: try ask()
    case 1: try readAgain()
    case 2..<5: try decide()
    case 5 where mayFail: try cancel()
    case 6..<10: try endWrite(mayFail: mayFail)
    case 10..<12: try deliver(mayFail: mayFail)
    case 12 where mayFail && !mayBeReserved && delivery == nil: input.append("text")
    case 13 where mayFail && Int.random(in: 0..<4, using: &generator) == 0: crash()
    default: break
    }
  }

  // MARK: The agent

  /// A new question, under an id that no open one has.
  private mutating func ask() throws {
    let used = Set(questions.filter(\.isOpen).map(\.wireID))
    let free = (0..<3).map(String.init).filter { !used.contains($0) }
    guard let id = free.randomElement(using: &generator) else { return }
    questions.append(Question(wireID: id, offset: UInt64(questions.count + 1) * 10))
    try hear(questions.count - 1)
  }

  /// The line of a question is read once more, by the next run or by this one: one that was not
  /// taken yet, or one of the newest, as lines are committed in order.
  private mutating func readAgain() throws {
    let uncommitted = questions.indices.filter { index in
      let isNew = questions[index].isOpen && !cards.contains { $0.question == index }
      return isNew || index >= questions.count - 4 && !questions[index].isWithdrawn
    }
    guard let index = uncommitted.randomElement(using: &generator) else { return }
    try hear(index)
  }

  private mutating func hear(_ index: Int) throws {
    let question = questions[index]
    let request = ApprovalSample.request(
      question.wireID, asking: "\(Int(question.offset) % 20)", at: question.offset)
    do throws(ApprovalRefusal) {
      switch try ledger.request(request, at: ApprovalSample.time(index)) {
      case .known(let record): see(record, index)
      case .busy: break
      case .store(let write): writes.append((write, .request(question: index)))
      }
    } catch {
      // The agent receives an error.
      #expect(error == .tooManyOpen(agent: "a", limit: 2))
      questions[index].isWithdrawn = true
    }
  }

  private mutating func see(_ record: ApprovalRecord?, _ index: Int) {
    guard let record, record.request.outputOffset == questions[index].offset else { return }
    let known = cards.firstIndex { $0.id == record.id }
    // The same question once more, which the agent had withdrawn, has the card of the first.
    if let known { cards[known].question = index }
    guard known == nil else { return }
    #expect(!cards.contains { $0.question == index }, "a question has two cards")
    cards.append((record.id, index))
  }

  // MARK: People

  private mutating func decide() throws {
    for record in ledger.pending { see(record, Int(record.request.outputOffset ?? 10) / 10 - 1) }
    // Of those that are open, or of any: a person may look at an old list.
    let isOld = Bool.random(using: &generator)
    let shown = isOld ? cards : cards.filter { ledger.record($0.id)?.state == .pending }
    guard let card = shown.randomElement(using: &generator) else { return }
    let option = Bool.random(using: &generator) ? "yes" : "no"
    do throws(ApprovalRefusal) {
      switch try ledger.decide(card.id, option: option, by: "p", at: ApprovalSample.time(0)) {
      case .known(let record): learn(record, card.question)
      case .busy: break
      case .store(let write): writes.append((write, .decision(question: card.question, card.id)))
      }
    } catch {
      #expect(error == .unknownRequest(card.id))
    }
  }

  private mutating func learn(_ record: ApprovalRecord?, _ index: Int) {
    withdraw(index, record)
    if let option = record?.decision?.option { questions[index].reported.insert(option) }
    // Once it was canceled, it is so for good.
    if questions[index].isCanceled { #expect(record?.decision == nil) }
  }

  /// The agent asks no longer, and says so until the application has it.
  private mutating func cancel() throws {
    let open = questions.indices.filter { index in
      questions[index].isOpen && cards.contains { $0.question == index }
    }
    guard let index = open.randomElement(using: &generator),
      let card = cards.last(where: { $0.question == index })
    else { return }
    let step = try ledger.cancel(
      card.id, by: .agent, reply: nil, at: ApprovalSample.time(index))
    switch step {
    case .known(let record): withdraw(index, record)
    case .busy: break
    case .store(let write): writes.append((write, .cancellation(question: index)))
    }
  }

  private mutating func withdraw(_ index: Int, _ record: ApprovalRecord?) {
    guard case .canceled = record?.state else { return }
    questions[index].isWithdrawn = true
    questions[index].isCanceled = true
  }

  // MARK: The store

  private mutating func endWrite(mayFail: Bool) throws {
    guard let index = writes.indices.randomElement(using: &generator) else { return }
    let (write, purpose) = writes.remove(at: index)
    let end = mayFail ? Int.random(in: 0..<4, using: &generator) : 3
    // It may fail, and be on disk nevertheless.
    if end > 0 { keep(write) }
    guard end > 1 else {
      ledger.abandon(write)
      if case .place(let record) = purpose { giveBack(record) }
      if case .proof(let id) = purpose { arrived.append(id) }
      return
    }
    ledger.commit(write)
    switch purpose {
    case .request(let question): see(write.record, question)
    case .decision(let question, _): learn(write.record, question)
    case .cancellation(let question): withdraw(question, write.record)
    case .place(let record): delivery = (record, write.record?.inputOffset)
    case .proof: break
    }
  }

  private mutating func keep(_ write: ApprovalLedger.Write) {
    for change in write.changes {
      switch change {
      case .put(let record): stored[record.id] = record
      case .remove(let id): stored[id] = nil
      }
    }
  }

  /// The application is killed, and started anew with what is on disk.
  private mutating func crash() {
    for (write, _) in writes where Bool.random(using: &generator) { keep(write) }
    writes = []
    (delivery, arrived) = (nil, [])
    ledger = ApprovalLedger(Self.limits, restoring: Array(stored.values))
    mayBeReserved = ledger.records.contains { $0.awaitsDelivery && $0.inputOffset != nil }
  }

  // MARK: The way to the agent

  private mutating func deliver(mayFail: Bool) throws {
    if let id = arrived.popLast() { return try prove(id) }
    guard let (record, place) = delivery else {
      guard let record = ledger.take(for: "a") else { return }
      return try reserve(record)
    }
    guard let place else { return }
    let isCut = mayFail && Int.random(in: 0..<4, using: &generator) == 0
    if !isCut || Bool.random(using: &generator) { receive(record, at: Int(place)) }
    if isCut { return giveBack(record) }
    (delivery, mayBeReserved) = (nil, false)
    try prove(record.id)
  }

  private mutating func prove(_ id: ApprovalID) throws {
    switch try ledger.confirm(id) {
    case .known: break
    case .busy: arrived.append(id)
    case .store(let write): writes.append((write, .proof(id)))
    }
  }

  private mutating func reserve(_ record: ApprovalRecord) throws {
    mayBeReserved = true
    switch try ledger.reserve(record.id, at: UInt64(input.count)) {
    case .known(let known): delivery = (record, known?.inputOffset)
    case .busy: ledger.giveBack(record.id)
    case .store(let write):
      delivery = (record, nil)
      writes.append((write, .place(record)))
    }
  }

  private mutating func giveBack(_ record: ApprovalRecord) {
    ledger.giveBack(record.id)
    delivery = nil
  }

  /// A durable session writes each byte of its input once.
  private mutating func receive(_ record: ApprovalRecord, at place: Int) {
    let line = String(decoding: record.responseLine ?? [], as: UTF8.self)
    guard place >= input.count else {
      #expect(input[place] == line, "another input is at the place")
      return
    }
    #expect(place == input.count, "a hole in the input")
    input.append(line)
    guard let index = questions.lastIndex(where: { $0.wireID == record.request.wireID }) else {
      return
    }
    #expect(questions[index].offset == record.request.outputOffset, "of another question")
    #expect(!questions[index].isCanceled)
    if let option = record.decision?.option { questions[index].results.append(option) }
  }
}

@Suite("Approvals: one decision, delivered once, through any history") struct ApprovalHistoryTests {
  @Test(arguments: 0..<100) func oneDecisionReachesTheAgentOnce(seed: UInt64) throws {
    var history = ApprovalHistory(seed: seed)
    try history.run(steps: 300)
  }
}
