import Testing

@testable import BridgeAgentHost

@Suite("What a server allows on a connection is learned") struct ChannelPoolTests {
  private static func take(_ pool: inout ChannelPool, _ count: Int) -> [ChannelPool.Place] {
    (0..<count).map { _ in pool.take() }
  }

  private static func refuse(_ pool: inout ChannelPool, _ number: Int) -> Bool {
    pool.refuse(number)
  }

  @Test func aConnectionIsUsedUntilItRefuses() {
    var pool = ChannelPool(most: 2)
    #expect(
      Self.take(&pool, 3) == [.another(0), .connection(0), .connection(0)])
    #expect(Self.refuse(&pool, 0) && pool.learned == 2)
    // What was learned holds for the next one, too.
    #expect(Self.take(&pool, 3) == [.another(1), .connection(1), .full])
    pool.release(0)
    #expect(Self.take(&pool, 2) == [.connection(0), .full])
  }

  @Test func aRefusalOfTheFirstIsForNoOther() {
    var pool = ChannelPool(most: 2)
    #expect(Self.take(&pool, 1) == [.another(0)])
    #expect(!Self.refuse(&pool, 0) && pool.learned == nil)
    #expect(Self.take(&pool, 2) == [.connection(0), .connection(0)])
  }

  @Test func manyAtOnceAreSpreadByTheirRefusals() {
    var pool = ChannelPool(most: 8)
    var waiting = Self.take(&pool, 7).map { place -> Int in
      switch place {
      case .connection(let number), .another(let number): number
      case .full: -1
      }
    }
    var open: [Int: Int] = [:]
    while let number = waiting.popLast() {
      guard open[number, default: 0] == 3 else {
        open[number, default: 0] += 1
        continue
      }
      #expect(Self.refuse(&pool, number))
      switch pool.take() {
      case .connection(let number), .another(let number): waiting.insert(number, at: 0)
      case .full: Issue.record("there may be more connections")
      }
    }
    #expect(open.values.sorted() == [1, 3, 3])
  }
}
