import BridgeErrors
import BridgeStore
import BridgeStoreSQLite
import BridgeTestKit
import BridgeWaiting
import Foundation
import Testing

@testable import BridgeAgentHost

/// The host's clock stands still at 1,000,000 ms since 1970 until a test moves it.
@Suite("A host can be watched, and shuts down whatever its store does", .timeLimit(.minutes(2)))
struct AgentHostSnapshotTests {
  private static let session = StoreChange.session(StoredSession(machine: "m", session: "s"))
  private static let outage = AppError.storeUnusable(
    store: "s", problem: .unavailable(reason: "it does not answer"))

  private let clock = ManualClock()
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func store() async throws -> FaultyStore {
    FaultyStore(try await SQLiteStore(at: folder.file("state.db")))
  }

  private func host(_ store: FaultyStore) -> AgentHost {
    AgentHost(
      "one", sharing: store, clock: clock, date: Date(timeIntervalSince1970: 1000))
  }

  /// Work that goes on until it is canceled.
  private let idle: AgentHost.Carry = { _ throws(AppError) in
    await Latch().wait()
    throw .cancelled
  }

  /// Runs a host beside `body`, which has to end it.
  private func running(
    _ host: AgentHost, _ carry: AgentHost.Carry? = nil, _ body: () async throws -> Void
  ) async throws {
    let run = Task { [idle] in try await host.run(carry ?? idle) }
    do {
      try await body()
    } catch {
      host.requestShutDown()
      try? await untilOver(run)
      throw error
    }
    host.requestShutDown()
    try await run.value
  }

  /// Moves the clock until a run is over: what waits for a time has it.
  private func untilOver(_ run: Task<Void, any Error>) async throws {
    let moving = Task { [clock] in
      while !Task.isCancelled {
        clock.advance(by: .milliseconds(50))
        try await ContinuousClock().sleep(for: .milliseconds(1))
      }
    }
    defer { moving.cancel() }
    try await run.value
  }

  /// Waits until the host's loops wait for the clock: to renew, to look at the time, to look for
  /// agents, to look for answers.
  private func loopsWait() async { await clock.sleepers(atLeast: 4) }

  /// Moves the clock until `condition` holds.
  private func moving(until condition: () async throws -> Bool) async throws {
    try await eventually {
      if try await condition() { return true }
      clock.advance(by: .milliseconds(20))
      return false
    }
  }

  @Test func aHostWhoseRunHasNotBegunIsNotReady() async throws {
    let store = try await store()
    let host = host(store)
    #expect(await host.health == .degraded(.notRunning))
    let snapshot = await host.snapshot()
    #expect(snapshot.agents.isEmpty && snapshot.storeProblem == nil && !snapshot.isShuttingDown)
    #expect(snapshot.host == host.name)
    await store.close()
  }

  @Test func workThatHasFailedIsShownWithItsErrorAndWhenItBeginsAgain() async throws {
    let store = try await store()
    let host = host(store)
    let begun = Mutex(0)
    try await running(host) { _ throws(AppError) in
      let count = begun.withLock { count in
        count += 1
        return count
      }
      if count == 1 { throw .dnsError(host: "chat") }
      await Latch().wait()
      throw .cancelled
    } _: {
      try await host.add("a", Self.session)
      try await eventually { await host.health == .degraded(.agentsPause(count: 1)) }
      let agent = try #require(await host.snapshot().agents.first)
      guard case .pausing(let problem, let until) = agent.work else {
        Issue.record("\(agent.work)")
        return
      }
      let error = AppError.dnsError(host: "chat")
      #expect(problem.name == "dnsError" && problem.message == error.shownMessage())
      #expect(problem.since == 1_000_000 && until == 1_000_500)
      await loopsWait()
      clock.advance(by: .milliseconds(500))
      try await eventually { await host.health == .ready }
      let again = try #require(await host.snapshot().agents.first)
      #expect(again.since == 1_000_000 && again.work == .running(since: 1_000_500))
      #expect(try await store.agents().first?.carrier?.lease.fence == again.fence)
      #expect(await host.snapshot().counts.failures == 1)
    }
    #expect(await host.health == .stopping)
    await store.close()
  }

