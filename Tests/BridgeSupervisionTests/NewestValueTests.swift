import BridgeSupervision
import Testing

@Suite struct NewestValueTests {
  /// Its first value is news to all: one that is there already would stay at "1 s".
  @Test func aNewReaderHidesNoValueFromTheOthers() async {
    let values = NewestValue<Int>()
    let first = values.subscribe(1)
    #expect(await first.next() == 1)
    let second = values.subscribe(0)
    values.publish(0)
    values.finish()
    #expect(await first.next() == 0)
    #expect(await second.next() == 0)
    #expect(await first.next() == nil)
  }

  @Test func aReaderThatIsBehindHasTheNewestOnly() async {
    let values = NewestValue<Int>()
    let reader = values.subscribe(0)
    for value in 1...3 { values.publish(value) }
    #expect(await reader.next() == 3)
    values.publish(3)
    values.finish()
    #expect(await reader.next() == nil, "the same value is no news")
  }
}
