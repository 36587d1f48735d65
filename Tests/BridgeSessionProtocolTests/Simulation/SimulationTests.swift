import BridgeSessionProtocol
import Testing

@Suite struct SimulationTests {
  /// 2,000 seeds: connections lost at any byte and noticed late, clients killed between storing
  /// and committing and between recording and writing, a second client that takes over.
  @Test(arguments: UInt64(0)..<40)
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
