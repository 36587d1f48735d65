import BridgeWebSocket
import Testing

struct ProbeTableTests {
  private func table(_ ids: Int...) -> ProbeTable {
    var table = ProbeTable()
    for id in ids {
      table.insert({}, as: id)
      table.wrote(id)
    }
    return table
  }

  @Test func aPayloadNamesItsPing() {
    for id in [0, 1, 258, Int.max] { #expect(ProbeTable.id(ProbeTable.payload(id)) == id) }
    #expect(ProbeTable.id([]) == nil)
    #expect(ProbeTable.id([0, 0, 1]) == nil)
  }

  @Test func aPongAnswersThePingsBeforeItsOwn() {
    #expect(table(1, 3, 7).answered(by: 3) == [1, 3])
    #expect(table(1, 3, 7).answered(by: 7) == [1, 3, 7])
  }

  @Test func theOrderIsTheOneInWhichPingsWereWritten() {
    #expect(table(3, 1, 7).answered(by: 3) == [3])
    #expect(table(3, 1, 7).answered(by: 1) == [3, 1])
  }

  @Test func aPingThatIsNotWrittenIsNotAnswered() {
    var table = table(2)
    table.insert({}, as: 1)
    #expect(table.answered(by: 2) == [2])
    #expect(table.answered(by: 1).isEmpty)
  }

  @Test func anUnrequestedPongAnswersNoProbe() {
    #expect(table(3, 1, 7).answered(by: 9).isEmpty)
    #expect(table().answered(by: 0).isEmpty)
  }
}
