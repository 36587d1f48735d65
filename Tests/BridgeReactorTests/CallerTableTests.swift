import BridgeReactor
import BridgeTestKit
import Testing

@Suite struct CallerTableTests {
  private enum Lost: Error { case lost }

  @Test func whoIsTakenOutIsAnsweredOnce() {
    var table = CallerTable<Lost>()
    let id = table.nextID()
    table.insert(.init(deadline: nil) { _ in }, as: id)
    #expect(table.take(id) != nil)
    #expect(table.take(id) == nil)
    #expect(table.takeAll().isEmpty)
  }

  @Test func noTimerGetsTheNumberOfAnother() {
    var table = CallerTable<Lost>()
    let first = table.nextID()
    table.insert(.init(deadline: nil) { _ in }, as: first)
    _ = table.take(first)
    #expect(table.nextID() != first)
  }

  @Test func allAreReportedTogetherInTheirOrder() {
    var table = CallerTable<Lost>()
    let log = Log<Int>()
    for _ in 0..<20 {
      let id = table.nextID()
      table.insert(.init(deadline: nil) { _ in log.append(id) }, as: id)
    }
    for caller in table.takeAll() { caller.fail(.lost) }
    #expect(log.all == Array(1...20))
    #expect(table.takeAll().isEmpty)
  }

  @Test func aDeadlineEndsWithTheWaiting() async throws {
    try await withReactor { reactor in
      let log = Log<String>()
      let actor = Pinned(reactor)
      await actor.run { actor in
        var table = CallerTable<Lost>()
        for _ in 1...3 {
          let timer = LoopTimer(after: .milliseconds(1), on: reactor) { log.append("deadline") }
          table.insert(.init(deadline: timer) { _ in }, as: table.nextID())
        }
        #expect(table.take(2) != nil)
        #expect(table.takeAll().count == 2)
        actor.after(.milliseconds(20)) { log.append("end") }
      }
      try await eventually { log.all.contains("end") }
      #expect(log.all == ["end"])
      await actor.close()
    }
  }
}
