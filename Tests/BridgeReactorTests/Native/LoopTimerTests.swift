import BridgeReactor
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopTimerTests {
  @Test func timersFireInTheOrderOfTheirDelays() async throws {
    try await withReactor { reactor in
      let log = Log<Int>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        for delay in [150, 50, 100] { actor.after(.milliseconds(delay)) { log.append(delay) } }
      }
      try await eventually { log.all.count == 3 }
      #expect(log.all == [50, 100, 150])
    }
  }

  @Test func timersOfOneDelayFireInTheOrderOfTheirMaking() async throws {
    try await withReactor { reactor in
      let log = Log<Int>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        for index in 0..<100 { actor.after(.milliseconds(5)) { log.append(index) } }
      }
      try await eventually { log.all.count == 100 }
      #expect(log.all == Array(0..<100))
    }
  }

  @Test func aCancelledTimerDoesNotFire() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        actor.after(.milliseconds(1)) { log.append("cancelled") }
        actor.after(.milliseconds(1)) { log.append("kept") }
        actor.cancel(0)
        actor.cancel(0)
      }
      try await eventually { !log.all.isEmpty }
      #expect(log.all == ["kept"])
    }
  }

  @Test func aTimerThatIsLetGoDoesNotFire() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        actor.after(.milliseconds(1)) { log.append("let go") }
        actor.dropTimers()
        actor.after(.milliseconds(1)) { log.append("kept") }
      }
      try await eventually { !log.all.isEmpty }
      #expect(log.all == ["kept"])
    }
  }

  /// The stop at the end waits for the timer's handle: an hour, if the last owner's thread could
  /// not close it.
  @Test func aTimerWhoseLastOwnerIsOnAnotherThreadIsClosedOnTheLoop() async {
    await withReactor { reactor in
      var actor: Pinned? = Pinned(reactor)
      await actor?.after(.seconds(3600)) {}
      #expect(!reactor.isCurrent)
      actor = nil
    }
  }

  @Test func aTimerMayCancelItselfAndMakeAnother() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      let actor = Pinned(reactor)
      await actor.after(.milliseconds(1)) {
        actor.assumeIsolated { actor in
          actor.cancel(0)
          log.append("first")
          actor.after(.milliseconds(1)) { log.append("second") }
        }
      }
      try await eventually { log.all.count == 2 }
      #expect(log.all == ["first", "second"])
    }
  }

  /// The loop's clock stands still during a turn: read before the timer is made, a delay shorter
  /// than the turn would be over at once, ahead of work that was queued before.
  @Test func aShortTimerMadeLateInALongTurnIsCountedFromThen() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(3200))
        reactor.execute { log.append("queued") }
        actor.after(.seconds(3)) { log.append("timer") }
      }
      try await eventually { log.all.count == 2 }
      #expect(log.all == ["queued", "timer"])
    }
  }

  /// A peer that answers at once has the time for many answers after a stop.
  @Test func aStopCountsAsAPartOfADeadlineOnly() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        actor.deadline(.seconds(3)) { log.append("deadline") }
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(3200))
        actor.after(.milliseconds(20)) { log.append("answer") }
      }
      try await eventually { log.all.count == 2 }
      #expect(log.all == ["answer", "deadline"])
    }
  }

  @Test func timersOfNoDelayThatMakeEachOtherLetWorkThrough() async {
    await withReactor { reactor in
      let done = Log<Void>()
      let actor = Pinned(reactor)
      @Sendable func again() {
        actor.assumeIsolated { actor in
          actor.dropTimers()
          if done.all.isEmpty { actor.after(.zero) { again() } }
        }
      }
      await actor.after(.zero) { again() }
      await actor.append(1)
      done.append(())
    }
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(-5), .seconds(Int64.max / 1000)])
  func aDelayBeyondAllMeasureDoesNoHarm(delay: Duration) async {
    await withReactor { reactor in
      let actor = Pinned(reactor)
      await actor.after(delay) {}
      await actor.deadline(delay) {}
      await actor.close()
    }
  }
}
