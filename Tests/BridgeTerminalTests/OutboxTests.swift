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

  // MARK: What is pasted

  private static let beginning = Array("\u{1B}[200~".utf8)
  private static let end = Array("\u{1B}[201~".utf8)

  /// A program that has the beginning of a paste and not its end takes each key for text: a shell
  /// seems to be dead.
  @Test func aPasteThatDoesNotFitEndsWhereItIsCut() async throws {
    let typed = Array("a".utf8) + Self.beginning + Array("pasted".utf8) + Self.end
    for limit in 0...typed.count {
      for cut in 0...typed.count {
        let outbox = Outbox()
        outbox.limitHeld(to: limit)
        outbox.hold(.all)
        await outbox.append(Array(typed[..<cut]))
        await outbox.append(Array(typed[cut...]))
        outbox.hold(.nothing)
        await outbox.append(Array("x".utf8))
        let sent = try #require(await outbox.take())
        let text = String(decoding: sent, as: UTF8.self)
        let place = "\(limit) \(cut): \(text.debugDescription)"
        #expect(text.contains(/\A(a(\x{1B}\[200~[a-z]*\x{1B}\[201~)?)?x\z/), "\(place)")
        let added = text.contains("\u{1B}") && limit < typed.count ? Self.end.count : 0
        #expect(sent.count - 1 - added + outbox.takeLost() == typed.count, "\(place)")
      }
    }
  }

  /// The link is back in the middle of it: the rest would be typed, line for line.
  @Test func theRestOfACutPasteIsNotTyped() async {
    let outbox = Outbox()
    outbox.limitHeld(to: 8)
    outbox.hold(.all)
    await outbox.append(Self.beginning + Array("pasted\n".utf8))
    outbox.hold(.nothing)
    #expect(await outbox.take() == Self.beginning + Array("pa".utf8) + Self.end)
    await outbox.append(Array("rm -r x\n".utf8) + Self.end + Array("ls".utf8))
    #expect(await outbox.take() == Array("ls".utf8))
  }

  /// The Esc key does not fit; that it began no paste is known with the next key.
  @Test func aKeyBehindALostOneIsNone() async {
    let outbox = Outbox()
    outbox.limitHeld(to: 1)
    outbox.hold(.all)
    await outbox.append(Array("a\u{1B}".utf8))
    outbox.hold(.nothing)
    await outbox.append(Array("ls".utf8))
    #expect(await outbox.take() == Array("als".utf8))
    #expect(outbox.takeLost() == 1)
  }

  /// Its beginning was sent before the link was lost.
  @Test(arguments: [true, false])
  func aPasteWhoseBeginningWasSentEnds(isWhole: Bool) async {
    let outbox = Outbox()
    await outbox.append(Self.beginning + Array("pas".utf8))
    #expect(await outbox.take() == Self.beginning + Array("pas".utf8))
    outbox.hold(.all)
    await outbox.append(Array("ted".utf8) + (isWhole ? Self.end : []))
    _ = outbox.drop(keepsReports: true)
    #expect(await outbox.take() == Self.end)
    await outbox.append((isWhole ? [] : Array("more".utf8) + Self.end) + Array("ls".utf8))
    #expect(await outbox.take() == Array("ls".utf8))
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