  @Test func anAgentWhoseMachineIsNotReachedWaits() async throws {
    let store = try await store()
    let host = host(store)
    let isThere = Latch()
    try await running(host) { agent throws(AppError) in
      try await agent.opening(to: "test") { () async throws(AppError) in await isThere.wait() }
      await Latch().wait()
      throw .cancelled
    } _: {
      try await host.add("a", Self.session)
      try await eventually {
        await host.snapshot().agents.first?.work == .waiting(machine: "test", since: 1_000_000)
      }
      #expect(await host.health == .ready)
      // A reader of snapshots has it, though nothing else changes.
      let isTold = Mutex(false)
      let reader = Task {
        for await snapshot in host.snapshots()
        where snapshot.health == .degraded(.agentsWait(count: 1)) {
          isTold.withLock { $0 = true }
        }
      }
      try await moving { isTold.withLock { $0 } }
      isThere.open()
      try await eventually { await host.health == .ready }
      #expect(await host.snapshot().agents.first?.work == .running(since: 1_000_000))
      reader.cancel()
    }
    await store.close()
  }

  @Test func aStoreThatFailsIsTheHostsProblemUntilItAnswersAgain() async throws {
    let store = try await store()
    let host = host(store)
    try await running(host) {
      try await eventually { await host.health == .ready }
      store.become(.fails(Self.outage))
      try await moving { await host.health == .degraded(.storeFails) }
      let problem = try #require(await host.snapshot().storeProblem)
      #expect(problem.name == "storeUnusable" && problem.end == nil)
      store.become(.good)
      try await moving { await host.health == .ready }
      let after = try #require(await host.snapshot().storeProblem)
      #expect(after.since == problem.since && (after.end ?? 0) >= problem.since)
    }
    await store.close()
  }

  @Test func aStoreThatDoesNotAnswerIsNoticedAndItsAgentsAreLost() async throws {
    let store = try await store()
    let host = host(store)
    try await running(host) {
      try await host.add("a", Self.session)
      try await eventually { await host.health == .ready }
      store.become(.silent)
      try await moving {
        if case .degraded(.storeSilent) = await host.health { true } else { false }
      }
      try await moving { await host.snapshot().agents.isEmpty }
      #expect(await host.snapshot().counts.losses == 1)
      store.become(.good)
      try await moving { await host.health == .ready }
      try await moving { await host.carried == ["a"] }
      // It was its own.
      #expect(await host.snapshot().counts.takeovers == 0)
    }
    await store.close()
  }

  @Test func anAgentOfAHostThatDiedIsCountedAsTakenOver() async throws {
    let store = try await store()
    let dead = try await store.acquire("a", for: "dead", lasting: .zero)
    try await store.write([Self.session], under: dead)
    let host = host(store)
    try await running(host) {
      try await eventually { await host.carried == ["a"] }
      #expect(await host.snapshot().counts.takeovers == 1)
    }
    await store.close()
  }

  /// It has nine of ten: nine tenths of the time are for hosts with fewer.
  @Test func aHostWithManyAgentsWaitsForItsTurnAtOneWithoutAHost() async throws {
    let store = try await store()
    let orphan = try await store.acquire("orphan", for: "dead", lasting: .zero)
    try await store.write([Self.session], under: orphan)
    let host = host(store)
    for number in 0..<9 { try await host.add("\(number)", Self.session) }
    try await running(host) {
      // It has looked once.
      await loopsWait()
      #expect(store.requested.contains(.agents))
      #expect(await host.carried.count == 9)
      clock.advance(by: .milliseconds(225))
      try await eventually { await host.carried.count == 10 }
      #expect(await host.snapshot().counts.takeovers == 1)
    }
    await store.close()
  }

