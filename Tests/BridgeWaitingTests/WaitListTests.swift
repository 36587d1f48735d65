import BridgeTestKit
import BridgeWaiting
import Testing

/// Register, cancel, answer: each caller is answered exactly once, whatever comes first.
@Suite struct WaitListTests {
  private struct State {
    var callers = WaitList<Int?>()
    var value: Int?
  }

  private final class Box: Sendable {
    let state = Mutex(State())

    func wait() async -> Int? {
      await state.wait(in: \.callers, canceled: nil) { state in
        state.value.map { Optional.some($0) }
      }
    }

    func answer(_ value: Int) {
      let callers = state.withLock { state in
        state.value = value
        return state.callers.takeAll()
      }
      for caller in callers { caller.resume(returning: value) }
    }

    func waiting(_ count: Int) async throws {
      try await eventually { state.withLock { $0.callers.count } == count }
    }
  }

  @Test func anAnswerThatIsThereIsGivenAtOnce() async throws {
    let box = Box()
    box.answer(1)
    #expect(await box.wait() == 1)
    #expect(box.state.withLock { $0.callers.count } == 0)
  }

  @Test func allCallersAreAnsweredByOneAnswer() async throws {
    let box = Box()
    let callers = (0..<3).map { _ in Task { await box.wait() } }
    try await box.waiting(3)
    box.answer(7)
    for caller in callers { #expect(await caller.value == 7) }
    #expect(box.state.withLock { $0.callers.count } == 0)
  }

  @Test func theFirstCallerIsTheOneThatHasWaitedLongest() async throws {
    let box = Box()
    let first = Task { await box.wait() }
    try await box.waiting(1)
    let second = Task { await box.wait() }
    try await box.waiting(2)
    box.state.withLock { $0.callers.takeFirst() }?.resume(returning: 1)
    #expect(await first.value == 1)
    box.state.withLock { $0.callers.takeFirst() }?.resume(returning: 2)
    #expect(await second.value == 2)
    #expect(box.state.withLock { $0.callers.takeFirst() } == nil)
  }

  @Test func aCanceledCallerIsAnsweredAndTakenOut() async throws {
    let box = Box()
    let caller = Task { await box.wait() }
    try await box.waiting(1)
    caller.cancel()
    #expect(await caller.value == nil)
    #expect(box.state.withLock { $0.callers.count } == 0)
    box.answer(1)
  }

  @Test func aCallerThatIsCanceledBeforeItWaitsDoesNotWait() async throws {
    let box = Box()
    let caller = Task {
      while !Task.isCancelled { await Task.yield() }
      return await box.wait()
    }
    caller.cancel()
    #expect(await caller.value == nil)
    #expect(box.state.withLock { $0.callers.count } == 0)
  }

  /// Cancellation and answer race from two threads: a caller that is answered twice traps, one that
  /// is never answered hangs.
  @Test func cancellationAndAnswerMayRace() async throws {
    for round in 0..<2_000 {
      let box = Box()
      let caller = Task { await box.wait() }
      let canceling = Task { caller.cancel() }
      box.answer(round)
      let result = await caller.value
      #expect(result == nil || result == round)
      await canceling.value
      #expect(box.state.withLock { $0.callers.count } == 0)
    }
  }
}
