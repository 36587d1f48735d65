import BridgeErrors
import BridgeRecovery
import BridgeStore
import BridgeTestKit
import BridgeWaiting
import Testing

@Suite("A store keeps what it has reported", .timeLimit(.minutes(2))) struct StoreTests {
  private static let value = StoredValue(bytes: [0, 1, 255])

  @Test(arguments: StoreKind.allCases)
  func aWriteIsMadeAsAWhole(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let lease = try await first.acquire("agent", for: "a", lasting: forLong)
      let approval = StoredApproval(id: "p", state: "pending", record: Self.value)
      try await first.write(
        [
          .session(StoredSession(machine: "build", session: "s")), .resume(Self.value),
          .commit(effect: "chat", point: Self.value), .send(OutboxMessage(id: "1", text: "one")),
          .send(OutboxMessage(id: "2", text: "two")), .approval(approval),
        ], under: lease)
      var state = AgentState(
        session: StoredSession(machine: "build", session: "s", resume: Self.value),
        commits: ["chat": Self.value],
        outbox: [OutboxMessage(id: "1", text: "one"), OutboxMessage(id: "2", text: "two")],
        approvals: [approval])
      #expect(try await second.state(of: "agent") == state)
      try await first.write([.delivered(id: "1"), .removeApproval(id: "p")], under: lease)
      (state.outbox, state.approvals) = ([OutboxMessage(id: "2", text: "two")], [])
      #expect(try await second.state(of: "agent") == state)
      try await first.write([.removeAgent], under: lease)
      #expect(try await second.state(of: "agent") == AgentState())
      #expect(try await second.agents() == [])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func anAgentThatIsClosedIsKept(kind: StoreKind) async throws {
    try await kind.run { first, second in
      for (name, changes) in [
        ("a", []), ("b", [.session(StoredSession(machine: "build", session: "s"))]),
      ] as [(String, [StoreChange])] {
        let lease = try await first.acquire(name, for: "a", lasting: forLong)
        try await first.write(
          changes + [.commit(effect: "end", point: Self.value), .close], under: lease)
        let state = try await second.state(of: name)
        #expect(state.isClosed && state.commits == ["end": Self.value])
        await #expect(throws: AppError.agentTakenOver(agent: name, by: "")) {
          try await first.write([.close], under: lease)
        }
      }
      let open = try await first.acquire("c", for: "a", lasting: forLong)
      let agents = try await second.agents()
      #expect(agents.map(\.name) == ["a", "b", "c"])
      #expect(agents.map(\.isClosed) == [true, true, false])
      #expect(agents.map { $0.carrier?.lease } == [nil, nil, open])
      #expect(agents[1].session?.machine == "build")
      let last = try await second.acquire("b", for: "b", lasting: forLong)
      try await second.write([.removeAgent], under: last)
      #expect(try await first.agents().map(\.name) == ["a", "c"])
      #expect(try await first.state(of: "b") == AgentState())
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aMessageWithOneIdIsKeptOnce(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let lease = try await first.acquire("agent", for: "a", lasting: forLong)
      for text in ["first", "again"] {
        try await first.write([.send(OutboxMessage(id: "1", text: text))], under: lease)
      }
      // Another agent's message may have the same id.
      let other = try await second.acquire("other", for: "a", lasting: forLong)
      try await second.write([.send(OutboxMessage(id: "1", text: "other"))], under: other)
      #expect(try await first.state(of: "agent").outbox.map(\.text) == ["first"])
      #expect(try await first.state(of: "other").outbox.map(\.text) == ["other"])
    }
  }

  private static let texts = [
    "", "a\0b", "'; DROP TABLE message; --", "\\", "\"$1 ? :a\n\r\t", "ü🐘\u{10FFFF}",
    String(repeating: "long ", count: 200_000),
  ]

  @Test(arguments: StoreKind.allCases)
  func textsAndBytesComeBackAsTheyWere(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let lease = try await first.acquire("it's; \"agent\" 🐘", for: "h'\\", lasting: forLong)
      let name = "'; DELETE FROM lease; --"
      let all = StoredValue(bytes: Array(0...255))
      let messages = Self.texts.enumerated().map { OutboxMessage(id: "\($0)", text: $1) }
      try await first.write(
        messages.map { .send($0) } + [
          .session(StoredSession(machine: name, session: name, resume: StoredValue(bytes: []))),
          .commit(effect: name, point: all),
          .approval(StoredApproval(id: name, state: name, record: all)),
        ], under: lease)
      let state = try await second.state(of: lease.agent)
      #expect(state.outbox == messages)
      #expect(state.session?.resume == StoredValue(bytes: []))
      #expect(state.session?.machine == name && state.commits == [name: all])
      #expect(
        try await second.approvals(in: name) == [
          lease.agent: [StoredApproval(id: name, state: name, record: all)]
        ])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func namesAndSizesBeyondTheLimitsAreRefused(kind: StoreKind) async throws {
    try await kind.run { store, _ in
      let lease = try await store.acquire("agent", for: "a", lasting: forLong)
      let long = String(repeating: "x", count: StoreLimits.longestName + 1)
      for name in ["", "a\0b", long] {
        let refused: [StoreChange] = [
          .send(OutboxMessage(id: name, text: "")), .delivered(id: name),
          .commit(effect: name, point: Self.value), .removeApproval(id: name),
          .session(StoredSession(machine: name, session: "s")),
          .session(StoredSession(machine: "m", session: name)),
          .approval(StoredApproval(id: name, state: "s", record: Self.value)),
          .approval(StoredApproval(id: "i", state: name, record: Self.value)),
        ]
        for change in refused {
          let error = await #expect(throws: AppError.self) {
            try await store.write([change], under: lease)
          }
          #expect(error?.caseName == "validationError")
        }
        let error = await #expect(throws: AppError.self) {
          try await store.acquire(name, for: "a", lasting: forLong)
        }
        #expect(error?.caseName == "validationError")
      }
      let large = StoredValue(bytes: Array(repeating: 0, count: StoreLimits.largestWrite + 1))
      let error = await #expect(throws: AppError.self) {
        try await store.write([.resume(large)], under: lease)
      }
      #expect(error?.caseName == "validationError")
    }
  }

  /// However many people on however many hosts: the first decision is the one.
  @Test(arguments: StoreKind.allCases)
  func anApprovalIsDecidedOnce(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let lease = try await first.acquire("agent", for: "a", lasting: forLong)
      for number in 0..<10 {
        let asked = StoredApproval(id: "\(number)", state: "pending", record: Self.value)
        try await first.write([.approval(asked)], under: lease)
        let decisions = (0..<6).map { person in
          StoredApproval(
            id: asked.id, state: "decided", record: StoredValue(bytes: [UInt8(person)]))
        }
        let kept = try await withThrowingTaskGroup { group in
          for (person, decision) in decisions.enumerated() {
            let store = person.isMultiple(of: 2) ? first : second
            group.addTask { try await store.replace(decision, of: "agent", in: "pending") }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(kept).count == 1 && kept.allSatisfy { decisions.contains($0) })
        #expect(try await second.state(of: "agent").approvals.last == kept.first)
      }
      #expect(try await second.approvals(in: "pending") == [:])
      #expect(
        try await second.approvals(in: "decided")["agent"]?.map(\.id) == (0..<10).map { "\($0)" })
      await #expect(throws: AppError.self) {
        let unknown = StoredApproval(id: "none", state: "decided", record: Self.value)
        _ = try await first.replace(unknown, of: "agent", in: "pending")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func outagesAreKeptInOrderUntilTheyAreRemoved(kind: StoreKind) async throws {
    try await kind.run { first, second in
      var outages = (0..<5).map { StoredOutage(id: "o\($0)", link: "build#1", start: Int64($0)) }
      for outage in outages.reversed() { try await first.record(outage) }
      outages[3].end = 90_000
      outages[3].phases = [
        .init(name: "detect", duration: .milliseconds(1500)), .init(name: "dial", duration: .zero),
      ]
      try await second.record(outages[3])
      #expect(try await second.outages(since: 0) == outages)
      #expect(try await second.outages(since: 3) == Array(outages[3...]))
      try await first.removeOutages(before: 4)
      #expect(try await second.outages(since: .min) == [outages[4]])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func manyCallersWriteAtOnceAndEachInItsOrder(kind: StoreKind) async throws {
    try await kind.run { first, second in
      try await withThrowingTaskGroup { group in
        for caller in 0..<40 {
          let store = caller.isMultiple(of: 2) ? first : second
          group.addTask {
            let lease = try await store.acquire("\(caller)", for: "h", lasting: forLong)
            for number in 0..<25 {
              try await store.write([.send(OutboxMessage(id: "\(number)", text: ""))], under: lease)
            }
          }
        }
        try await group.waitForAll()
      }
      for caller in 0..<40 {
        #expect(try await first.state(of: "\(caller)").outbox.map(\.id) == (0..<25).map { "\($0)" })
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aRefusedWriteHindersNoOtherInItsTransaction(kind: StoreKind) async throws {
    try await kind.run { store, _ in
      let old = try await store.acquire("agent", for: "a", lasting: forLong)
      let new = try await store.acquire("agent", for: "a", lasting: forLong)
      let failures = await withTaskGroup { group in
        for number in 0..<200 {
          group.addTask {
            let message = OutboxMessage(id: "\(number)", text: "")
            let lease = number.isMultiple(of: 2) ? old : new
            return (try? await store.write([.send(message)], under: lease)) == nil ? 1 : 0
          }
        }
        return await group.reduce(0, +)
      }
      #expect(failures == 100)
      let ids = try await store.state(of: "agent").outbox.compactMap { Int($0.id) }
      #expect(ids.count == 100 && ids.allSatisfy { !$0.isMultiple(of: 2) })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aChangeOfAnotherHostIsReported(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let lease = try await first.acquire("agent", for: "a", lasting: forLong)
      for number in 0..<3 {
        var changes = second.changes().makeAsyncIterator()
        await changes.next()
        let message = OutboxMessage(id: "\(number)", text: "")
        async let write: Void = first.write([.send(message)], under: lease)
        while try await second.state(of: "agent").outbox.count <= number { await changes.next() }
        try await write
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aClosedStoreTakesNothingAndEndsItsStreams(kind: StoreKind) async throws {
    try await kind.run { first, second in
      let lease = try await first.acquire("agent", for: "a", lasting: forLong)
      let changes = first.changes()
      async let written: Void = first.write([.resume(Self.value)], under: lease)
      for await _ in first.changes() { break }
      await first.close()
      for await _ in changes {}
      try? await written
      await #expect(throws: AppError.cancelled) {
        try await first.write([.resume(Self.value)], under: lease)
      }
      await first.close()
      for await _ in first.changes() {}
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aCanceledCallReturnsAndItsWriteIsMade(kind: StoreKind) async throws {
    try await kind.run { store, _ in
      let lease = try await store.acquire("agent", for: "a", lasting: forLong)
      let calls = (0..<50).map { number in
        Task {
          try await store.write([.send(OutboxMessage(id: "\(number)", text: ""))], under: lease)
        }
      }
      for call in calls { call.cancel() }
      for call in calls { _ = await call.result }
      try await eventually { try await store.state(of: "agent").outbox.count == 50 }
    }
  }

  @Test(arguments: StoreKind.allCases, [1, 2, 3] as [UInt64])
  func randomHistoriesEndAsTheModelSays(kind: StoreKind, seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    try await kind.run { first, second in
      var model = StoreModel()
      var leases: [AgentLease] = []
      for step in 0..<300 {
        let store = Bool.random(using: &generator) ? first : second
        let agent = "agent\(Int.random(in: 0..<3, using: &generator))"
        let old = leases.randomElement(using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
          let lease = try await store.acquire(agent, for: "h\(step)", lasting: .zero)
          leases.append(lease)
          model.hold(lease)
        case 1:
          guard let old else { break }
          try await store.release(old)
          model.release(old)
        default:
          let newest = model.leases[agent] ?? old
          guard let lease = Int.random(in: 0..<4, using: &generator) == 0 ? old : newest else {
            break
          }
          let changes = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
            StoreChange.any(using: &generator)
          }
          let isMade = (try? await store.write(changes, under: lease)) != nil
          #expect(isMade == model.write(changes, lease))
        }
      }
      for agent in ["agent0", "agent1", "agent2"] {
        #expect(try await first.state(of: agent) == model.agents[agent] ?? AgentState())
      }
    }
  }
}
