import BridgeSessionProtocol
import Testing

@testable import BridgeSession

@Suite struct OutputQueueTests {
  /// Chunks that are too long to be joined, one after the other.
  private func queue(_ count: Int, of size: Int = 10_000) -> OutputQueue {
    var queue = OutputQueue()
    for index in 0..<count {
      let bytes = [UInt8](repeating: UInt8(index), count: size)
      queue.append(
        SessionChunk(offset: UInt64(index * size), content: .bytes(bytes, .standardOutput)))
    }
    return queue
  }

  @Test(arguments: [
    (0, [1, 1, 1, 1, 1]), (20_000, [2, 2, 1]), (29_999, [2, 2, 1]), (50_000, [5]),
  ])
  func chunksComeTogetherUpToTheLimit(limit: Int, counts: [Int]) {
    var queue = queue(5)
    var (found, position) = ([Int](), UInt64(0))
    while case let chunks = queue.popFirst(upTo: limit), let last = chunks.last {
      found.append(chunks.count)
      for chunk in chunks {
        #expect(chunk.offset == position)
        position = chunk.end
      }
      #expect(last.end == position)
    }
    #expect(found == counts)
    #expect(position == 50_000 && queue.count == 0)
  }

  @Test func aGapKeepsItsPlaceAmongThem() {
    var queue = queue(2)
    queue.append(SessionChunk(offset: 20_000, content: .gap(to: 1 << 40)))
    queue.append(SessionChunk(offset: 1 << 40, content: .bytes([1], .standardError)))
    let chunks = queue.popFirst(upTo: 30_000)
    #expect(chunks.map(\.offset) == [0, 10_000, 20_000, 1 << 40])
    #expect(chunks.map(\.end) == [10_000, 20_000, 1 << 40, (1 << 40) + 1])
  }
}
