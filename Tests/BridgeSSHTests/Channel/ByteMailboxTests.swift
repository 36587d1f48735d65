import BridgeErrors
import BridgeSSH
import BridgeTestKit
import BridgeWaiting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ByteMailboxTests {
  private let lost = AppError.sshConnectionFailed(host: "h", reason: "gone")

  @Test func givesWhatItGotInOrderAndThenTheEnd() async throws {
    let mailbox = ByteMailbox(limit: 100, joiningBelow: 0) {}
    mailbox.push([1])
    mailbox.push([2, 3])
    mailbox.finish(.success(()))
    mailbox.push([4])
    #expect(try await mailbox.next() == [1])
    #expect(try await mailbox.next() == [2, 3])
    #expect(try await mailbox.next() == nil)
    #expect(try await mailbox.next() == nil)
  }

  /// A command that prints two bytes at a time must not cost an array for each of its words.
  @Test func smallChunksThatWaitAreJoined() async throws {
    let mailbox = ByteMailbox(limit: 1 << 20) {}
    for index in 0..<65_536 { mailbox.push([UInt8(truncatingIfNeeded: index), 1]) }
    mailbox.finish(.success(()))
    var chunks: [[UInt8]] = []
    while let chunk = try await mailbox.next() { chunks.append(chunk) }
    #expect(chunks.joined().count == 131_072)
    #expect(
      chunks.joined().enumerated().allSatisfy { index, byte in
        byte == (index % 2 == 0 ? UInt8(truncatingIfNeeded: index / 2) : 1)
      })
    #expect(chunks.count <= 17)
    #expect(chunks.allSatisfy { $0.capacity <= 4 * $0.count })
  }

  @Test func anEarlyEndComesAfterWhatIsThereAndTheFirstCounts() async throws {
    let mailbox = ByteMailbox(limit: 100, joiningBelow: 0) {}
    mailbox.push([1])
    mailbox.finish(.failure(lost))
    mailbox.finish(.success(()))
    #expect(try await mailbox.next() == [1])
    #expect(await failure { _ = try await mailbox.next() } == lost)
    #expect(await failure { _ = try await mailbox.next() } == lost)
  }

  @Test func isFullAtItsLimitAndSaysOnceThatItHasSpace() async throws {
    let calls = Mutex(0)
    let mailbox = ByteMailbox(limit: 4, joiningBelow: 0) { calls.withLock { $0 += 1 } }
    mailbox.push([1, 2])
    #expect(mailbox.hasSpace)
    mailbox.push([3, 4])
    #expect(!mailbox.hasSpace)
    mailbox.push([5, 6])
    _ = try await mailbox.next()
    #expect(calls.withLock { $0 } == 0)
    _ = try await mailbox.next()
    #expect(calls.withLock { $0 } == 1)
    _ = try await mailbox.next()
    #expect(calls.withLock { $0 } == 1)
    #expect(mailbox.hasSpace)
  }

  /// A slow reader of a fast server leaves the mailbox never empty; what it read must go even so.
  @Test func keepsNothingOfWhatWasReadWhenItNeverRunsEmpty() async throws {
    let mailbox = ByteMailbox(limit: 100, joiningBelow: 0) {}
    mailbox.push([0])
    for number in UInt8(0)..<10 {
      mailbox.push([number + 1])
      var bytes = try #require(try await mailbox.next())
      let place = storage(of: bytes)
      bytes[0] += 1
      #expect(bytes == [number + 1])
      #expect(storage(of: bytes) == place, "They still had another owner.")
    }
  }

  @Test func whatIsDiscardedMakesSpaceForEver() async throws {
    let calls = Mutex(0)
    let mailbox = ByteMailbox(limit: 1, joiningBelow: 0) { calls.withLock { $0 += 1 } }
    mailbox.push([1, 2])
    #expect(!mailbox.hasSpace)
    mailbox.discard()
    #expect(calls.withLock { $0 } == 1)
    mailbox.push([3])
    #expect(mailbox.hasSpace)
    mailbox.finish(.success(()))
    #expect(try await mailbox.next() == nil)
  }

  @Test func aReaderIsGivenWhatComesAndTheEnd() async throws {
    let mailbox = ByteMailbox(limit: 4, joiningBelow: 0) {}
    async let first = mailbox.next()
    mailbox.push([7])
    mailbox.deliver()
    #expect(try await first == [7])
    async let last = mailbox.next()
    mailbox.finish(.success(()))
    #expect(try await last == nil)
  }

  @Test func aReaderIsNotWokenForLittle() async throws {
    let mailbox = ByteMailbox(limit: 4, joiningBelow: 0) {}
    let woken = Mutex(false)
    let reader = Task {
      defer { woken.withLock { $0 = true } }
      return try await mailbox.next()
    }
    // What waits for a reader that is not there yet is no news to it.
    try await eventually { mailbox.hasReader }
    mailbox.push([1])
    mailbox.deliver(atLeast: 2)
    #expect(mailbox.hasReader)
    #expect(!woken.withLock { $0 })
    mailbox.push([2])
    mailbox.deliver(atLeast: 2)
    #expect(try await reader.value == [1])
    #expect(try await mailbox.next() == [2])
  }

  @Test func theEndIsToldHoweverLittleThereIs() async throws {
    let mailbox = ByteMailbox(limit: 4, joiningBelow: 0) {}
    let reader = Task { try await mailbox.next() }
    try await eventually { mailbox.hasReader }
    mailbox.push([1])
    mailbox.finish(.success(()))
    #expect(try await reader.value == [1])
    #expect(try await mailbox.next() == nil)
  }

  @Test func spaceThatADeliveryMakesIsReported() async throws {
    let calls = Mutex(0)
    let mailbox = ByteMailbox(limit: 2, joiningBelow: 0) { calls.withLock { $0 += 1 } }
    let reader = Task { try await mailbox.next() }
    try await eventually { mailbox.hasReader }
    mailbox.push([1, 2])
    #expect(!mailbox.hasSpace)
    mailbox.deliver()
    #expect(try await reader.value == [1, 2])
    #expect(calls.withLock { $0 } == 1)
  }

  @Test func aCancelledReaderLeavesTheBytesToTheNext() async throws {
    let mailbox = ByteMailbox(limit: 4, joiningBelow: 0) {}
    let reader = Task { await failure { _ = try await mailbox.next() } }
    reader.cancel()
    #expect(await reader.value == .cancelled)
    mailbox.push([1])
    #expect(try await mailbox.next() == [1])
  }

  @Test func everyReaderOfManyIsAnswered() async {
    let mailbox = ByteMailbox(limit: 4, joiningBelow: 0) {}
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { _ = try? await mailbox.next() } }
      group.addTask { mailbox.finish(.success(())) }
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct ChannelEndingTests {
  @Test func tellsTheFirstWordToAll() async throws {
    let ending = ChannelEnding()
    await withTaskGroup(of: Optional<BridgeSSH.ExitStatus>.self) { group in
      for _ in 0..<20 { group.addTask { try? await ending.wait() } }
      group.addTask {
        ending.settle(.success(.status(3)))
        ending.settle(.failure(.cancelled))
        return .status(3)
      }
      for await status in group { #expect(status == .status(3)) }
    }
    #expect(try await ending.wait() == .status(3))
  }

  @Test func aCancelledWaiterLeavesTheOthers() async throws {
    let ending = ChannelEnding()
    let cancelled = Task { await failure { _ = try await ending.wait() } }
    async let remaining = ending.wait()
    cancelled.cancel()
    #expect(await cancelled.value == .cancelled)
    ending.settle(.success(.signal("TERM")))
    #expect(try await remaining == .signal("TERM"))
  }

  /// A cancellation may come between the moment a caller looks for it and the one it waits from.
  @Test(.timeLimit(.minutes(5))) func aWaitThatIsCanceledWhileItBeginsEnds() async {
    for _ in 0..<20_000 {
      let ending = ChannelEnding()
      let waiting = Task { try? await ending.wait() }
      let canceling = Task.detached { waiting.cancel() }
      #expect(await waiting.value == nil)
      await canceling.value
    }
  }
}
