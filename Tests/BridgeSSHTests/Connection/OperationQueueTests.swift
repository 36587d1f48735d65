import BridgeErrors
import BridgeSSH
import Testing

struct OperationQueueTests {
  private func operation(
    _ id: Int, channel: UInt32? = nil, timeout: Duration? = .seconds(1)
  ) -> OperationQueue.Operation {
    .init(id: id, channel: channel, phase: .stream, timeout: timeout, step: .onLoop { _ in true })
  }

  @Test func oneAtATimeInOrder() {
    var queue = OperationQueue()
    #expect(queue.isEmpty)
    for id in 1...3 { queue.append(operation(id), to: .session) }
    queue.append(operation(9), to: .requests)
    #expect(queue.busyGroups == [.session, .requests])
    var order: [Int] = []
    while let first = queue.first(of: .session) {
      order.append(first.id)
      queue.removeFirst(of: .session)
    }
    #expect(order == [1, 2, 3])
    #expect(queue.busyGroups == [.requests])
    queue.removeFirst(of: .session)
    queue.removeAll()
    #expect(queue.isEmpty)
  }

  @Test func knowsWhatConcernsAChannel() {
    var queue = OperationQueue()
    queue.append(operation(1, channel: 4), to: .requests)
    queue.append(operation(2, channel: 5), to: .requests)
    #expect(queue.hasRequest(on: 4) && queue.hasRequest(on: 5) && !queue.hasRequest(on: 6))
    queue.removeFirst(of: .requests)
    #expect(!queue.hasRequest(on: 4) && queue.hasRequest(on: 5))
  }

  @Test func whatHasNoLimitHasThatOfTheNext() {
    var queue = OperationQueue()
    #expect(queue.timeLimit(of: .session) == nil)
    queue.append(operation(1, timeout: nil), to: .session)
    #expect(queue.timeLimit(of: .session) == nil)
    queue.append(operation(2, timeout: .seconds(7)), to: .session)
    queue.append(operation(3, timeout: .seconds(8)), to: .session)
    #expect(queue.timeLimit(of: .session) == .seconds(7))
    queue.removeFirst(of: .session)
    queue.removeFirst(of: .session)
    #expect(queue.timeLimit(of: .session) == .seconds(8))
  }
}
