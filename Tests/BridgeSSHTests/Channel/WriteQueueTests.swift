import BridgeSSH
import Testing

struct WriteQueueTests {
  private func queue(_ writes: [[UInt8]]) -> WriteQueue<String> {
    var queue = WriteQueue<String>()
    for (id, bytes) in writes.enumerated() { queue.append(bytes, id: id, caller: "caller \(id)") }
    return queue
  }

  /// What is sent, `step` bytes at a time, and the callers that were answered.
  private func drain(_ queue: inout WriteQueue<String>, by step: Int) -> ([UInt8], [Int]) {
    var sent: [UInt8] = []
    var answered: [Int] = []
    while let (bytes, start) = queue.next {
      let count = min(step, bytes.count - start)
      sent += bytes[start..<start + count]
      if let (id, _) = queue.advance(by: count) { answered.append(id) }
    }
    return (sent, answered)
  }

  @Test(arguments: 1...5) func writesGoInOrderAndEachCallerIsAnsweredOnce(step: Int) {
    var queue = queue([[1, 2, 3], [4], [5, 6]])
    let (sent, answered) = drain(&queue, by: step)
    #expect(sent == [1, 2, 3, 4, 5, 6])
    #expect(answered == [0, 1, 2])
    #expect(queue.isEmpty)
  }

  @Test func aCanceledWriteThatWaitsIsTakenOut() {
    var queue = queue([[1, 2], [3, 4], [5, 6]])
    queue.cancel(1)
    queue.cancel(7)
    #expect(queue.callers.map(\.id) == [0, 2])
    let (sent, answered) = drain(&queue, by: 1)
    #expect(sent == [1, 2, 5, 6])
    #expect(answered == [0, 2])
  }

  @Test func theRestOfACanceledWriteIsNotSent() {
    var queue = queue([[1, 2, 3, 4], [5]])
    #expect(queue.advance(by: 2) == nil)
    queue.cancel(0)
    let (sent, answered) = drain(&queue, by: 9)
    #expect(sent == [5])
    #expect(answered == [1])
  }

  /// In a key exchange the library has made a packet of the first bytes and must be given them
  /// again; what it may take at most is more than it took.
  @Test(arguments: [1, 2]) func whatTheLibraryHoldsIsSentAndNoMore(taken: Int) {
    var queue = queue([[1, 2, 3, 4, 5], [6]])
    #expect(queue.advance(by: 1) == nil)
    queue.hold(2)
    queue.cancel(0)
    #expect(queue.next?.bytes == [1, 2, 3])
    #expect(queue.next?.start == 1)
    #expect(queue.advance(by: taken) == nil)
    #expect(queue.next?.bytes == [6])
    #expect(queue.callers.map(\.id) == [1])
  }

  @Test func whatIsHeldOfALaterWriteIsForgottenWithIt() {
    var queue = queue([[1], [2]])
    queue.hold(1)
    #expect(queue.advance(by: 1)?.id == 0)
    queue.cancel(1)
    #expect(queue.isEmpty)
  }
}
