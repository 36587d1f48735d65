import BridgeErrors
import Testing

@testable import BridgeStore

@Suite("Requests join in transactions, in order and within bounds") struct RequestLineTests {
  private static func numbers(_ entries: [RequestLine.Entry]) -> [Int] { entries.map(\.number) }

  @Test func theFirstBeginsTheWorkAndTheOthersGatherForTheNextTransaction() {
    var line = RequestLine(StoreLimits())
    #expect(line.append(.agents) == .first(1))
    #expect(Self.numbers(line.next()) == [1])
    #expect(line.append(.agents) == .taken(2) && line.append(.agents) == .taken(3))
    line.finish()
    #expect(Self.numbers(line.next()) == [2, 3])
    line.finish()
    #expect(line.next().isEmpty)
    #expect(line.append(.agents) == .first(4))
  }

  @Test func whatWasNotFinishedComesAgain() {
    var line = RequestLine(StoreLimits())
    _ = (line.append(.agents), line.append(.state(agent: "a")))
    let entries = line.next()
    _ = line.append(.agents)
    #expect(line.next() == entries)
    line.finish()
    #expect(Self.numbers(line.next()) == [3])
  }

  @Test func atMostSoManyJoin() {
    var line = RequestLine(StoreLimits(batch: 2))
    for _ in 0..<5 { _ = line.append(.agents) }
    var batches: [[Int]] = []
    while case let entries = line.next(), !entries.isEmpty {
      batches.append(Self.numbers(entries))
      line.finish()
    }
    #expect(batches == [[1, 2], [3, 4], [5]])
  }

  @Test func moreRequestsThanMayWaitAreRefusedUntilThereIsSpace() {
    var line = RequestLine(StoreLimits(requests: 2))
    _ = (line.append(.agents), line.append(.agents))
    #expect(line.append(.agents) == .full)
    _ = line.next()
    #expect(line.append(.agents) == .taken(3))
  }

  @Test func moreBytesThanMayWaitAreRefusedUntilTheyAreWritten() {
    let lease = AgentLease(agent: "a", host: "h", fence: 1)
    let write = StoreRequest.write(
      [.send(OutboxMessage(id: "1", text: String(repeating: "x", count: 1000)))], under: lease)
    var line = RequestLine(StoreLimits(bytes: 2000))
    #expect(line.append(write) == .first(1))
    #expect(line.append(write) == .full)
    _ = line.next()
    #expect(line.append(write) == .full)
    line.finish()
    #expect(line.append(write) == .taken(2))
  }

  @Test func whatWasWrittenGivesItsSpaceBack() {
    let lease = AgentLease(agent: "a", host: "h", fence: 1)
    let write = StoreRequest.write(
      [.resume(StoredValue(bytes: Array(repeating: 0, count: 1000)))], under: lease)
    var line = RequestLine(StoreLimits(bytes: 3000, batch: 1))
    for number in 1...100 {
      _ = line.append(write)
      #expect(number == 1 || line.append(.agents) != .full)
      #expect(!line.next().isEmpty)
      line.finish()
      while line.next() != [] { line.finish() }
    }
    _ = (line.append(.agents), line.append(write))
    #expect(line.append(write) != .full)
  }

  @Test func oneThatIsLargerThanAllTheSpaceIsTakenAlone() {
    let lease = AgentLease(agent: "a", host: "h", fence: 1)
    let write = StoreRequest.write(
      [.resume(StoredValue(bytes: Array(repeating: 0, count: 1000)))], under: lease)
    var line = RequestLine(StoreLimits(bytes: 10))
    #expect(line.append(write) == .first(1))
    #expect(line.append(.agents) == .full)
  }

  @Test func givenUpRequestsAreNoLongerThere() {
    var line = RequestLine(StoreLimits(requests: 3))
    for _ in 0..<3 { _ = line.append(.agents) }
    _ = line.next()
    _ = line.append(.agents)
    let (begun, waiting) = line.giveUp()
    #expect(Self.numbers(begun) == [1, 2, 3] && Self.numbers(waiting) == [4])
    // Its worker may wait for its next attempt, and would not see it.
    #expect(line.append(.agents) == .first(5))
  }

  @Test func aClosedLineThatIsGivenUpIsOver() {
    var line = RequestLine(StoreLimits())
    _ = line.append(.agents)
    _ = line.next()
    line.close()
    #expect(!line.isOver)
    _ = line.giveUp()
    #expect(line.isOver && line.append(.agents) == .closed)
  }

  @Test func aClosedLineFinishesWhatItHasAndTakesNoMore() {
    var line = RequestLine(StoreLimits())
    _ = line.append(.agents)
    line.close()
    #expect(line.append(.agents) == .closed && !line.isOver)
    #expect(Self.numbers(line.next()) == [1])
    line.finish()
    #expect(line.next().isEmpty && line.isOver)
    line.close()
    #expect(line.isOver)
  }

  @Test func anIdleLineIsOverWhenItIsClosed() {
    var line = RequestLine(StoreLimits())
    line.close()
    #expect(line.isOver && line.append(.agents) == .closed)
  }

  @Test(
    arguments: [
      (Duration.zero, 0), (.seconds(-1), 0), (.nanoseconds(1), 1), (.milliseconds(5), 5),
      (.seconds(2), 2000), (.seconds(Int64.max), (1 << 40) * 1000),
    ] as [(Duration, Int64)])
  func timesAreWholeMilliseconds(duration: Duration, milliseconds: Int64) {
    #expect(duration.milliseconds == milliseconds)
  }
}
