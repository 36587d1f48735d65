import BridgeTerminal
import BridgeTestKit
import Testing

/// Typed bytes that wait for a shell.
@Suite struct OutboxTests {
  @Test func typedBytesAreTakenInOrder() async {
    let outbox = Outbox()
    await outbox.append([1, 2])
    await outbox.append([3])
    #expect(outbox.count == 3)
    #expect(await outbox.take() == [1, 2, 3])
    outbox.close()
    #expect(await outbox.take() == nil)
  }

  @Test func whileItIsHeldItKeepsSoMuchAndCountsTheRest() async {
    let outbox = Outbox()
    outbox.limitHeld(to: 4)
    outbox.hold(.all)
    await outbox.append([1, 2, 3])
    await outbox.append([4, 5, 6])
    #expect(outbox.count == 4)
    #expect(outbox.takeLost() == 2)
    #expect(outbox.takeLost() == 0, "counted once")
    outbox.hold(.nothing)
    #expect(await outbox.take() == [1, 2, 3, 4])
  }

  @Test func whatIsDroppedIsCountedWithWhatDidNotFit() async {
    let outbox = Outbox()
    outbox.limitHeld(to: 2)
    outbox.hold(.all)
    await outbox.append([1, 2, 3])
    #expect(outbox.drop() == 3)
    await outbox.append([4])
    #expect(await outbox.take() == [4], "it is not held any more")
  }

  @Test func reportsAreNotCountedAndGoBeforeWhatIsHeld() async {
    let outbox = Outbox()
    outbox.limitHeld(to: 4)
    await outbox.append([1])
    await outbox.append(report: [2])
    #expect(await outbox.take() == [1, 2], "in order while nothing is held")
    outbox.hold(.all)
    await outbox.append([3])
    await outbox.append(report: [4, 5])
    await outbox.append(report: [6, 7, 8])
    #expect(outbox.count == 1 && outbox.takeLost() == 0)
    // The link is back; what was typed waits for an answer.
    outbox.hold(.typing)
    #expect(await outbox.take() == [4, 5], "what did not fit is dropped whole")
    await outbox.append(report: [9])
    #expect(await outbox.take() == [9])
    await outbox.append(report: [10])
    #expect(outbox.drop(keepsReports: true) == 1)
    #expect(await outbox.take() == [10])
    await outbox.append(report: [11])
    #expect(outbox.drop() == 1)
    outbox.close()
    #expect(await outbox.take() == nil)
  }

  @Test func aTakerThatWaitsHasAReportAtOnce() async throws {
    let executor = SeededExecutor(seed: 1)
    let outbox = Outbox()
    outbox.hold(.typing)
    let taking = Task(executorPreference: executor) { await outbox.take() }
    try #require(executor.drain(atMost: 1_000) == .done)
    await outbox.append([1])
    try #require(executor.drain(atMost: 1_000) == .done)
    await outbox.append(report: [2])
    try #require(executor.drain(atMost: 1_000) == .done)
    #expect(await taking.value == [2])
  }

  @Test func aFullOneHoldsBackTheKeyboardUntilBytesAreTaken() async {
    let outbox = Outbox()
    let typing = Task {
      await outbox.append([UInt8](repeating: 1, count: Outbox.limit))
      await outbox.append([2])
    }
    var taken: [UInt8] = []
    while taken.count <= Outbox.limit, let bytes = await outbox.take() { taken += bytes }
    await typing.value
    #expect(taken.count == Outbox.limit + 1)
    #expect(taken.last == 2)
  }

  @Test func aCanceledWaitForBytesEnds() async {
    let outbox = Outbox()
    let taking = Task { await outbox.take() }
    taking.cancel()
    #expect(await taking.value == nil)
  }

  /// The terminal is gone while the link is down: the reader waits, and does not look again and
  /// again.
  @Test func whileItIsHeldATakerWaitsAlsoAfterItsEnd() async throws {
    let executor = SeededExecutor(seed: 1)
    let outbox = Outbox()
    await outbox.append([1, 2])
    outbox.hold(.all)
    outbox.close()
    let taking = Task(executorPreference: executor) { [outbox] in
      var taken: [UInt8] = []
      while let bytes = await outbox.take() { taken += bytes }
      return taken
    }
    try #require(executor.drain(atMost: 1_000) == .done)
    // What was typed before the end is not lost.
    outbox.hold(.nothing)
    try #require(executor.drain(atMost: 1_000) == .done)
    #expect(await taking.value == [1, 2])
  }
}
