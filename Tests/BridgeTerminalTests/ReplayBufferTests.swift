import BridgeTerminal
import Testing

struct ReplayBufferTests {
  @Test func everyRunHasAllOfIt() {
    var replayBuffer = ReplayBuffer(isKept: true)
    #expect(replayBuffer.isWhole)
    replayBuffer.record([1, 2])
    replayBuffer.record([3])
    #expect(replayBuffer.chunk(0) == [1, 2])
    #expect(replayBuffer.chunk(1) == [3])
    #expect(replayBuffer.chunk(2) == nil)
    #expect(replayBuffer.isWhole)
  }

  @Test func tooMuchIsNotKept() {
    var replayBuffer = ReplayBuffer(isKept: true)
    let half = [UInt8](repeating: 7, count: ReplayBuffer.limit / 2)
    replayBuffer.record(half)
    replayBuffer.record(half)
    #expect(replayBuffer.isWhole)
    replayBuffer.record([1])
    #expect(!replayBuffer.isWhole)
    #expect(replayBuffer.chunk(0) == nil)
    replayBuffer.record([2])
    #expect(!replayBuffer.isWhole)
  }

  @Test func whatRunsOnceIsNotKept() {
    var replayBuffer = ReplayBuffer(isKept: false)
    #expect(replayBuffer.isWhole)
    replayBuffer.record([1])
    #expect(!replayBuffer.isWhole)
    #expect(replayBuffer.chunk(0) == nil)
  }
}
