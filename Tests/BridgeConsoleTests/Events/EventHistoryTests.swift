import Testing

@testable import BridgeConsole

@Suite("Events for browsers") struct EventHistoryTests {
  private func ring(_ count: Int, limit: Int = 4, byteLimit: Int = 1000) -> EventHistory {
    var ring = EventHistory(limit: limit, byteLimit: byteLimit)
    for number in 0..<count { ring.append("a", "\(number)") }
    return ring
  }

  private func numbers(_ reading: EventHistory.Reading) -> [UInt64]? {
    guard case .events(let events) = reading else { return nil }
    return events.map(\.number)
  }

  @Test func aReaderGetsWhatFollows() {
    let ring = ring(3)
    #expect(numbers(ring.read(after: 0, size: 100)) == [1, 2, 3])
    #expect(numbers(ring.read(after: 2, size: 100)) == [3])
    #expect(numbers(ring.read(after: 3, size: 100)) == [])
  }

  @Test func aReaderThatWasAwayTooLongLearnsHowManyItMissed() {
    let ring = ring(10)
    #expect(ring.read(after: 0, size: 100) == .missed(10))
    #expect(ring.read(after: 5, size: 100) == .missed(5))
    #expect(numbers(ring.read(after: 6, size: 100)) == [7, 8, 9, 10])
  }

  /// Of another run, or made up.
  @Test func aNumberOfTheFutureIsNone() {
    #expect(ring(3).read(after: 4, size: 100) == .missed(0))
    #expect(ring(0).read(after: UInt64.max, size: 100) == .missed(0))
  }

  @Test func aReaderGetsAtMostSoMuchAtOnceButOneEvent() {
    var ring = EventHistory(limit: 10, byteLimit: 1000)
    for text in ["aaaa", "bbbb", "cccccccc"] { ring.append("a", text) }
    #expect(numbers(ring.read(after: 0, size: 8)) == [1, 2])
    #expect(numbers(ring.read(after: 2, size: 1)) == [3])
  }

  @Test func bytesAreBoundedAsWellAsEvents() {
    var ring = EventHistory(limit: 1000, byteLimit: 100)
    var most = 0
    for _ in 0..<10_000 {
      ring.append("a", String(repeating: "x", count: 30))
      most = max(most, ring.bytes)
    }
    #expect(most == 90 && ring.count == 3)
    ring.append("a", String(repeating: "x", count: 101))
    #expect(ring.count == 0 && ring.bytes == 0)
    #expect(ring.read(after: ring.last - 1, size: 8) == .missed(1))
    #expect(numbers(ring.read(after: ring.last, size: 8)) == [])
  }
}
