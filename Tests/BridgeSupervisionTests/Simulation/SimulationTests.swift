import Foundation
import Testing

/// Which seeds are run: `SIMULATION_SEEDS=FIRST+COUNT`, as `scripts/soak` sets it for long runs.
enum SimulatedSeeds {
  static let range: Range<UInt64> = {
    let words = ProcessInfo.processInfo.environment["SIMULATION_SEEDS"]?.split(separator: "+")
    let numbers = words?.compactMap { UInt64($0) } ?? []
    guard numbers.count == 2 else { return 0..<600 }
    return numbers[0]..<numbers[0] + numbers[1]
  }()

  /// The seeds in as many parts as may run side by side.
  static let parts: [Range<UInt64>] = {
    let size = max(1, (UInt64(range.count) + 15) / 16)
    return stride(from: range.lowerBound, to: range.upperBound, by: UInt64.Stride(size)).map {
      $0..<min($0 + size, range.upperBound)
    }
  }()

  /// A seed is good for one configuration only: the optimizer removes hops between executors.
  static let configuration: String = {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }()
}

@Suite struct SimulationTests {
  @Test(arguments: SimulatedSeeds.parts)
  func whateverBreaksAllIsWellAgain(seeds: Range<UInt64>) {
    for seed in seeds {
      let violations = Simulation.violations(seed: seed)
      #expect(
        violations.isEmpty,
        "seed \(seed), \(SimulatedSeeds.configuration): scripts/soak --seed \(seed)")
    }
  }

  @Test func aSeedRepeatsToTheLastEvent() {
    for seed in UInt64(0)..<20 {
      let first = Simulation.trace(seed: seed)
      #expect(first == Simulation.trace(seed: seed), "seed \(seed)")
      #expect(!first.isEmpty)
    }
  }
}
