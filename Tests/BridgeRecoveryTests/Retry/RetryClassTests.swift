import BridgeErrors
import BridgeRecovery
import Testing

/// The words for a retry class have the numbers of the recovery policy.
@Suite struct RetryClassTests {
  private func seconds(_ time: Duration) -> Int { Int(time / .seconds(1)) }

  @Test func theirExplanationsHaveTheDefaults() {
    let soon = seconds(RecoveryDefaults.unansweredCap)
    #expect(RetryClass.reconnectSoon.explanation == "reconnects, at most \(soon) s between tries")
    let cap = seconds(RecoveryDefaults.reconnectCap)
    #expect(RetryClass.reconnect.explanation == "reconnects, with backoff to \(cap) s")
    let least = seconds(RecoveryDefaults.throttledBase)
    let most = seconds(RecoveryDefaults.throttledCap) / 60
    let later = RetryClass.reconnectLater.explanation
    #expect(later.contains(" after \(least) s ") && later.hasSuffix(" to \(most) min"))
  }

  @Test func operationsAreRepeatedAfterTheDelaysOfThePolicy() {
    var (progress, generator) = (RetryProgress(), SeededGenerator(seed: 1))
    var delays: [Int] = []
    while let delay = RetryPolicy.standard.next(&progress, pace: .normal, using: &generator) {
      delays.append(seconds(delay))
    }
    let words = delays.dropLast().map { "\($0)" }.joined(separator: ", ")
    let last = delays.last.map { "\($0)" } ?? ""
    #expect(
      RetryClass.repeatOperation.explanation == "tries again after \(words) and \(last) s")
  }
}
