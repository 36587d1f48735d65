import BridgeErrors
import BridgeTestKit
import BridgeWaiting
import Testing

@testable import BridgeAgentHost

/// A store in memory that can fail, and can be held.
private actor ApprovalStore {
  private(set) var records: [ApprovalID: ApprovalRecord] = [:]
  private(set) var isAsked = false
  private var failures = 0
  private var hold: Latch?

  static let failure = AppError.databaseError(operation: "approvals", detail: "disk full")

  func fail(_ count: Int = 1) { failures = count }
  func hold(until latch: Latch) { hold = latch }

  func keep(_ changes: [ApprovalChange]) async throws(AppError) {
    isAsked = true
    await hold?.wait()
    guard failures == 0 else {
      failures -= 1
      throw Self.failure
    }
    for change in changes {
      switch change {
      case .put(let record): records[record.id] = record
      case .remove(let id): records[id] = nil
      }
    }
  }

  /// What another run of the application begins with.
  func approvals(_ limits: ApprovalLimits = .init()) -> Approvals {
    Approvals(
      restoring: Array(records.values), limits: limits, now: { ApprovalSample.time(5) }
    ) { changes throws(AppError) in try await self.keep(changes) }
  }
}

@Suite("Approvals of people, on their way to an agent", .timeLimit(.minutes(1)))
struct ApprovalsTests {
  private typealias Sample = ApprovalSample

  private let store = ApprovalStore()

  // MARK: Errors

