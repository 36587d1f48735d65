import BridgeTestKit
import Testing

@Suite struct ManualClockTests {
  private let clock = ManualClock()

  @Test func sleepersWakeInOrderOfTheirDeadlines() async throws {
    let woken = EventRecorder<Int>()
    let executor = SeededExecutor(seed: 1)
    for seconds in [3, 1, 2] {
      Task(executorPreference: executor) {
        try await clock.sleep(until: clock.start + .seconds(seconds))
        woken.record(seconds)
      }
    }
    #expect(executor.run(moving: clock) { woken.events.count == 3 } == .done)
    #expect(woken.events == [1, 2, 3])
    #expect(clock.elapsed == .seconds(3))
  }

  @Test func aPastDeadlineIsReachedAtOnce() async throws {
    clock.advance(by: .seconds(5))
    try await clock.sleep(until: clock.start + .seconds(5))
    #expect(clock.sleeperCount == 0)
  }

  @Test func cancellationEndsASleepWithoutTheClockMoving() async {
    let sleeper = Task { try await clock.sleep(until: clock.now + .seconds(1)) }
    await clock.sleepers(atLeast: 1)
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(clock.sleeperCount == 0)
    #expect(clock.elapsed == .zero)
  }

  @Test func aTaskCancelledBeforeItSleepsDoesNotSleep() async {
    let isCancelled = await withTaskGroup(of: Bool.self) { group in
      group.cancelAll()
      group.addTask {
        do {
          try await clock.sleep(until: clock.now + .seconds(1))
          return false
        } catch {
          return true
        }
      }
      return await group.next()
    }
    #expect(isCancelled == true)
    #expect(clock.sleeperCount == 0)
  }

  @Test func itNeverGoesBack() {
    clock.advance(by: .seconds(5))
    clock.advance(to: clock.start)
    #expect(clock.elapsed == .seconds(5))
  }
}
