import BridgeErrors
import BridgeTestKit
import BridgeWaiting
import Testing

@Suite(.timeLimit(.minutes(5))) struct MailboxTests {
  private let bytes = Mailbox<[UInt8]>.Rule { $0.count }
  private let lost = AppError.networkUnavailable

  @Test func givesWhatItGotInOrderAndThenTheEnd() async throws {
    let mailbox = Mailbox(limit: 100, bytes) {}
    mailbox.store([1])
    mailbox.store([2, 3])
    mailbox.finish(.success(()))
    mailbox.store([4])
    #expect(try await mailbox.next() == [1])
    #expect(try await mailbox.next() == [2, 3])
    #expect(try await mailbox.next() == nil)
    #expect(try await mailbox.next() == nil)
  }

  @Test func anEarlyEndComesAfterWhatIsThereAndTheFirstCounts() async throws {
    let mailbox = Mailbox(limit: 100, bytes) {}
    mailbox.store([1])
    mailbox.finish(.failure(lost))
    mailbox.finish(.success(()))
    #expect(try await mailbox.next() == [1])
    await #expect(throws: lost) { try await mailbox.next() }
    await #expect(throws: lost) { try await mailbox.next() }
  }

  @Test func isFullAtItsLimitAndSaysOnceThatItHasSpace() async throws {
    let calls = Mutex(0)
    let mailbox = Mailbox(limit: 4, bytes) { calls.withLock { $0 += 1 } }
    mailbox.store([1, 2])
    #expect(mailbox.hasSpace)
    mailbox.store([3, 4])
    #expect(!mailbox.hasSpace)
    mailbox.store([5, 6])
    _ = try await mailbox.next()
    #expect(calls.withLock { $0 } == 0)
    _ = try await mailbox.next()
    #expect(calls.withLock { $0 } == 1)
    _ = try await mailbox.next()
    #expect(calls.withLock { $0 } == 1)
    #expect(mailbox.hasSpace)
  }

  @Test func whatIsDiscardedMakesSpaceForEver() async throws {
    let calls = Mutex(0)
    let mailbox = Mailbox(limit: 1, bytes) { calls.withLock { $0 += 1 } }
    mailbox.store([1, 2])
    #expect(!mailbox.hasSpace)
    mailbox.discard()
    #expect(calls.withLock { $0 } == 1)
    mailbox.store([3])
    #expect(mailbox.hasSpace)
    mailbox.finish(.success(()))
    #expect(try await mailbox.next() == nil)
  }

  @Test func aReaderIsGivenWhatComesAndTheEnd() async throws {
    let mailbox = Mailbox(limit: 4, bytes) {}
    async let first = mailbox.next()
    mailbox.store([7])
    mailbox.deliver()
    #expect(try await first == [7])
    async let last = mailbox.next()
    mailbox.finish(.success(()))
    #expect(try await last == nil)
  }

  @Test func aReaderIsNotWokenForLittle() async throws {
    let mailbox = Mailbox(limit: 4, bytes) {}
    let woken = Mutex(false)
    let reader = Task {
      defer { woken.withLock { $0 = true } }
      return try await mailbox.next()
    }
    // What waits for a reader that is not there yet is no news to it.
    try await eventually { mailbox.hasReader }
    mailbox.store([1])
    mailbox.deliver(atLeast: 2)
    #expect(mailbox.hasReader)
    #expect(!woken.withLock { $0 })
    mailbox.store([2])
    mailbox.deliver(atLeast: 2)
    #expect(try await reader.value == [1])
    #expect(try await mailbox.next() == [2])
  }

  @Test func theEndIsToldHoweverLittleThereIs() async throws {
    let mailbox = Mailbox(limit: 4, bytes) {}
    let reader = Task { try await mailbox.next() }
    try await eventually { mailbox.hasReader }
    mailbox.store([1])
    mailbox.finish(.success(()))
    #expect(try await reader.value == [1])
    #expect(try await mailbox.next() == nil)
  }

  @Test func spaceThatADeliveryMakesIsReported() async throws {
    let calls = Mutex(0)
    let mailbox = Mailbox(limit: 2, bytes) { calls.withLock { $0 += 1 } }
    let reader = Task { try await mailbox.next() }
    try await eventually { mailbox.hasReader }
    mailbox.store([1, 2])
    #expect(!mailbox.hasSpace)
    mailbox.deliver()
    #expect(try await reader.value == [1, 2])
    #expect(calls.withLock { $0 } == 1)
  }

  @Test func aCancelledReaderLeavesTheBytesToTheNext() async throws {
    let mailbox = Mailbox(limit: 4, bytes) {}
    let reader = Task { try await mailbox.next() }
    reader.cancel()
    await #expect(throws: AppError.cancelled) { try await reader.value }
    mailbox.store([1])
    #expect(try await mailbox.next() == [1])
  }

  @Test func everyReaderOfManyIsAnswered() async {
    let mailbox = Mailbox(limit: 4, bytes) {}
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { _ = try? await mailbox.next() } }
      group.addTask { mailbox.finish(.success(())) }
    }
  }

  @Test func aPushResumesTheReaderAndSaysWhetherThereIsSpace() async throws {
    let calls = Mutex(0)
    let mailbox = Mailbox(limit: 3, bytes) { calls.withLock { $0 += 1 } }
    let reader = Task { try await mailbox.next() }
    try await eventually { mailbox.hasReader }
    #expect(mailbox.push([1, 2, 3, 4]), "What is taken at once fills nothing.")
    #expect(try await reader.value == [1, 2, 3, 4])
    #expect(mailbox.push([5]))
    #expect(!mailbox.push([6, 7]))
    #expect(calls.withLock { $0 } == 0)
    _ = try await mailbox.next()
    _ = try await mailbox.next()
    #expect(calls.withLock { $0 } == 1)
  }

  /// An element may come between the moment a reader looks for one and the one it waits from: a
  /// producer that learns then that the queue is full is called when that taking makes space.
  @Test("a producer that is held back at each element is always called to go on")
  func noWakeUpIsLost() async throws {
    let space = Changes()
    let mailbox = Mailbox(limit: 1, Mailbox<Int>.Rule { _ in 8 }) { space.announce() }
    let count = 100_000
    let producer = Task {
      for number in 0..<count {
        let seen = space.version
        if !mailbox.push(number) { try await space.wait(after: seen) }
      }
      mailbox.finish(.success(()))
    }
    var next = 0
    while let number = try await mailbox.next() {
      guard number == next else {
        Issue.record("\(number) came in the place of \(next)")
        break
      }
      next += 1
    }
    #expect(next == count)
    try await producer.value
  }
}
