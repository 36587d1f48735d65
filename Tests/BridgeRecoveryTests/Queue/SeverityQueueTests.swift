import BridgeErrors
import BridgeRecovery
import Foundation
import Testing

@Suite struct SeverityQueueTests {
  private var queue = SeverityQueue()

  private static let info = AppError.agentBusy
  private static let warning = AppError.networkUnavailable
  private static let error = AppError.sshConnectionFailed(host: "h", reason: "r")
  private static let critical = AppError.internalError(detail: "d")

  private func numbered(_ number: Int) -> AppError {
    .validationError(field: "f", message: "\(number)")
  }
  private func order(_ queue: SeverityQueue) -> [AppError] {
    [queue.shown].compactMap(\.?.error) + queue.waiting.map(\.error)
  }

  @Test func idsComeFromTheSeedAndAreNotRepeated() {
    let ids = [UInt64(7), 7, 8].map { seed in
      var queue = SeverityQueue(seed: seed)
      for number in 1...50 { queue.push(numbered(number)) }
      return ([queue.shown].compactMap(\.self) + queue.waiting).map(\.id.uuidString)
    }
    #expect(ids[0] == ids[1] && ids[0] != ids[2])
    #expect(Set(ids[0]).count == 50)
    let isVersion4 = ids[0].allSatisfy { id in
      let digits = Array(id)
      return digits[14] == "4" && "89AB".contains(digits[19])
    }
    #expect(isVersion4)
  }

  @Test func anEmptyQueueShowsNothing() {
    #expect(queue.shown == nil)
    #expect(queue.waiting.isEmpty)
  }

  @Test mutating func theMostSevereIsShownAndTheRestIsQueuedBySeverity() {
    for error in [Self.info, Self.error, Self.warning, Self.critical] { queue.push(error) }
    #expect(order(queue) == [Self.critical, Self.error, Self.warning, Self.info])
  }

  @Test mutating func aLevelIsFirstInFirstOut() {
    for number in 1...3 { queue.push(numbered(number)) }
    #expect(order(queue) == [1, 2, 3].map(numbered))
  }

  @Test mutating func aMoreSevereArrivalPreemptsAndTheDisplacedIsNextOfItsLevel() {
    queue.push(numbered(1))
    queue.push(numbered(2))
    queue.push(Self.critical)
    #expect(order(queue) == [Self.critical, numbered(1), numbered(2)])
    queue.dismiss()
    #expect(order(queue) == [numbered(1), numbered(2)])
  }

  @Test mutating func aChangedHostKeyIsFirstOfItsLevelOnly() {
    let changed = AppError.sshHostKeyMismatch(host: "h")
    queue.push(numbered(1))
    queue.push(changed)
    #expect(queue.shown?.error == changed)
    queue.push(Self.critical)
    #expect(order(queue) == [Self.critical, changed, numbered(1)])
  }

  @Test mutating func equalErrorsOfOneSourceAreOneEntryWithACount() {
    for _ in 1...3 { queue.push(Self.error, source: "a") }
    queue.push(Self.error, source: "b")
    queue.push(Self.error)
    queue.push(.sshConnectionFailed(host: "h", reason: "other"), source: "a")
    #expect(queue.shown?.count == 3)
    #expect(queue.waiting.map(\.count) == [1, 1, 1])
  }

  @Test mutating func failuresOfOneConnectionAreOneEntryByKindAndCause() throws {
    let context = FailureContext(kind: .silent, phase: .banner, host: "h")
    let other = FailureContext(kind: .refused, phase: .dial, host: "h")
    queue.push(.init(error: .sshTimeout(seconds: 1), source: "a", context: context))
    let id = try #require(queue.shown?.id)
    queue.push(.init(error: .sshTimeout(seconds: 2), source: "a", context: context))
    queue.push(.init(error: .sshTimeout(seconds: 2), source: "a", context: other))
    #expect(queue.shown?.id == id)
    #expect(queue.shown?.count == 2)
    #expect(queue.waiting.count == 1)
  }

  @Test mutating func recoveryOfASourceRemovesItsEntries() {
    queue.push(Self.error, source: "a")
    queue.push(Self.warning, source: "a")
    queue.push(Self.info, source: "b")
    queue.resolve(source: "a")
    #expect(order(queue) == [Self.info])
    queue.resolve(source: "nobody")
    #expect(queue.count == 1)
  }

