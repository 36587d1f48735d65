import BridgeErrors
import BridgeRecovery
import Testing

@Suite struct RetryBudgetTests {
  private let start = Moment.now
  private var budget: RetryBudget

  init() {
    budget = RetryBudget(at: start)
  }

  @Test mutating func tenDialsEmptyIt() {
    for _ in 1...10 { #expect(budget.admit(at: start) == .granted(charge: 10)) }
    #expect(budget.tokens(at: start) == 0)
    #expect(budget.admit(at: start) == .refused(until: start + .seconds(30)))
  }

  @Test mutating func oneTokenComesBackInThreeSeconds() {
    for _ in 1...10 { _ = budget.admit(at: start) }
    #expect(budget.tokens(at: start + .milliseconds(2_999)) == 0)
    #expect(budget.tokens(at: start + .seconds(3)) == 1)
    #expect(budget.tokens(at: start + .seconds(29)) == 9)
    #expect(budget.tokens(at: start + .seconds(10_000)) == 100)
  }

  @Test mutating func partsOfATokenAreNotLostByAsking() {
    for _ in 1...10 { _ = budget.admit(at: start) }
    for second in 1...29 { _ = budget.admit(at: start + .seconds(second)) }
    #expect(budget.tokens(at: start + .seconds(30)) == 10)
  }

  @Test mutating func oneProbeInThirtySecondsIsAlwaysAllowed() {
    for _ in 1...10 { _ = budget.admit(at: start) }
    budget.settle(charge: 10, at: .throttled)
    let later = start + .seconds(10)
    #expect(budget.admit(at: later) == .refused(until: start + .seconds(15)))
    #expect(budget.admit(at: start + .seconds(30)) == .granted(charge: 10))
    #expect(budget.admit(at: start + .seconds(59)) == .granted(charge: 10))
    #expect(budget.admit(at: start + .seconds(60)) == .refused(until: start + .seconds(75)))
  }

  @Test(arguments: zip(DialCost.allCases, [50, 45, 40, 40]))
  func aFailedDialIsSettledAtItsCost(cost: DialCost, left: Int) {
    var budget = budget
    for _ in 1...6 { _ = budget.admit(at: start) }
    budget.settle(charge: 10, at: cost)
    #expect(budget.tokens(at: start) == left)
  }

  @Test mutating func anAnsweredDialFillsTheBucket() {
    for _ in 1...6 { _ = budget.admit(at: start) }
    budget.refill()
    #expect(budget.tokens(at: start) == 100)
  }

  @Test mutating func aForcedDialTakesWhatIsThereAndNoMore() {
    for _ in 1...10 { _ = budget.admit(at: start) }
    #expect(budget.admit(at: start, forced: true) == .granted(charge: 0))
    budget.settle(charge: 0, at: .throttled)
    #expect(budget.tokens(at: start) == 0)
  }

  private func settle(
    _ charge: Int, of budget: inout RetryBudget, using generator: inout SeededGenerator
  ) {
    guard let cost = (DialCost.allCases + [nil]).randomElement(using: &generator) else { return }
    if let cost { budget.settle(charge: charge, at: cost) } else { budget.refill() }
  }

  @Test func itIsNeverNegativeNorOverfullWhateverHappens() {
    for seed in UInt64(0)..<200 {
      var generator = SeededGenerator(seed: seed)
      var budget = RetryBudget(at: start)
      var now = start
      var charges: [Int] = []
      for _ in 0..<200 {
        now += .milliseconds(Int.random(in: 0...4_000, using: &generator))
        if Bool.random(using: &generator), case .granted(let charge) = budget.admit(at: now) {
          charges.append(charge)
        } else if let charge = charges.popLast() {
          settle(charge, of: &budget, using: &generator)
        }
        #expect((0...100).contains(budget.tokens(at: now)), "seed \(seed)")
      }
    }
  }
}
