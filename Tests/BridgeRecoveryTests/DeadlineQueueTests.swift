import BridgeRecovery
import Testing

@Suite struct DeadlineQueueTests {
  private let start = Moment.now

  @Test func dueKeysComeInOrderOfDeadlineThenOfSetting() {
    var queue = DeadlineQueue<String>()
    queue.set("late", at: start + .seconds(3))
    queue.set("first", at: start + .seconds(1))
    queue.set("second", at: start + .seconds(1))
    #expect(queue.next == start + .seconds(1))
    #expect(queue.popDue(at: start) == nil)
    #expect(queue.popDue(at: start + .seconds(2)) == "first")
    #expect(queue.popDue(at: start + .seconds(2)) == "second")
    #expect(queue.popDue(at: start + .seconds(2)) == nil)
    #expect(queue.count == 1)
  }

  @Test func settingAgainMovesAndClearingForgets() {
    var queue = DeadlineQueue<Int>()
    queue.set(1, at: start + .seconds(1))
    queue.set(1, at: start + .seconds(5))
    queue.set(2, at: start + .seconds(2))
    queue.clear(2)
    #expect(queue[1] == start + .seconds(5))
    #expect(queue[2] == nil)
    #expect(queue.next == start + .seconds(5))
    #expect(queue.popDue(at: start + .seconds(9)) == 1)
    #expect(queue.next == nil)
  }

  @Test(arguments: UInt64(0)..<50)
  func itAgreesWithADictionaryUnderRandomUse(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = DeadlineQueue<Int>()
    var model: [Int: Moment] = [:]
    for _ in 0..<500 {
      let key = Int.random(in: 0..<20, using: &generator)
      let at = start + .milliseconds(Int.random(in: 0...1_000_000, using: &generator))
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        queue.clear(key)
        model[key] = nil
      case 1:
        let next = model.values.min()
        let popped = next.flatMap { queue.popDue(at: $0) }
        #expect(popped.flatMap { model.removeValue(forKey: $0) } == next)
      default:
        queue.set(key, at: at)
        model[key] = at
      }
      #expect(queue.next == model.values.min())
    }
  }
}
