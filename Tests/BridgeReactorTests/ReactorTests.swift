import BridgeReactor
import BridgeTestKit
import BridgeTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReactorTests {
  @Test func pinnedActorsRunOnTheLoop() async {
    await withReactor { reactor in
      #expect(await Pinned(reactor).isOnLoop())
      #expect(!reactor.isCurrent)
    }
  }

  @Test func aTaskThatPrefersTheLoopStaysThere() async {
    await withReactor { reactor in
      let actor = Pinned(reactor)
      await withTaskExecutorPreference(reactor) {
        #expect(reactor.isCurrent)
        await actor.append(1)
        #expect(reactor.isCurrent)
      }
      #expect(!reactor.isCurrent)
    }
  }

  @Test func oneLoopIsNotTheOther() async {
    await withReactor { first in
      await withReactor { second in
        let isOnFirst = await Pinned(second).run { _ in first.isCurrent }
        #expect(!isOnFirst)
        #expect(!second.isCurrent)
      }
    }
  }

  @Test func tenThousandJobsOfEightSendersRunInTheOrderOfEach() async {
    await withReactor { reactor in
      let actors = (0..<8).map { _ in Pinned(reactor) }
      await withTaskGroup(of: Void.self) { group in
        for actor in actors {
          group.addTask { for value in 0..<1250 { await actor.append(value) } }
        }
      }
      for actor in actors { #expect(await actor.seen == Array(0..<1250)) }
    }
  }

  @Test func callsOfEightThreadsRunInTheOrderOfEach() async {
    await withReactor { reactor in
      let actors = (0..<8).map { _ in Pinned(reactor) }
      await onThreads(8) { sender in
        let actor = actors[sender]
        for value in 0..<1250 {
          reactor.execute { actor.assumeIsolated { $0.append(value) } }
        }
      }
      for actor in actors { #expect(await actor.seen == Array(0..<1250)) }
    }
  }

  @Test func callsMadeOnTheLoopRunInALaterTurnInTheirOrder() async throws {
    try await withReactor { reactor in
      let actor = Pinned(reactor)
      await actor.run { actor in
        for value in 0..<5000 {
          reactor.execute { actor.assumeIsolated { $0.append(value) } }
        }
        #expect(actor.seen.isEmpty)
      }
      try await eventually { await actor.seen.count == 5000 }
      #expect(await actor.seen == Array(0..<5000))
    }
  }

  @Test func workThatQueuesItselfForEverDoesNotKeepTheLoopFromDescriptorsAndTimers() async throws {
    try await withReactor { reactor in
      let pair = try SocketPair()
      let actor = Pinned(reactor)
      let events = Log<String>()
      try await actor.watch(pair.near.descriptor, for: .readable) { actor, _ in
        events.append("readable")
        actor.rewatch(for: [])
      }
      await actor.after(.milliseconds(1)) { events.append("timer") }
      @Sendable func again() {
        if events.all.count < 2 { reactor.execute { again() } }
      }
      again()
      pair.far.write([1])
      try await eventually { events.all.count == 2 }
      await actor.close()
    }
  }

  @Test func theEndOfATurnComesAfterItsWorkAndBeforeWhatItCallsForLater() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      reactor.execute {
        reactor.atEndOfTurn {
          log.append("end")
          reactor.atEndOfTurn { log.append("next end") }
        }
        reactor.execute { log.append("later") }
        log.append("now")
      }
      try await eventually { log.all.count == 4 }
      #expect(log.all == ["now", "end", "later", "next end"])
    }
  }

  /// Else each step of a task would cost a look at I/O.
  @Test func aTaskThatGoesFromFunctionToFunctionDoesSoInOneTurn() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      await withTaskExecutorPreference(reactor) {
        let actor = Pinned(reactor)
        await actor.run { _ in reactor.atEndOfTurn { log.append("end") } }
        for _ in 0..<5 { await hop() }
        log.append("hopped")
      }
      try await eventually { log.all.count == 2 }
      #expect(log.all == ["hopped", "end"])
    }
  }

  /// What is queued behind a task that runs comes after it: it makes no new job of each call.
  @Test func aTaskThatPrefersTheLoopIsNotQueuedAnewForEachCall() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      await withTaskExecutorPreference(reactor) {
        await hop()
        reactor.execute { log.append("later") }
        for _ in 0..<5 { await hop() }
        log.append("hopped")
      }
      try await eventually { log.all.count == 2 }
      #expect(log.all == ["hopped", "later"])
    }
  }

  @Test func theLoopGoesOnWhileAHelperThreadBlocks() async {
    await withReactor { reactor in
      let gate = Gate()
      async let isOnLoop = reactor.onHelperThread {
        gate.wait()
        return reactor.isCurrent
      }
      // Without a turn of the loop meanwhile the helper would wait forever.
      reactor.execute { gate.open() }
      #expect(await !isOnLoop)
    }
  }

  @Test func anIsolatedDeinitRunsOnTheLoop() async throws {
    try await withReactor { reactor in
      let wasOnLoop = Log<Bool>()
      var actor: Departing? = Departing(reactor) { wasOnLoop.append(reactor.isCurrent) }
      await actor?.touch()
      actor = nil
      try await eventually { !wasOnLoop.all.isEmpty }
      #expect(wasOnLoop.all == [true])
    }
  }

  @Test func stoppingRunsWhatIsQueuedAndWhatThatQueues() async {
    let reactor = Reactor()
    let log = Log<Int>()
    for value in 0..<3000 {
      reactor.execute {
        log.append(value)
        reactor.execute { log.append(value) }
      }
    }
    await reactor.stop()
    #expect(log.all.count == 6000)
  }

  @Test func stoppingWaitsForATimerAndForWhatItQueues() async {
    let reactor = Reactor()
    let log = Log<String>()
    let actor = Pinned(reactor)
    await actor.after(.milliseconds(20)) {
      log.append("fired")
      reactor.execute { log.append("queued") }
    }
    await reactor.stop()
    #expect(log.all == ["fired", "queued"])
  }

  @Test func aHandleThatIsStillActiveCanBeClosedAfterTheLoopWasToldToStop() async {
    let reactor = Reactor()
    let actor = Pinned(reactor)
    await actor.after(.seconds(3600)) {}
    async let stopped: Void = reactor.stop()
    await Task.yield()
    await actor.close()
    await stopped
  }

  @Test func stoppingTwiceAtOnceAndOnceMoreEndsEachTime() async {
    let reactor = Reactor()
    async let first: Void = reactor.stop()
    async let second: Void = reactor.stop()
    _ = await (first, second)
    await reactor.stop()
  }

  @Test func workAfterTheEndIsLetGo() async {
    let reactor = Reactor()
    await reactor.stop()
    weak var held: Pinned?
    do {
      let actor = Pinned(reactor)
      held = actor
      reactor.execute { actor.assumeIsolated { $0.append(1) } }
    }
    #expect(held == nil)
  }

  @Test func aReactorIsFreedAfterItsEnd() async throws {
    weak var freed: Reactor?
    do {
      let reactor = Reactor()
      freed = reactor
      await Pinned(reactor).append(1)
      await reactor.stop()
    }
    try await eventually { freed == nil }
  }
}

private actor Departing {
  private let reactor: Reactor
  private let departed: @Sendable () -> Void

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  init(_ reactor: Reactor, departed: @escaping @Sendable () -> Void) {
    self.reactor = reactor
    self.departed = departed
  }

  func touch() {}

  isolated deinit { departed() }
}

/// Leaves its caller's isolation.
@concurrent private func hop() async {}
