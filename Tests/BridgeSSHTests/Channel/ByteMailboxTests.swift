import BridgeErrors
import BridgeSSH
import BridgeTestKit
import BridgeWaiting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ByteMailboxTests {
  /// A command that prints two bytes at a time must not cost an array for each of its words.
  @Test func smallChunksThatWaitAreJoined() async throws {
    let mailbox = ByteMailbox(limit: 1 << 20) {}
    for index in 0..<65_536 { mailbox.store([UInt8(truncatingIfNeeded: index), 1]) }
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

  /// A slow reader of a fast server leaves the mailbox never empty; what it read must go even so.
  @Test func keepsNothingOfWhatWasReadWhenItNeverRunsEmpty() async throws {
    let mailbox = ByteMailbox(limit: 100, joiningBelow: 0) {}
    mailbox.store([0])
    for number in UInt8(0)..<10 {
      mailbox.store([number + 1])
      var bytes = try #require(try await mailbox.next())
      let place = storage(of: bytes)
      bytes[0] += 1
      #expect(bytes == [number + 1])
      #expect(storage(of: bytes) == place, "They still had another owner.")
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
