import BridgeSessionProtocol
import Foundation
import Testing

@Suite struct SimulationTests {
  /// Each of 50 seeds: 800 in all, 2,000 by `scripts/soak --seeds`.
  private static let blocks: UInt64 =
    ProcessInfo.processInfo.environment["SIMULATION_SEEDS"] == nil ? 16 : 40

  /// Connections lost at any byte and noticed late, clients killed between storing and committing
  /// and between recording and writing, a second client that takes over.
  @Test(arguments: 0..<blocks)
  func outputArrivesOnceInOrderOrAsAGapAndInputOnce(block: UInt64) {
    for seed in (block * 50)..<(block * 50 + 50) {
      var simulation = Simulation(seed: seed)
      let failure = simulation.run()
      #expect(failure == nil, "seed \(seed): \(failure ?? "")")
    }
  }

  /// The faults are there: without this the test above could pass for a network without any.
  @Test func theSeedsContainEveryFault() {
    var (cuts, kills, takeovers, gaps, lateHellos) = (0, 0, 0, 0, 0)
    for seed in UInt64(1)..<50 {
      var simulation = Simulation(seed: seed)
      _ = simulation.run()
      cuts += simulation.counts.cuts
      kills += simulation.counts.kills
      takeovers += simulation.counts.takeovers
      lateHellos += simulation.counts.lateHellos
      gaps += simulation.clients[0].store.gaps.count
    }
    #expect(cuts > 500)
    #expect(kills > 50)
    #expect(takeovers > 10)
    #expect(lateHellos > 50)
    #expect(gaps > 3)
  }
}