  @Test func whatIsNotAsItMustBeIsRefusedInWords() async throws {
    let approvals = await store.approvals(.init(open: 1, size: 2000))
    let id = try await approvals.request(Sample.request()).id
    await #expect(
      throws: AppError.validationError(
        field: "option", message: "The request a#1 has no option maybe.")
    ) { try await approvals.decide(id, option: "maybe", by: "ada") }
    let unknown = ApprovalID(agent: "b", number: 7)
    await #expect(
      throws: AppError.validationError(field: "approval", message: "There is no request b#7.")
    ) { try await approvals.decide(unknown, option: "yes", by: "ada") }
    await #expect(
      throws: AppError.validationError(field: "approval", message: "There is no request b#7.")
    ) { try await approvals.decision(for: unknown) }
    await #expect(
      throws: AppError.permissionSystemError(
        detail: "a has 1 open requests, which is the limit of the agent host")
    ) { try await approvals.request(Sample.request("2")) }
    let long = Sample.request(of: "b", parameters: "\"\(String(repeating: "x", count: 1 << 20))\"")
    await #expect(
      throws: AppError.permissionSystemError(
        detail: "the request has \(long.size) bytes; the limit of the agent host is 2000")
    ) { try await approvals.request(long) }
    // The end of a request may be known before its cancellation comes.
    #expect(try await !approvals.cancel(agent: "b", wireID: "7"))
    try await approvals.resolve(agent: "b", wireID: "7")
  }

  @Test func aDecisionThatCouldNotBeStoredIsNone() async throws {
    let approvals = await store.approvals()
    await store.fail()
    await #expect(throws: ApprovalStore.failure) { try await approvals.request(Sample.request()) }
    #expect(await approvals.pending.isEmpty)
    let id = try await approvals.request(Sample.request()).id
    await store.fail()
    await #expect(throws: ApprovalStore.failure) {
      try await approvals.decide(id, option: "yes", by: "ada")
    }
    #expect(await approvals.pending.map(\.id) == [id])
    let answer = try await approvals.decide(id, option: "no", by: "ben")
    guard case .decided(let decision) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(decision.by == "ben" && decision.at == Sample.time(5))
  }

  // MARK: One decision

  @Test func ofManyAnswersOneIsTheDecisionAndTheOthersLearnIt() async throws {
    let approvals = await store.approvals()
    let id = try await approvals.request(Sample.request()).id
    let answers = await withTaskGroup(of: ApprovalAnswer?.self) { group in
      for number in 0..<50 {
        group.addTask {
          try? await approvals.decide(
            id, option: number % 2 == 0 ? "yes" : "no", by: "person \(number)")
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let decision = try #require(try await approvals.decision(for: id))
    #expect(answers.count { $0 == .decided(decision) } == 1)
    #expect(answers.count { $0 == .alreadyDecided(decision) } == 49)
    #expect(
      ApprovalAnswer.alreadyDecided(decision).text
        == "Already decided: \(decision.name) (\(decision.by))")
  }

  @Test func aDecisionIsStoredBeforeItIsReportedOrHandedOver() async throws {
    let approvals = await store.approvals()
    let id = try await approvals.request(Sample.request()).id
    let latch = Latch()
    await store.hold(until: latch)
    let answer = Task { try await approvals.decide(id, option: "yes", by: "ada") }
    let delivery = Task { try await approvals.nextDelivery(for: "a") }
    let late = Task { try await approvals.decide(id, option: "no", by: "ben") }
    try await eventually { await store.isAsked }
    for _ in 0..<50 { await Task.yield() }
    #expect(await approvals.pending.map(\.id) == [id])
    #expect(await approvals.record(id)?.decision == nil)
    latch.open()
    let answers = [try await answer.value, try await late.value]
    let decision = try #require(await approvals.record(id)?.decision)
    // Whichever of them came first.
    #expect(answers.contains(.decided(decision)) && answers.contains(.alreadyDecided(decision)))
    #expect(try await delivery.value.decision == decision)
    #expect(await store.records[id]?.decision == decision)
  }

  @Test func aRequestThatWasCanceledTakesNoAnswer() async throws {
    let approvals = await store.approvals()
    let ids = [
      try await approvals.request(Sample.request("1")).id,
      try await approvals.request(Sample.request("2")).id,
      try await approvals.request(Sample.request("3", of: "b")).id,
    ]
    let waiting = Task { try await approvals.decision(for: ids[0]) }
    #expect(try await approvals.cancel(agent: "a", wireID: "1"))
    #expect(try await waiting.value == nil)
    try await approvals.cancelAll(agent: "a", scope: "s", by: "ada", reply: .result("{}"))
    let answers = [
      try await approvals.decide(ids[0], option: "yes", by: "ben"),
      try await approvals.decide(ids[1], option: "yes", by: "ben"),
    ]
    #expect(answers.map(\.text) == ["The agent asks no longer.", "Canceled by ada."])
    #expect(await approvals.pending.map(\.id) == [ids[2]])
    // The agent has an answer to the one whose protocol requires it.
    #expect(try await approvals.nextDelivery(for: "a").id == ids[1])
  }

  @Test func aCallThatIsCanceledEnds() async throws {
    let approvals = await store.approvals()
    let id = try await approvals.request(Sample.request()).id
    let calls = [
      Task { _ = try await approvals.decision(for: id) },
      Task { _ = try await approvals.nextDelivery(for: "a") },
      Task { try await approvals.deliver(to: "a") { _ in } },
    ]
    for call in calls {
      call.cancel()
      await #expect(throws: AppError.cancelled) { try await call.value }
    }
  }

  // MARK: Readers

  @Test func aReaderHasWhatIsPendingAtOnceAndEachChangeAfterIt() async throws {
    let approvals = await store.approvals()
    let id = try await approvals.request(Sample.request()).id
    let (pending, events) = await approvals.attach()
    #expect(pending.map(\.id) == [id])
    _ = try await approvals.decide(id, option: "yes", by: "ada")
    try await approvals.forget(agent: "a")
    var iterator = events.makeAsyncIterator()
    guard case .changed(.put(let record)) = await iterator.next() else {
      Issue.record("It has no change.")
      return
    }
    #expect(record.id == id && record.decision?.by == "ada")
    #expect(await iterator.next() == .changed(.remove(id)))
  }

  @Test func aReaderThatIsSlowLearnsHowManyItMissed() async throws {
    let approvals = await store.approvals()
    let (_, events) = await approvals.attach()
    let count = ApprovalEvents.limit + 7
    for number in 0..<count {
      try await approvals.request(Sample.request("1", of: "agent \(number)"))
    }
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next() == .missed(count: 7))
    for number in 7..<count {
      guard case .changed(.put(let record)) = await iterator.next() else {
        Issue.record("It has no change.")
        return
      }
      #expect(record.id.agent == "agent \(number)")
    }
  }

  @Test func readersEndWithTheApprovals() async throws {
    var approvals: Approvals? = await store.approvals()
    let events = try #require(await approvals?.attach()).events
    approvals = nil
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }

  // MARK: Delivery

  /// Runs `deliver` until `isDone`.
  private func deliver(
    _ approvals: Approvals, until isDone: @escaping @Sendable () async -> Bool,
    write: @escaping @Sendable (ApprovalRecord) async throws(AppError) -> Void
  ) async throws {
    let delivering = Task { try await approvals.deliver(to: "a", write: write) }
    try await eventually { await isDone() }
    delivering.cancel()
    _ = await delivering.result
  }

  @Test func aDecisionThatWasMadeWhileTheLinkIsDownArrivesOnceItIsThere() async throws {
    let approvals = await store.approvals()
    let id = try await approvals.request(Sample.request()).id
    _ = try await approvals.decide(id, option: "yes", by: "ada")
    let written = Mutex<[String]>([])
    let down = AppError.sshConnectionFailed(host: "h", reason: "reset")
    await #expect(throws: down) {
      try await approvals.deliver(to: "a") { _ throws(AppError) in throw down }
    }
    try await deliver(approvals) {
      await approvals.record(id)?.awaitsDelivery == false
    } write: { record in
      let line = String(decoding: record.responseLine ?? [], as: UTF8.self)
      written.withLock { $0.append(line) }
    }
    #expect(written.withLock { $0 } == [#"{"jsonrpc":"2.0","id":1,"result":{"d":"yes"}}"# + "\n"])
    // Not again, also by another run.
    let next = await store.approvals()
    #expect(await next.records.map(\.awaitsDelivery) == [false])
  }

  @Test func anAnswerThatWasNotConfirmedIsHandedOverAgainAtItsPlace() async throws {
    let first = await store.approvals()
    let id = try await first.request(Sample.request()).id
    _ = try await first.decide(id, option: "yes", by: "ada")
    #expect(try await first.nextDelivery(for: "a").inputOffset == nil)
    #expect(try await first.reserve(id, at: 40) == 40)
    // The application is killed while it writes.
    let second = await store.approvals()
    let record = try await second.nextDelivery(for: "a")
    #expect(record.id == id && record.inputOffset == 40)
    #expect(try await second.reserve(id, at: 99) == 40)
    try await second.confirmDelivery(id)
    let third = await store.approvals()
    #expect(await third.records.map(\.awaitsDelivery) == [false])
  }

  @Test func anAnswerThatArrivedIsNotWrittenAgainBecauseTheStoreFailed() async throws {
    let approvals = await store.approvals()
    let id = try await approvals.request(Sample.request()).id
    _ = try await approvals.decide(id, option: "yes", by: "ada")
    let count = Mutex(0)
    let write = { @Sendable (_: ApprovalRecord) async throws(AppError) in
      count.withLock { $0 += 1 }
    }
    await store.fail(2)
    for _ in 0..<2 {
      await #expect(throws: ApprovalStore.failure) {
        try await approvals.deliver(to: "a", write: write)
      }
    }
    try await deliver(approvals) {
      await approvals.record(id)?.awaitsDelivery == false
    } write: { record throws(AppError) in
      try await write(record)
    }
    #expect(count.withLock { $0 } == 1)
    #expect(await store.records[id]?.awaitsDelivery == false)
  }
}
