import BridgeErrors
import BridgeWaiting
import Testing

@Suite struct ChangesTests {
  private actor Counter {
    let changes = Changes()
    private(set) var count = 0

    func add() {
      count += 1
      changes.announce()
    }

    func reach(_ goal: Int) async throws(AppError) {
      while count < goal { try await changes.wait(after: changes.version) }
    }
  }

  @Test func noChangeIsMissed() async throws {
    let counter = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for goal in 1...20 { group.addTask { try await counter.reach(goal * 50) } }
      for _ in 0..<10 { group.addTask { for _ in 0..<100 { await counter.add() } } }
      try await group.waitForAll()
    }
    #expect(await counter.count == 1000)
  }

  @Test func aChangeBeforeTheCallCounts() async throws {
    let changes = Changes()
    let seen = changes.version
    changes.announce()
    try await changes.wait(after: seen)
  }

  @Test func aCanceledCallerDoesNotWait() async {
    let changes = Changes()
    let waiting = Task { () -> AppError? in
      do throws(AppError) {
        try await changes.wait(after: changes.version)
        return nil
      } catch {
        return error
      }
    }
    waiting.cancel()
    #expect(await waiting.value == .cancelled)
  }
}
