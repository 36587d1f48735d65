import BridgeErrors
import BridgeStore
import Testing

/// A time that no test waits for.
let forLong = Duration.seconds(3600)

@Suite("Each agent is carried by exactly one host", .timeLimit(.minutes(2))) struct LeaseTests {
  private let greeting = StoreChange.send(OutboxMessage(id: "1", text: "hello"))

  @Test(arguments: StoreKind.allCases)
  func anotherHostIsRefusedWhileALeaseIsGood(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let lease = try await first.acquire("agent", for: "a", lasting: forLong)
      await #expect(throws: AppError.agentTakenOver(agent: "agent", by: "a")) {
        try await second.acquire("agent", for: "b", lasting: forLong)
      }
      try await first.write([greeting], under: lease)
      #expect(try await second.state(of: "agent").outbox.map(\.text) == ["hello"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func anExpiredLeaseIsTakenAtOnceAndItsHostWritesNoMore(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let frozen = try await first.acquire("agent", for: "a", lasting: .zero)
      // None has taken it yet: the write harms no other host.
      try await first.write([greeting], under: frozen)
      let lease = try await second.acquire("agent", for: "b", lasting: forLong)
      #expect(lease.fence > frozen.fence)
      await #expect(throws: AppError.agentTakenOver(agent: "agent", by: "b")) {
        try await first.write([.delivered(id: "1")], under: frozen)
      }
      #expect(try await first.renew([frozen], lasting: forLong) == [])
      try await first.release(frozen)
      #expect(try await second.state(of: "agent").outbox.count == 1)
      try await second.write([.delivered(id: "1")], under: lease)
      #expect(try await second.state(of: "agent").outbox.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aRenewedLeaseIsGoodAgain(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let names = ["one", "two", "three"]
      var leases: [AgentLease] = []
      for name in names {
        leases.append(try await first.acquire(name, for: "a", lasting: .zero))
      }
      _ = try await second.acquire("two", for: "b", lasting: .zero)
      #expect(try await first.renew(leases, lasting: forLong).map(\.agent) == ["one", "three"])
      for name in ["one", "three"] {
        await #expect(throws: AppError.agentTakenOver(agent: name, by: "a")) {
          try await second.acquire(name, for: "b", lasting: forLong)
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aReleasedAgentIsFreeAndItsOldLeaseIsNone(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let old = try await first.acquire("agent", for: "a", lasting: forLong)
      try await first.write([greeting], under: old)
      try await first.release(old)
      await #expect(throws: AppError.agentTakenOver(agent: "agent", by: "")) {
        try await first.write([.delivered(id: "1")], under: old)
      }
      let lease = try await second.acquire("agent", for: "b", lasting: forLong)
      #expect(lease.fence > old.fence)
      #expect(try await first.state(of: "agent").outbox.count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aHostThatComesAgainEndsItsOlderLease(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let old = try await first.acquire("agent", for: "a", lasting: forLong)
      let new = try await second.acquire("agent", for: "a", lasting: forLong)
      #expect(new.fence > old.fence)
      await #expect(throws: AppError.agentTakenOver(agent: "agent", by: "a")) {
        try await first.write([greeting], under: old)
      }
      try await second.write([greeting], under: new)
    }
  }

  /// There is no record of a lease to lock then.
  @Test(arguments: StoreKind.allCases)
  func ofHostsThatRequestAFreeAgentAtOnceOneHasIt(kind: StoreKind) async throws {
    try await kind.run { first, second in
      for _ in 0..<200 {
        let leases = await withTaskGroup { group in
          for (store, host) in [(first, "a"), (second, "b")] {
            group.addTask { try? await store.acquire("agent", for: host, lasting: forLong) }
          }
          return await group.reduce(into: [AgentLease]()) { if let lease = $1 { $0.append(lease) } }
        }
        #expect(leases.count == 1)
        for lease in leases { try await first.release(lease) }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func numbersGrowAlsoWhenAnAgentWasRemoved(kind: StoreKind) async throws {
    try await kind.run { first, second in
      var last: Int64 = 0
      for round in 0..<6 {
        let store = round.isMultiple(of: 2) ? first : second
        let lease = try await store.acquire("agent", for: "h\(round)", lasting: forLong)
        #expect(lease.fence > last)
        last = lease.fence
        if round < 3 {
          try await store.write([.removeAgent], under: lease)
        } else {
          try await store.release(lease)
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func theAgentsAreListedWithTheHostsThatCarryThem(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let held = try await first.acquire("held", for: "a", lasting: forLong)
      let session = StoredSession(
        machine: "build", session: "s1", resume: StoredValue(bytes: [1, 0, 255]))
      try await first.write([.session(session)], under: held)
      let expired = try await second.acquire("expired", for: "b", lasting: .zero)
      let released = try await first.acquire("released", for: "a", lasting: forLong)
      try await first.write([.session(StoredSession(machine: "m", session: "s2"))], under: released)
      try await first.release(released)
      var agents = try await second.agents()
      #expect(agents.map(\.name) == ["expired", "held", "released"])
      #expect(agents[0].carrier == .init(lease: expired, remaining: .zero))
      #expect(agents[0].session == nil)
      let remaining = try #require(agents[1].carrier).remaining
      #expect(remaining > .zero && remaining <= forLong)
      agents[1].carrier?.remaining = forLong
      #expect(agents[1].carrier == .init(lease: held, remaining: forLong))
      #expect(agents[1].session == session)
      #expect(agents[2].carrier == nil && agents[2].session?.machine == "m")
    }
  }

  /// Hosts that take an agent from each other while both write: what is kept was written by the
  /// newest at each moment, so the numbers in the order of the messages never fall.
  @Test(arguments: StoreKind.allCases)
  func hostsThatTakeOverFromEachOtherNeverWriteAtOnce(kind: StoreKind) async throws {
    try await kind.run { first, second in
      await withTaskGroup { group in
        for host in 0..<4 {
          let store = host.isMultiple(of: 2) ? first : second
          group.addTask {
            for round in 0..<25 {
              guard
                let lease = try? await store.acquire("agent", for: "\(host)", lasting: .zero)
              else { continue }
              for part in 0..<3 {
                let message = OutboxMessage(id: "\(host)-\(round)-\(part)", text: "\(lease.fence)")
                try? await store.write([.send(message)], under: lease)
              }
            }
          }
        }
      }
      let fences = try await first.state(of: "agent").outbox.compactMap { Int64($0.text) }
      #expect(fences == fences.sorted())
      #expect(Set(fences).count > 20)
    }
  }
}
