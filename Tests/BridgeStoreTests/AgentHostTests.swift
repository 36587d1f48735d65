import BridgeErrors
import BridgeStore
import BridgeTestKit
import BridgeWaiting
import Testing

@testable import BridgeAgentHost

@Suite("Each agent has its work on exactly one host", .timeLimit(.minutes(2)))
struct AgentHostTests {
  private static let session = StoreChange.session(StoredSession(machine: "m", session: "s"))

  /// A lease that a busy machine would lose is not what most of these are about.
  private static let calm = AgentHostTiming(lasting: .seconds(3600))

  private static let question = ApprovalRequest(
    agent: "a", wireID: "1", method: "ask", scope: "s", title: "Run ls?",
    options: [ApprovalOption(id: "yes", name: "Allow", kind: .allowOnce, result: "{}")],
    parameters: "{}")

  /// What hosts do at this moment, and have done.
  private final class Log: Sendable {
    private struct State {
      var carried: [String: [String]] = [:]
      var most = 0
      var count = 0
    }

    private let state = Mutex(State())

    /// Carries an agent until its work is canceled.
    func carry(_ agent: CarriedAgent, on host: String) async throws(AppError) {
      begin(agent.name, host)
      defer { state.withLock { $0.carried[agent.name]?.removeAll { $0 == host } } }
      await Latch().wait()
      throw .cancelled
    }

    func begin(_ agent: String, _ host: String) {
      state.withLock { state in
        state.count += 1
        state.carried[agent, default: []].append(host)
        state.most = max(state.most, state.carried[agent]?.count ?? 0)
      }
    }

    func carriers(of agent: String) -> [String] { state.withLock { $0.carried[agent] ?? [] } }
    /// How many hosts had the work of one agent at most, at one moment.
    var most: Int { state.withLock { $0.most } }
    /// How often work has begun.
    var count: Int { state.withLock { $0.count } }
  }

  /// Runs a host beside `body`, and shuts it down.
  private func running(
    _ host: AgentHost, _ carry: @escaping AgentHost.Carry, _ body: () async throws -> Void
  ) async throws {
    async let run: Void = host.run(carry)
    do {
      try await body()
    } catch {
      host.requestShutDown()
      _ = try? await run
      throw error
    }
    host.requestShutDown()
    try await run
  }

