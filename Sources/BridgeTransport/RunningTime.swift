/// Time in which this process runs: one that was stopped, or whose machine was, takes what came
/// meanwhile before it calls its peer silent.
package enum RunningTime {
  /// A limit is counted in so many parts, one after the other: a stop counts as one at most.
  package static let parts = 16
}

extension Clock where Duration == Swift.Duration {
  /// Sleeps for `limit` of the time in which this process runs.
  package func sleep(whileRunning limit: Duration) async throws {
    for _ in 0..<RunningTime.parts { try await self.sleep(for: limit / RunningTime.parts) }
  }
}
