import BridgeWaiting
import Testing

@Suite struct PromiseTests {
  @Test func anAnswerThatCameBeforeIsThere() async {
    let promise = Promise<Int>()
    promise.fulfill(1)
    #expect(await promise.value() == 1)
  }

  @Test func aCallerThatWaitsIsAnswered() async {
    let promise = Promise<Int>()
    let caller = Task { await promise.value() }
    promise.fulfill(2)
    #expect(await caller.value == 2)
  }

  @Test func theFirstAnswerCounts() async {
    let promise = Promise<Int>()
    #expect(promise.fulfill(1))
    #expect(!promise.fulfill(2))
    #expect(await promise.value() == 1)
  }

  /// Of the answers of many tasks exactly one is the first, and the caller receives it.
  @Test func oneOfManyAnswersIsTheFirst() async {
    for _ in 0..<1000 {
      let promise = Promise<Int>()
      let answered = await withTaskGroup(of: Int?.self) { group in
        for number in 0..<8 { group.addTask { promise.fulfill(number) ? number : nil } }
        return await group.reduce(into: [Int]()) { if let first = $1 { $0.append(first) } }
      }
      #expect(answered == [await promise.value()])
    }
  }

  @Test func cancellationDoesNotEndAWaitThatItsOwnerMustEnd() async {
    let promise = Promise<Int>()
    let canceled = Latch()
    let caller = Task {
      await withTaskCancellationHandler {
        await promise.value()
      } onCancel: {
        canceled.open()
      }
    }
    caller.cancel()
    await canceled.wait()
    promise.fulfill(3)
    #expect(await caller.value == 3)
  }

  @Test func aCanceledCallerReceivesWhatTheHandlerAnswers() async {
    let promise = Promise<Int>()
    let caller = Task { await promise.value { promise.fulfill(-1) } }
    caller.cancel()
    #expect(await caller.value == -1)
  }

  /// A handler that runs before the wait, and one that comes after the answer.
  @Test func cancellationBesideAnAnswerGivesOneOfTheTwo() async {
    for _ in 0..<1000 {
      let promise = Promise<Int>()
      let caller = Task { await promise.value { promise.fulfill(-1) } }
      let answering = Task { promise.fulfill(1) }
      caller.cancel()
      let isFirst = await answering.value
      #expect(await caller.value == (isFirst ? 1 : -1))
    }
  }
}