  /// Runs `body` while an agent of a host waits for the answer to its question.
  private func asking(
    over store: any AgentStore, from offset: UInt64? = nil, follows: Bool = false,
    _ body: (Approvals, ApprovalID) async throws -> Void
  ) async throws {
    let carried = Mutex(Approvals?.none)
    let host = AgentHost("one", sharing: store, timing: Self.calm)
    try await running(host) { agent throws(AppError) in
      let approvals = try Approvals(of: agent)
      var question = Self.question
      question.outputOffset = offset
      try await approvals.request(question)
      carried.withLock { $0 = approvals }
      if follows { try await agent.follow(approvals) }
      try await agent.rest()
    } _: {
      try await host.add("a", Self.session)
      try await eventually { carried.withLock { $0 != nil } }
      let approvals = try #require(carried.withLock { $0 })
      try await body(approvals, try #require(await approvals.pending.first).id)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func anAgentOfAHostThatShutsDownIsTakenByAnother(kind: StoreKind) async throws {
    try await kind.run { store, other in
      let log = Log()
      let one = AgentHost("one", sharing: store, timing: Self.calm)
      let two = AgentHost("two", sharing: other, timing: Self.calm)
      try await running(one) { agent throws(AppError) in
        try await log.carry(agent, on: "one")
      } _: {
        try await one.add("a", Self.session)
        try await eventually { log.carriers(of: "a") == ["one"] }
        await #expect(throws: AppError.agentTakenOver(agent: "a", by: one.name)) {
          try await two.add("a")
        }
        try await running(two) { agent throws(AppError) in
          #expect(agent.state.session?.machine == "m")
          try await log.carry(agent, on: "two")
        } _: {
          one.requestShutDown()
          try await eventually { log.carriers(of: "a") == ["two"] }
        }
      }
      #expect(log.most == 1 && log.count == 2)
      // Both have given it up.
      #expect(try await store.agents().map(\.carrier) == [nil])
    }
  }

  /// The turn of the host that has another agent comes half an hour later.
  @Test(arguments: StoreKind.allCases)
  func anAgentThatIsGivenUpGoesToTheHostWithTheFewest(kind: StoreKind) async throws {
    try await kind.run { store, other in
      let log = Log()
      let timing = AgentHostTiming(lasting: .seconds(3600), spread: .seconds(3600))
      let one = AgentHost("one", sharing: store, timing: timing)
      let two = AgentHost("two", sharing: other, timing: timing)
      try await running(one) { agent throws(AppError) in
        try await log.carry(agent, on: "one")
      } _: {
        for name in ["a", "b"] { try await one.add(name, Self.session) }
        try await eventually { log.count == 2 }
        try await running(two) { agent throws(AppError) in
          try await log.carry(agent, on: "two")
        } _: {
          await one.giveUp("a")
          try await eventually { log.carriers(of: "a") == ["two"] }
          #expect(log.carriers(of: "b") == ["one"] && log.count == 3 && log.most == 1)
          #expect(await two.snapshot().counts.takeovers == 0)
        }
      }
    }
  }

  /// Another host may have a way to it.
  @Test(arguments: StoreKind.allCases)
  func anAgentWhoseMachineIsNotReachedGoesToAHostThatReachesIt(kind: StoreKind) async throws {
    try await kind.run { store, other in
      let log = Log()
      let timing = AgentHostTiming(lasting: .seconds(3600), reach: .milliseconds(200))
      let one = AgentHost("one", sharing: store, timing: timing)
      let two = AgentHost("two", sharing: other, timing: timing)
      try await running(one) { agent throws(AppError) in
        try await agent.opening(to: "m") { () async throws(AppError) in
          try await log.carry(agent, on: "one")
        }
      } _: {
        try await one.add("a", Self.session)
        // It takes the agent again where there is no other host.
        try await eventually { log.count == 2 }
        try await running(two) { agent throws(AppError) in
          try await agent.opening(to: "m") { () throws(AppError) in }
          try await log.carry(agent, on: "two")
        } _: {
          try await eventually { log.carriers(of: "a") == ["two"] }
        }
      }
      #expect(log.most == 1)
      let counts = await one.snapshot().counts
      #expect(counts.losses == 0 && counts.failures == 0)
    }
  }

  /// Its store does not answer any more, as for a host that is cut off: it ends its work by its own
  /// clock, and another host has the agent not before.
  @Test(arguments: StoreKind.allCases)
  func aHostThatIsCutOffEndsItsWorkBeforeAnotherBegins(kind: StoreKind) async throws {
    try await kind.run { store, other in
      let log = Log()
      let cut = CutStore(store)
      let (one, two) = (AgentHost("one", sharing: cut), AgentHost("two", sharing: other))
      try await running(one) { agent throws(AppError) in
        try await log.carry(agent, on: "one")
      } _: {
        try await one.add("a", Self.session)
        try await eventually { log.carriers(of: "a") == ["one"] }
        try await running(two) { agent throws(AppError) in
          try await log.carry(agent, on: "two")
        } _: {
          cut.cut()
          try await eventually { log.carriers(of: "a") == ["two"] }
          cut.heal()
        }
      }
      #expect(log.most == 1)
    }
  }

  /// The store refuses what a host writes that has lost an agent and does not know it yet.
  @Test(arguments: StoreKind.allCases)
  func aWriteAfterATakeOverIsRefusedAndEndsTheWork(kind: StoreKind) async throws {
    try await kind.run { store, other in
      let refused = Latch()
      let host = AgentHost("one", sharing: store, timing: Self.calm)
      try await running(host) { agent throws(AppError) in
        // Another process takes it: as if the lease had ended.
        _ = try await other.acquire("a", for: host.name, lasting: .seconds(3600))
        do throws(AppError) {
          try await agent.write(.commit(effect: "chat", point: StoredValue(bytes: [1])))
        } catch {
          #expect(error == .agentTakenOver(agent: "a", by: host.name))
          refused.open()
          throw error
        }
      } _: {
        try await host.add("a", Self.session)
        await refused.wait()
        try await eventually { await host.carried.isEmpty }
        #expect(try await store.state(of: "a").commits.isEmpty)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func workThatFailsIsReportedAndBeginsAgain(kind: StoreKind) async throws {
    try await kind.run { store, _ in
      let failures = Mutex([AgentHost.Failure]())
      let begun = Mutex(0)
      // A failure under a lease that has ended is reported by none: the agent is another host's.
      let timing = AgentHostTiming(lasting: .seconds(3600), pause: .milliseconds(1))
      let host = AgentHost("one", sharing: store, timing: timing) { failure in
        failures.withLock { $0.append(failure) }
      }
      try await running(host) { agent throws(AppError) in
        let count = begun.withLock { count in
          count += 1
          return count
        }
        if count < 4 { throw .dnsError(host: "chat") }
        try await agent.write(.removeAgent)
      } _: {
        try await host.add("a", Self.session)
        try await eventually { try await store.agents().isEmpty }
      }
      let seen = failures.withLock { $0 }
      #expect(seen.map(\.error) == Array(repeating: .dnsError(host: "chat"), count: 3))
      #expect(seen.map(\.pause) == [1, 2, 4].map { .milliseconds($0) })
      #expect(seen.allSatisfy { $0.agent == "a" })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func workThatReturnsIsOver(kind: StoreKind) async throws {
    try await kind.run { store, _ in
      let begun = Mutex(0)
      let host = AgentHost("one", sharing: store, timing: Self.calm)
      try await running(host) { _ throws(AppError) in
        begun.withLock { $0 += 1 }
      } _: {
        try await host.add("a", Self.session)
        try await eventually { try await store.agents().isEmpty }
        try await host.add("a", Self.session)
        try await eventually { try await store.agents().isEmpty }
      }
      #expect(begun.withLock { $0 } == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func anAgentThatIsClosedIsCarriedByNoHost(kind: StoreKind) async throws {
    try await kind.run { store, other in
      let begun = Mutex(0)
      let carry: AgentHost.Carry = { agent throws(AppError) in
        begun.withLock { $0 += 1 }
        try await agent.close()
      }
      let one = AgentHost("one", sharing: store, timing: Self.calm)
      let two = AgentHost("two", sharing: other, timing: Self.calm)
      try await running(one, carry) {
        try await one.add("a", Self.session)
        try await eventually { try await store.agents().first?.isClosed == true }
        try await eventually { await one.carried.isEmpty }
        try await running(two, carry) {
          try await two.add("b", Self.session)
          try await eventually { try await store.agents().map(\.isClosed) == [true, true] }
          let error = await #expect(throws: AppError.self) { try await two.add("a") }
          #expect(error?.caseName == "validationError")
        }
        #expect(begun.withLock { $0 } == 2)
        let counts = await one.snapshot().counts
        #expect(counts.losses == 0 && counts.failures == 0)
        try await one.remove("a")
        #expect(try await store.agents().map(\.name) == ["b"])
        try await one.add("a", Self.session)
        try await eventually { begun.withLock { $0 } == 3 }
      }
    }
  }

  @Test func aHostThatLookedBeforeAnAgentWasClosedGivesItBack() async throws {
    try await StoreKind.sqlite.run { store, _ in
      let lease = try await store.acquire("a", for: "one", lasting: forLong)
      try await store.write([Self.session, .close], under: lease)
      let stale = StaleStore(store)
      let begun = Mutex(0)
      let host = AgentHost("two", sharing: stale, timing: .init(poll: .milliseconds(10)))
      try await running(host) { _ throws(AppError) in
        begun.withLock { $0 += 1 }
      } _: {
        try await eventually { stale.acquired >= 2 }
      }
      #expect(begun.withLock { $0 } == 0)
      #expect(try await store.agents().map { $0.isClosed && $0.carrier == nil } == [true])
    }
  }

  @Test func anAgentThatIsCarriedIsNotRemoved() async throws {
    try await StoreKind.sqlite.run { store, other in
      let log = Log()
      let one = AgentHost("one", sharing: store, timing: Self.calm)
      let two = AgentHost("two", sharing: other, timing: Self.calm)
      try await running(one) { agent throws(AppError) in
        try await log.carry(agent, on: "one")
      } _: {
        try await one.add("a", Self.session)
        let error = await #expect(throws: AppError.self) { try await one.remove("a") }
        #expect(error?.caseName == "validationError")
        await #expect(throws: AppError.agentTakenOver(agent: "a", by: one.name)) {
          try await two.remove("a")
        }
        #expect(try await store.agents().map(\.name) == ["a"])
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aStoreThatIsClosedEndsTheRun(kind: StoreKind) async throws {
    try await kind.run { store, _ in
      let host = AgentHost("one", sharing: store, timing: Self.calm)
      try await host.add("a", Self.session)
      await store.close()
      await #expect(throws: AppError.cancelled) {
        try await host.run { _ throws(AppError) in }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func questionsOfAnAgentAndTheirAnswersOutliveTheirHost(kind: StoreKind) async throws {
    try await kind.run { store, other in
      let one = AgentHost("one", sharing: store, timing: Self.calm)
      let asked = Latch()
      try await running(one) { agent throws(AppError) in
        let approvals = try Approvals(of: agent)
        let record = try await approvals.request(Self.question)
        _ = try await approvals.decide(record.id, option: "yes", by: "ada")
        asked.open()
        throw .cancelled
      } _: {
        try await one.add("a", Self.session)
        await asked.wait()
      }
      let two = AgentHost("two", sharing: other, timing: Self.calm)
      let delivered = Mutex([String]())
      try await running(two) { agent throws(AppError) in
        let approvals = try Approvals(of: agent)
        let record = try await approvals.nextDelivery(for: "a")
        try await approvals.confirmDelivery(record.id)
        delivered.withLock { $0.append(record.decision?.by ?? "") }
      } _: {
        try await eventually { delivered.withLock { !$0.isEmpty } }
      }
      #expect(delivered.withLock { $0 } == ["ada"])
    }
  }

  /// The host that carries the agent hears of it from the store, and its own people come too late.
  @Test(arguments: StoreKind.allCases)
  func anAnswerThatIsGivenOnAnotherHostReachesTheOneThatCarriesTheAgent(
    kind: StoreKind
  ) async throws {
    try await kind.run { store, other in
      try await asking(over: store, follows: true) { approvals, id in
        let answer = try await other.decide(id, option: "yes", by: "ada")
        let decision = try #require(try await approvals.decision(for: id))
        #expect(answer == .decided(decision) && decision.by == "ada")
        #expect(
          try await approvals.decide(id, option: "yes", by: "bob").text
            == "Already decided: Allow (ada)")
        #expect(
          try await other.decide(id, option: "yes", by: "eve").text
            == "Already decided: Allow (ada)")
        let next = try await approvals.nextDelivery(for: "a")
        #expect(next.id == id && next.decision == decision)
      }
    }
  }

  /// Tells the person who has decided that the decision is theirs, on both ways.
  @Test(arguments: StoreKind.allCases, [false, true])
  func aDecisionWhoseAnswerWasLostIsThePersonsOwn(kind: StoreKind, isCarried: Bool) async throws {
    try await kind.run { store, other in
      try await asking(over: RepeatingStore(store)) { approvals, id in
        let answer =
          isCarried
          ? try await approvals.decide(id, option: "yes", by: "ada")
          : try await RepeatingStore(other).decide(id, option: "yes", by: "ada")
        #expect(answer.text == "Decided: Allow")
        if isCarried { #expect(await approvals.pending.isEmpty) }
      }
    }
  }

  /// An agent that asks once more, further on in its output, while another host has the decision.
  @Test(arguments: StoreKind.allCases)
  func aQuestionThatIsAskedAgainKeepsItsDecision(kind: StoreKind) async throws {
    try await kind.run { store, other in
      try await asking(over: store, from: 10) { approvals, id in
        _ = try await other.decide(id, option: "yes", by: "ada")
        var question = Self.question
        for offset in [20, 30] as [UInt64] {
          question.outputOffset = offset
          let record = try await approvals.request(question)
          #expect(record.id == id && record.decision?.option == "yes")
        }
        let stored = try await other.state(of: "a").approvals.map {
          try $0.record.decoded(as: ApprovalRecord.self)
        }
        #expect(stored.map(\.decision?.by) == ["ada"])
        #expect(stored.map(\.request.outputOffset) == [30])
      }
    }
  }

  /// Both people saw the question before either had decided it.
  @Test(arguments: StoreKind.allCases)
  func ofTwoAnswersOnTwoHostsOneIsTheDecision(kind: StoreKind) async throws {
    try await kind.run { store, other in
      try await asking(over: store) { approvals, id in
        _ = try await other.decide(id, option: "yes", by: "ada")
        let late = try await approvals.decide(id, option: "yes", by: "bob")
        #expect(late.text == "Already decided: Allow (ada)")
        #expect(try await approvals.nextDelivery(for: "a").decision?.by == "ada")
        let kept = try #require(try await store.state(of: "a").approvals.first)
        #expect(try kept.record.decoded(as: ApprovalRecord.self).decision?.by == "ada")
        let missing = ApprovalID(agent: "a", number: 9)
        let unknown = await #expect(throws: AppError.self) {
          try await other.decide(missing, option: "yes", by: "ada")
        }
        #expect(unknown?.caseName == "validationError")
      }
    }
  }
}

/// A store from which a host can be cut off.
private final class CutStore: AgentStore {
  private let store: any AgentStore
  private let isCut = Mutex(false)
  private let changed = Changes()

  init(_ store: any AgentStore) { self.store = store }

  var name: String { store.name }

  func cut() { isCut.withLock { $0 = true } }

  func heal() {
    isCut.withLock { $0 = false }
    changed.announce()
  }

  func perform(_ request: StoreRequest) async throws(AppError) -> StoreAnswer {
    while isCut.withLock({ $0 }) { try await changed.wait(after: changed.version) }
    return try await store.perform(request)
  }

  func changes() -> AsyncStream<Void> { store.changes() }
  func close() async { await store.close() }
}