  /// Its lease is renewed until it has ended, and no other host has the agent meanwhile.
  @Test func workThatTakesItsTimeToEndIsWaitedFor() async throws {
    let store = try await store()
    let host = host(store)
    let begun = Latch()
    let mayEnd = Latch()
    let run = Task {
      try await host.run { _ throws(AppError) in
        begun.open()
        let ending = Task { await mayEnd.wait() }
        await ending.value
        throw .cancelled
      }
    }
    try await host.add("a", Self.session)
    await begun.wait()
    host.requestShutDown()
    try await eventually { await host.health == .stopping }
    #expect(await host.snapshot().isShuttingDown)
    #expect(await host.snapshot().agents.map(\.work) == [.ending(since: 1_000_000)])
    await loopsWait()
    clock.advance(by: .milliseconds(300))
    try await eventually { store.requested.contains { $0.isRenewal } }
    mayEnd.open()
    try await run.value
    #expect(await host.snapshot().agents.isEmpty)
    #expect(try await store.agents().map(\.carrier) == [nil])
    await store.close()
  }

  @Test func aShutDownThatComesBeforeTheRunGivesUpWhatWasAdded() async throws {
    let store = try await store()
    let host = host(store)
    try await host.add("a", Self.session)
    host.requestShutDown()
    try await host.run(idle)
    #expect(await host.snapshot().agents.isEmpty)
    #expect(try await store.agents().map(\.carrier) == [nil])
    await store.close()
  }

  @Test func aShutDownInARenewalGivesTheAgentUp() async throws {
    let store = try await store()
    let host = host(store)
    async let run: Void = host.run(idle)
    try await host.add("a", Self.session)
    try await eventually { await host.carried == ["a"] }
    await loopsWait()
    store.become(.silent)
    clock.advance(by: .milliseconds(300))
    try await eventually { store.requested.contains { $0.isRenewal } }
    host.requestShutDown()
    try await eventually { store.requested.contains { $0.isRelease } }
    store.become(.good)
    try await run
    #expect(try await store.agents().map(\.carrier) == [nil])
    await store.close()
  }

  /// A lease that could not be given up ends by itself, and is not waited for longer than that.
  @Test func aShutDownWaitsForAStoreThatIsDownNoLongerThanALeaseLasts() async throws {
    let store = try await store()
    let host = host(store)
    let run = Task {
      try await host.run { agent throws(AppError) in
        if agent.name == "paused" { throw .agentBusy }
        await Latch().wait()
        throw .cancelled
      }
    }
    try await host.add("a", Self.session)
    try await host.add("paused", Self.session)
    try await eventually { await host.snapshot().health == .degraded(.agentsPause(count: 1)) }
    store.become(.silent)
    host.requestShutDown()
    try await eventually { store.requested.count { $0.isRelease } == 2 }
    try await untilOver(run)
    store.become(.good)
    #expect(try await store.agents().allSatisfy { $0.carrier != nil })
    await store.close()
  }

  @Test func snapshotsFollowWhatHappensAndEndWithTheRun() async throws {
    let store = try await store()
    let host = host(store)
    let seen = Task {
      var seen: [AgentHostSnapshot] = []
      for await snapshot in host.snapshots() { seen.append(snapshot) }
      return seen
    }
    try await running(host) {
      try await host.add("a", Self.session)
      try await eventually { await host.carried == ["a"] }
    }
    let snapshots = await seen.value
    #expect(snapshots.last?.health == .stopping && snapshots.last?.agents.isEmpty == true)
    #expect(zip(snapshots, snapshots.dropFirst()).allSatisfy { $0 != $1 })
    let last = try #require(snapshots.last)
    let data = try JSONEncoder().encode(snapshots)
    #expect(try JSONDecoder().decode([AgentHostSnapshot].self, from: data).last == last)
    await store.close()
  }
}

extension StoreRequest {
  fileprivate var isRenewal: Bool { if case .renew = self { true } else { false } }
  fileprivate var isRelease: Bool { if case .release = self { true } else { false } }
}
