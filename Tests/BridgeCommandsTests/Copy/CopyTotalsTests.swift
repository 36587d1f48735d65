import BridgeCommands
import Testing

/// How much several sources, or streams, have together.
@Suite struct CopyTotalsTests {
  @Test func theyAreKnownOnceThoseOfAllAre() {
    var totals = CopyTotals(2)
    totals.set(1, files: 3, bytes: 10)
    #expect(totals.bytes == nil && totals.files == nil)
    totals.set(0, files: 1, bytes: 5)
    #expect(totals.bytes == 15 && totals.files == 4)
    // What a directory has may be counted again.
    totals.set(1, files: 2, bytes: 1)
    #expect(totals.bytes == 6 && totals.files == 3)
  }

  @Test func streamsOfAFileCountNoFiles() {
    var totals = CopyTotals(1)
    totals.set(0, files: nil, bytes: 5)
    #expect(totals.bytes == 5 && totals.files == nil)
  }

  /// A source that failed, or that did not say how much it has.
  @Test func whatIsOverHadNoMoreThanItBrought() {
    var totals = CopyTotals(2)
    totals.set(0, files: 1, bytes: 5)
    totals.settle(0, files: 0, bytes: 0)
    totals.settle(1, files: 1, bytes: 7)
    #expect(totals.bytes == 12 && totals.files == 2)
  }

  @Test func aSumThatIsTooLargeIsTheLargest() {
    var totals = CopyTotals(2)
    totals.set(0, files: 1, bytes: .max)
    totals.set(1, files: .max, bytes: 1)
    #expect(totals.bytes == .max && totals.files == .max)
  }
}
