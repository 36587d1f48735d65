import BridgeTestKit
import BridgeTransport
import Testing

@Suite struct SeededExecutorTests {
  private actor Counter {
    let executor: any PinnedExecutor
    private(set) var trace: [Int] = []
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.serialExecutor }
    init(_ executor: any PinnedExecutor) { self.executor = executor }
    func add(_ value: Int) { trace.append(value) }
  }

  /// Three tasks take turns on one actor; the trace is the order a seed chose.
  private func trace(seed: UInt64) -> [Int] {
    let executor = SeededExecutor(seed: seed)
    let clock = ManualClock()
    let counter = Counter(executor.makeSerialExecutor())
    let finished = EventRecorder<[Int]>()
    Task(executorPreference: executor) {
      await withDiscardingTaskGroup { group in
        for worker in 0..<3 {
          group.addTask {
            for step in 0..<5 {
              await counter.add(worker * 10 + step)
              try? await clock.sleep(until: clock.now + .milliseconds(1))
            }
          }
        }
      }
      finished.record(await counter.trace)
    }
    #expect(executor.run(moving: clock) { !finished.events.isEmpty } == .done)
    return finished.events.first ?? []
  }

  @Test(arguments: UInt64(0)..<20)
  func theSameSeedGivesTheSameRun(seed: UInt64) {
    #expect(trace(seed: seed) == trace(seed: seed))
    #expect(trace(seed: seed).count == 15)
  }

  @Test func otherSeedsGiveOtherRuns() {
    #expect(Set((0..<40).map { trace(seed: $0) }).count > 20)
  }

  @Test func aTaskThatWaitsForNothingIsStuck() {
    let executor = SeededExecutor(seed: 1)
    let waiting = EventRecorder<CheckedContinuation<Void, Never>>()
    Task(executorPreference: executor) {
      await withCheckedContinuation { waiting.record($0) }
    }
    #expect(executor.run(moving: ManualClock()) { false } == .stuck)
    for continuation in waiting.events { continuation.resume() }
    #expect(executor.drain() == .done)
    #expect(executor.backlog == 0)
  }
}
