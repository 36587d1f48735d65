import BridgeFaults
import BridgeStore
import Testing

@testable import BridgeAgentHost

@Suite("Messages are sent again until they arrived, in order") struct OutboxQueueTests {
  private static func queue(_ count: Int) -> OutboxQueue {
    var queue = OutboxQueue()
    for number in 0..<count {
      #expect(queue.append(OutboxMessage(id: "\(number)", text: "m")) == number)
    }
    return queue
  }

  /// What is sent over a connection until nothing is left.
  private static func sendAll(_ queue: inout OutboxQueue) -> [String] {
    var ids: [String] = []
    while let message = send(&queue) { ids.append(message.id) }
    return ids
  }

  /// The message that was sent.
  @discardableResult
  private static func send(_ queue: inout OutboxQueue) -> OutboxMessage? {
    guard let (number, message) = queue.begin() else { return nil }
    queue.recordSent(number)
    return message
  }

  private static func prove(_ queue: inout OutboxQueue, below end: Int) -> [Int] {
    queue.prove(below: end)
  }

  private static func acknowledge(_ queue: inout OutboxQueue, _ id: String) -> Bool {
    queue.acknowledge(id) != nil
  }

  @Test func whatIsProvenIsNotSentAgain() {
    var queue = Self.queue(3)
    #expect(queue.unproven == nil)
    for _ in 0..<2 { Self.send(&queue) }
    #expect(queue.unproven == 2)
    #expect(Self.prove(&queue, below: 2) == [0, 1])
    #expect(queue.unproven == nil && queue.isDelivered(1) && !queue.isDelivered(2))
    queue.restart()
    #expect(Self.sendAll(&queue) == ["2"])
  }

  @Test func whatWasNotProvenIsSentAgainInOrder() {
    var queue = Self.queue(3)
    #expect(Self.sendAll(&queue) == ["0", "1", "2"])
    #expect(Self.prove(&queue, below: 1) == [0])
    queue.restart()
    #expect(Self.sendAll(&queue) == ["1", "2"])
    #expect(queue.undelivered.map(\.id) == ["1", "2"])
  }

  @Test func acknowledgementsMayComeInAnyOrder() {
    var queue = Self.queue(4)
    #expect(!Self.acknowledge(&queue, "0"), "it was not sent")
    for _ in 0..<3 { Self.send(&queue) }
    #expect(Self.acknowledge(&queue, "1") && !Self.acknowledge(&queue, "9"))
    #expect(queue.isDelivered(1) && !queue.isDelivered(0))
    queue.restart()
    #expect(Self.sendAll(&queue) == ["0", "2", "3"])
    for id in ["3", "0", "2"] { #expect(Self.acknowledge(&queue, id)) }
    #expect(queue.undelivered == [] && queue.size == 0)
  }

  @Test func whatIsHeldIsNotSentNorWhatIsBehindIt() {
    var queue = Self.queue(1)
    let held = queue.append(OutboxMessage(id: "held", text: "m"), isHeld: true)
    let dropped = queue.append(OutboxMessage(id: "dropped", text: "m"), isHeld: true)
    _ = queue.append(OutboxMessage(id: "last", text: "m"))
    #expect(Self.sendAll(&queue) == ["0"])
    queue.restart()
    #expect(Self.sendAll(&queue) == ["0"])
    queue.drop(dropped)
    #expect(Self.sendAll(&queue) == [])
    queue.release(held)
    #expect(Self.sendAll(&queue) == ["held", "last"])
    #expect(queue.undelivered.map(\.id) == ["0", "held", "last"])
  }

  @Test func anAnswerMayBeFasterThanTheCallThatSends() throws {
    var queue = Self.queue(3)
    let begun = queue.begin()
    let (number, message) = try #require(begun)
    #expect(Self.acknowledge(&queue, message.id))
    queue.recordSent(number)
    #expect(Self.sendAll(&queue) == ["1", "2"])
  }

  /// The peer had it before the connection ended, and says so over the next one.
  @Test func anAnswerMayComeOverTheNextConnection() {
    var queue = Self.queue(2)
    for _ in 0..<2 { Self.send(&queue) }
    queue.restart()
    #expect(Self.acknowledge(&queue, "1"))
    #expect(Self.sendAll(&queue) == ["0"])
  }

  @Test func whatHasArrivedIsNotHeld() {
    var queue = OutboxQueue()
    for number in 0..<10_000 {
      let message = OutboxMessage(id: "\(number)", text: String(repeating: "x", count: 100))
      #expect(queue.append(message) == number)
      Self.send(&queue)
      guard number % 10 == 9 else { continue }
      #expect(Self.prove(&queue, below: number + 1).count == 10)
      #expect(queue.size == 0 && queue.isDelivered(number))
    }
    #expect(queue.undelivered == [] && Self.send(&queue) == nil)
  }

  /// Connections that end anywhere, proofs of any part: each message arrives, first in order.
  @Test(arguments: 0..<300)
  func eachMessageArrivesAndTheFirstTimesAreInOrder(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let count = Int.random(in: 1...40, using: &generator)
    var queue = OutboxQueue()
    var arrived: [String] = []
    var (added, steps) = (0, 0)
    while added < count || !queue.undelivered.isEmpty {
      steps += 1
      switch Int.random(in: 0..<(steps > 5000 ? 8 : 10), using: &generator) {
      case 0..<3 where added < count:
        _ = queue.append(OutboxMessage(id: "\(added)", text: "m"))
        added += 1
      case 3..<6:
        guard let (number, message) = queue.begin() else { break }
        if !arrived.contains(message.id) { arrived.append(message.id) }
        // The connection may end, or the answer come, before the call that sends returns.
        if Bool.random(using: &generator) { _ = queue.acknowledge(message.id) }
        if Bool.random(using: &generator) { queue.recordSent(number) } else { queue.restart() }
      case 6: if let end = queue.unproven { _ = queue.prove(below: end) }
      case 7:
        let message = queue.undelivered.randomElement(using: &generator)
        if let message { _ = queue.acknowledge(message.id) }
      case 8: queue.restart()
      default: break
      }
    }
    #expect(arrived == (0..<count).map { "\($0)" })
    #expect(queue.size == 0)
  }
}
