import Testing

@testable import BridgeAgentHost

@Suite("A host leaves the agents of a machine that it does not reach to others")
struct MachineReachTests {
  private let timing = AgentHostTiming(reach: .seconds(10))

  @Test func ofAMachineWithoutAWaitNothingIsKnown() {
    var reach = MachineReach(timing)
    #expect(reach.delay(on: "m", at: .zero) == .zero)
    #expect(reach.delay(on: nil, at: .zero) == .zero)
    _ = reach.begin("a", on: "other", at: .zero)
    #expect(reach.delay(on: "m", at: .seconds(100)) == .zero)
  }

  /// A link that is there opens a channel within some round trips.
  @Test func onceASessionHasWaitedForASecondOthersComeFirst() {
    var reach = MachineReach(timing)
    let wait = reach.begin("a", on: "m", at: .zero)
    #expect(wait.limit == .seconds(10))
    #expect(reach.delay(on: "m", at: .milliseconds(999)) == .zero)
    #expect(reach.delay(on: "m", at: .seconds(1)) == .seconds(2))
    reach.end(wait, isReached: true)
    #expect(reach.delay(on: "m", at: .seconds(1)) == .zero)
  }

  @Test func theSessionsThatWaitAreKnownByAgentAndThoseThatWaitForLong() throws {
    var reach = MachineReach(timing)
    let first = reach.begin("a", on: "m", at: .seconds(1))
    let second = reach.begin("b", on: "m", at: .seconds(2))
    #expect(reach.waiting == ["a": first, "b": second])
    #expect(!reach.isLate(first, at: .milliseconds(1999)) && reach.isLate(first, at: .seconds(2)))
    #expect(!reach.isLate(second, at: .seconds(2)))
    reach.end(first, isReached: true)
    #expect(reach.waiting == ["b": second])
    // One that was given up before waits on.
    reach.giveUp(second)
    reach.end(second, isReached: false)
    #expect(reach.waiting.isEmpty)
    #expect(reach.isLate(reach.begin("b", on: "m", at: .seconds(30)), at: .seconds(30)))
  }

  @Test func whatWasGivenUpIsLeftToOthersUntilTheMachineAnswers() {
    var reach = MachineReach(timing)
    let wait = reach.begin("a", on: "m", at: .zero)
    reach.giveUp(wait)
    reach.end(wait, isReached: false)
    #expect(reach.delay(on: "m", at: .seconds(3600)) == .seconds(2))
    reach.end(reach.begin("a", on: "m", at: .zero), isReached: true)
    #expect(reach.delay(on: "m", at: .seconds(3600)) == .zero)
  }

  @Test func agentsOfAMachineThatNoHostReachesMoveEverMoreRarely() {
    var reach = MachineReach(timing)
    var limits: [Duration] = []
    for _ in 0..<7 {
      let wait = reach.begin("a", on: "m", at: .zero)
      limits.append(wait.limit)
      reach.giveUp(wait)
      reach.end(wait, isReached: false)
    }
    #expect(limits == [10, 20, 40, 80, 160, 320, 320].map { .seconds($0) })
    reach.end(reach.begin("a", on: "m", at: .zero), isReached: true)
    #expect(reach.begin("a", on: "m", at: .zero).limit == .seconds(10))
  }

  @Test func theAgentsOfAMachineThatAreGivenUpTogetherAreOneRound() {
    var reach = MachineReach(timing)
    let waits = (0..<50).map { _ in reach.begin("a", on: "m", at: .zero) }
    for wait in waits {
      reach.giveUp(wait)
      reach.end(wait, isReached: false)
    }
    #expect(reach.begin("a", on: "m", at: .zero).limit == .seconds(20))
  }

  /// As of a shut-down, or of an agent that another host has.
  @Test func aWaitThatIsCanceledSaysNothing() {
    var reach = MachineReach(timing)
    reach.end(reach.begin("a", on: "m", at: .zero), isReached: false)
    #expect(reach.delay(on: "m", at: .seconds(3600)) == .zero)
  }
}
