import BridgeErrors
import Testing

@testable import BridgeAgentHost

@Suite("A host knows what is wrong with its store") struct StoreWatchTests {
  private static let outage = AppError.storeUnusable(
    store: "s", problem: .unavailable(reason: "no answer"))

  /// A store to which requests were answered in turn, one a second from 0.
  private func watch(_ answers: AppError?...) -> StoreWatch {
    var watch = StoreWatch()
    for (second, answer) in answers.enumerated() {
      let number = watch.ask(at: .seconds(second))
      watch.answer(number, answer, at: .seconds(second))
    }
    return watch
  }

  @Test func aProblemLastsFromItsFirstErrorToTheNextAnswer() {
    let newer = AppError.databaseError(operation: "write", detail: "no")
    #expect(watch(nil).problem == nil)
    #expect(watch(nil, Self.outage).problem == .init(error: Self.outage, since: .seconds(1)))
    #expect(watch(Self.outage, newer).problem == .init(error: newer, since: .zero))
    #expect(
      watch(newer, Self.outage, nil, nil).problem
        == .init(error: Self.outage, since: .zero, end: .seconds(2)))
    #expect(
      watch(newer, nil, Self.outage).problem == .init(error: Self.outage, since: .seconds(2)))
  }

  /// Another host has the agent: the store has said so.
  @Test func aRefusalIsAnAnswer() {
    let refusal = AppError.agentTakenOver(agent: "a", by: "b")
    #expect(watch(refusal).problem == nil)
    #expect(watch(Self.outage, refusal).problem?.end == .seconds(1))
  }

  @Test func aRequestThatWasGivenUpSaysNothing() {
    #expect(watch(.cancelled).problem == nil)
    #expect(watch(Self.outage, .cancelled).problem?.end == nil)
  }

  @Test func theOldestRequestWithoutAnAnswerCounts() {
    var watch = StoreWatch()
    let first = watch.ask(at: .seconds(1))
    _ = watch.ask(at: .seconds(2))
    #expect(watch.silence(longerThan: .seconds(5), at: .seconds(6)) == nil)
    #expect(watch.silence(longerThan: .seconds(5), at: .seconds(7)) == .seconds(1))
    watch.answer(first, nil, at: .seconds(7))
    #expect(watch.silence(longerThan: .seconds(5), at: .seconds(7)) == nil)
    #expect(watch.silence(longerThan: .seconds(5), at: .seconds(8)) == .seconds(2))
  }
}