  @Test mutating func cancellationIsNeverQueued() {
    queue.push(.cancelled, source: "a")
    #expect(queue.shown == nil)
  }

  @Test mutating func overflowDropsTheOldestOfTheLowestLevelAndCountsIt() {
    queue = SeverityQueue(capacity: 3)
    for error in [Self.info, numbered(1), Self.warning, numbered(2)] { queue.push(error) }
    #expect(order(queue) == [numbered(1), numbered(2), Self.warning])
    queue.push(numbered(3))
    #expect(order(queue) == [1, 2, 3].map(numbered))
    queue.push(numbered(4))
    #expect(order(queue) == [2, 3, 4].map(numbered))
    #expect(queue.dropped == 3)
    queue.push(Self.info)
    #expect(order(queue) == [2, 3, 4].map(numbered))
    #expect(queue.dropped == 4)
  }

  @Test mutating func theCriticalIsNeverDroppedButFolded() {
    queue = SeverityQueue(capacity: 2)
    for number in 1...5 { queue.push(.internalError(detail: "\(number)")) }
    queue.push(Self.error)
    #expect(order(queue) == [.internalError(detail: "1"), .internalError(detail: "2")])
    #expect(queue.waiting.map(\.count) == [4])
    #expect(queue.dropped == 1)
  }

  @Test mutating func aFailedRecoveryKeepsTheIdAndChangesTheMessage() throws {
    queue.push(Self.error)
    let id = try #require(queue.shown?.id)
    queue.recoveryFailed(id, with: nil)
    #expect(queue.shown?.message == "Couldn't connect to h. r Retry failed (attempt 1).")
    queue.recoveryFailed(id, with: Self.error)
    #expect(queue.shown?.message == "Couldn't connect to h. r Retry failed (attempt 2).")
    queue.recoveryFailed(id, with: .timeout(seconds: 5))
    #expect(queue.shown?.id == id)
    #expect(queue.shown?.message == AppError.timeout(seconds: 5).userMessage)
    queue.recoveryFailed(id, with: Self.warning)
    queue.push(Self.error)
    #expect(queue.shown?.error == Self.error)
    #expect(queue.waiting.first?.id == id)
  }

  @Test(arguments: UInt64(0)..<100)
  func theBoundHoldsAndNothingIsLostUncounted(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = SeverityQueue(capacity: 8)
    var (pushed, dismissed) = (0, 0)
    for step in 0..<400 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0:
        dismissed += queue.shown?.count ?? 0
        queue.dismiss()
      case 1:
        queue.push(.internalError(detail: "\(step)"))
        pushed += 1
      case 2:
        queue.push(Self.info)
        pushed += 1
      default:
        queue.push(numbered(step % 30))
        pushed += 1
      }
      let severities = order(queue).map(\.severity)
      #expect(severities == severities.sorted(by: >))
      #expect(queue.count <= 8 && severities.count == queue.count)
    }
    let kept = ([queue.shown].compactMap(\.self) + queue.waiting).reduce(0) { $0 + $1.count }
    #expect(kept + dismissed + queue.dropped <= pushed)
    #expect(kept + dismissed <= pushed)
  }

  /// A link that needs a person is on the list, however many there are.
  @Test func theEntriesOfLinksAreNeitherCountedNorDropped() {
    var queue = SeverityQueue(capacity: 4)
    let links = (0..<6).map { ConnectionID("link \($0)") }
    for link in links {
      var report = SeverityQueue.Report(
        error: Self.error, source: link.description, plan: RecoveryPlan(next: .askPerson))
      report.link = link
      queue.push(report)
    }
    for number in 0..<6 { queue.push(.invalidURL(string: "\(number)")) }
    #expect(queue.count == 10 && queue.linkCount == 6 && queue.dropped == 2)
    for link in links {
      queue.resolve(source: link.description)
      queue.dismiss()
    }
    #expect(queue.linkCount == 6)
    for link in links { queue.resolve(link) }
    #expect(queue.linkCount == 0 && queue.count == 4)
  }
}
