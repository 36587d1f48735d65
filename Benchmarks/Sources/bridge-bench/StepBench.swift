import BridgeRecovery
import BridgeSupervision

/// One run of `bridge-bench steps`: what must not allocate, so often that one a step would show.
struct StepBench {
  private let count: Int

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count == 2, arguments[0] == "steps", let count = Int(arguments[1]), count > 0
    else { return nil }
    self.count = count
  }

  func callAsFunction() async {
    var generator = SeededGenerator(seed: 1)
    var progress = RetryProgress()
    let policy = RetryPolicy.persistent
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1)
    var sum = 0
    // Made once: its context is the caller's to allocate.
    let operation: @Sendable () async throws -> Int = { 1 }
    for _ in 0..<count {
      progress.reset()
      sum &+= policy.next(&progress, pace: .normal, using: &generator) == nil ? 0 : 1
      sum &+= (try? await supervisor.run(.idempotent, operation)) ?? 0
    }
    report([("steps", Double(count)), ("sum", Double(sum))])
  }
}
