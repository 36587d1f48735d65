import BridgeErrors
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResolverTests {
  private static func route(_ host: String, _ reactor: Reactor, _ resolver: Resolver) -> Route {
    Route(
      Endpoint(host: host, port: 1), on: reactor, resolver: resolver,
      winners: Mutex(WinnerMemory()))
  }

  @Test func aResolverThatHangsIsLeftAtTheDeadlineAndTheLoopGoesOn() async throws {
    await withReactor { reactor in
      let names = ScriptedLookup()
      let resolver = Resolver(lookup: names.lookup)
      let log = Log<Int>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        for delay in 1...20 { actor.after(.milliseconds(delay)) { log.append(delay) } }
      }
      await #expect(throws: DialFailure(phase: .resolve, cause: .nameTimeout)) {
        try await Self.route("hangs.example", reactor, resolver).resolve(within: .milliseconds(60))
      }
      #expect(log.all.count == 20)
      #expect(resolver.load == (1, 0))
    }
  }

  @Test func oneLookupAnswersAllWhoWaitForTheHost() async throws {
    try await withReactor { reactor in
      let names = ScriptedLookup()
      let resolver = Resolver(lookup: names.lookup)
      let tasks = (0..<20).map { _ in
        Task {
          try await Self.route("one.example", reactor, resolver).resolve(within: .seconds(60))
        }
      }
      let other = Task {
        try await Self.route("other.example", reactor, resolver).resolve(within: .seconds(60))
      }
      try await eventually { resolver.load == (2, 21) && names.asked.count == 2 }
      #expect(Set(names.asked.map(\.host)) == ["one.example", "other.example"])
      #expect(names.asked.count == 2)
      for question in names.asked {
        question.answer(.success([question.host == "one.example" ? .v4(1) : .v4(2)]))
      }
      for task in tasks { let taskAnswer = try await task.value; #expect(taskAnswer == [.v4(1)]) }
      let otherAnswer = try await other.value; #expect(otherAnswer == [.v4(2)])
      #expect(resolver.load == (0, 0))
    }
  }

  @Test func oneLookupIsSharedByReactors() async throws {
    try await withReactor { first in
      try await withReactor { second in
        let names = ScriptedLookup()
        let resolver = Resolver(lookup: names.lookup)
        let tasks = [first, second].map { reactor in
          Task {
            try await Self.route("one.example", reactor, resolver).resolve(within: .seconds(60))
          }
        }
        try await eventually { resolver.load == (1, 2) && names.asked.count == 1 }
        names.asked.first?.answer(.success([.v6(1)]))
        for task in tasks { let taskAnswer = try await task.value; #expect(taskAnswer == [.v6(1)]) }
      }
    }
  }

  @Test func whoComesAfterTheDeadlineOfAnotherSharesTheLookupThatStillRuns() async throws {
    try await withReactor { reactor in
      let names = ScriptedLookup()
      let resolver = Resolver(lookup: names.lookup)
      let route = Self.route("slow.example", reactor, resolver)
      await #expect(throws: DialFailure.self) { try await route.resolve(within: .milliseconds(1)) }
      let late = Task { try await route.resolve(within: .seconds(60)) }
      try await eventually { resolver.load.waiters == 1 && names.asked.count == 1 }
      #expect(names.asked.count == 1)
      names.asked.first?.answer(.success([.v4(3)]))
      let lateAnswer = try await late.value; #expect(lateAnswer == [.v4(3)])
    }
  }

  @Test func anAnswerWithoutACallerIsDroppedAndTheNextAsksAnew() async throws {
    await withReactor { reactor in
      let names = ScriptedLookup()
      let resolver = Resolver(lookup: names.lookup)
      let route = Self.route("dropped.example", reactor, resolver)
      await #expect(throws: DialFailure.self) { try await route.resolve(within: .milliseconds(1)) }
      names.asked.first?.answer(.success([.v4(4)]))
      names.asked.first?.answer(.success([.v4(4)]))
      #expect(resolver.load == (0, 0))
      await #expect(throws: DialFailure.self) { try await route.resolve(within: .milliseconds(1)) }
      #expect(names.asked.count == 2)
    }
  }

  @Test func aFailureOfTheLookupReachesAllCallers() async throws {
    await withReactor { reactor in
      let failure = DialFailure(phase: .resolve, cause: .nameUnknown, nativeCode: -3008)
      let resolver = Resolver(lookup: Lookup { _, _, answer in answer(.failure(failure)) })
      await #expect(throws: failure) {
        try await Self.route("none.example", reactor, resolver).dial()
      }
    }
  }

  @Test(arguments: ["127.0.0.1", "::1", "2001:db8::7", "fe80::1%1", "127.1", "0x7f000001"])
  func aNumericAddressIsNotLookedUp(host: String) async throws {
    try await withReactor { reactor in
      let names = ScriptedLookup()
      let addresses = try await Self.route(host, reactor, Resolver(lookup: names.lookup))
        .resolve(within: .seconds(60))
      #expect(addresses.count == 1)
      #expect(names.asked.isEmpty)
    }
  }

  /// With many names at once some wait for a thread: that is no silence of the name server.
  @Test func theDeadlineCountsFromWhenTheLookupBegins() async throws {
    try await withReactor { reactor in
      let names = QueuedLookup()
      let resolver = Resolver(lookup: names.lookup)
      let route = Self.route("queued.example", reactor, resolver)
      let timeout = Duration.seconds(5)
      let asked = ContinuousClock.now
      let resolving = Task { try await route.resolve(within: timeout) }
      try await eventually {
        ContinuousClock.now - asked > .milliseconds(100) && !names.asked.isEmpty
      }
      let began = ContinuousClock.now
      names.asked.first?.began()
      await #expect(throws: DialFailure(phase: .resolve, cause: .nameTimeout)) {
        try await resolving.value
      }
      // The loop counts whole milliseconds.
      #expect(ContinuousClock.now - began >= timeout - .milliseconds(2))
    }
  }

  @Test func aLookupThatNeverBeginsEndsAtTheDeadlineToo() async {
    await withReactor { reactor in
      let names = QueuedLookup()
      let resolver = Resolver(lookup: names.lookup)
      await #expect(throws: DialFailure(phase: .resolve, cause: .nameTimeout)) {
        try await Self.route("never.example", reactor, resolver).resolve(
          within: .milliseconds(60))
      }
      #expect(resolver.load == (1, 0))
      // Its turn comes when no caller waits any more.
      names.asked.first?.began()
    }
  }

  /// What the system's resolver is not asked, or refuses before it asks anybody.
  @Test(arguments: [
    "localhost\0.example", "\0", String(repeating: "a", count: 100_000),
    String(repeating: "a.", count: 200), "xn--", "localhost..",
  ])
  func whatIsNoNameIsUnknown(host: String) async throws {
    await withReactor { reactor in
      let error = await #expect(throws: DialFailure.self) {
        try await Dialer.resolve(Endpoint(host: host, port: 1), on: reactor)
      }
      #expect(error?.phase == .resolve)
      #expect(error?.cause == .nameUnknown)
    }
  }

  @Test func theSystemKnowsThisMachine() async throws {
    try await withReactor { reactor in
      let addresses = try await Dialer.resolve(
        Endpoint(host: "localhost", port: 1), on: reactor)
      #expect(!addresses.isEmpty)
      #expect(addresses.allSatisfy { [.loopback, .loopbackV6].contains($0) })
    }
  }
}
