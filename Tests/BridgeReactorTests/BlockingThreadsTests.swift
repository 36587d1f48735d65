import BridgeReactor
import BridgeTestKit
import BridgeTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct BlockingThreadsTests {
  @Test func asManyRunAtOnceAsTheLimitSaysAndTheOthersWait() async throws {
    let threads = BlockingThreads(name: "threads-test", limit: 3)
    let gate = Gate()
    let begun = Log<Int>()
    for number in 0..<5 {
      threads.start {
        begun.append(number)
        gate.wait()
        gate.open()
      }
    }
    try await eventually { begun.all.count == 3 }
    #expect(threads.load == (3, 2))
    gate.open()
    try await eventually { threads.load == (0, 0) }
    #expect(Set(begun.all) == Set(0..<5))
  }

  @Test func canceledWorkThatWaitsIsNeverRun() async throws {
    let threads = BlockingThreads(name: "threads-test", limit: 1)
    let gate = Gate()
    threads.start { gate.wait() }
    try await eventually { threads.load == (1, 0) }
    let waiting = Task { await threads.run { Issue.record("It ran.") } != nil }
    try await eventually { threads.load == (1, 1) }
    waiting.cancel()
    #expect(await !waiting.value)
    #expect(threads.load == (1, 0))
    gate.open()
    try await eventually { threads.load == (0, 0) }
  }

  @Test func threadsOfOneKindDoNotWaitForAnother() async {
    let (blocked, free) = (
      BlockingThreads(name: "threads-test", limit: 1),
      BlockingThreads(name: "threads-test", limit: 1)
    )
    let gate = Gate()
    blocked.start { gate.wait() }
    #expect(await free.run { 7 } == 7)
    gate.open()
  }

  /// What was called on another thread is answered on the loop, so the loop must still be there.
  @Test func aReactorEndsAfterTheCallsItWaitsFor() async {
    let reactor = Reactor()
    let gate = Gate()
    let log = Log<String>()
    await withCheckedContinuation { (started: CheckedContinuation<Void, Never>) in
      reactor.execute {
        reactor.help {
          started.resume()
          gate.wait()
        } then: {
          log.append("answered")
        }
      }
    }
    let stopping = Task {
      await reactor.stop()
      log.append("stopped")
    }
    gate.open()
    await stopping.value
    #expect(log.all == ["answered", "stopped"])
  }
}
