import BridgeErrors
import BridgeRecovery

/// When a database that has failed is tried again, and when its callers are no longer kept waiting.
struct PostgresRecovery: Sendable {
  private enum Phase: Sendable {
    case up
    case down(since: Moment, reason: String)
  }

  private let policy = RetryPolicy.persistent
  private let timeout: Duration
  private var progress = RetryProgress()
  private var phase = Phase.up

  /// A database that is up; requests wait for `timeout` once it is down.
  init(timeout: Duration) { self.timeout = timeout }

  /// It has failed; returns when it is tried again.
  mutating func fail(
    _ reason: String, at now: Moment, using generator: inout some RandomNumberGenerator
  ) -> Moment {
    let since = if case .down(let since, _) = phase { since } else { now }
    phase = .down(since: since, reason: reason)
    // The policy has no end of retries.
    return now + (policy.next(&progress, pace: .unanswered, using: &generator) ?? .zero)
  }

  /// A transaction was made.
  mutating func succeed() {
    phase = .up
    progress.reset()
  }

  /// When the requests that wait are given up; nil where it is up.
  var end: Moment? {
    guard case .down(let since, _) = phase else { return nil }
    return since + timeout
  }

  /// Why the requests that wait are given up now; nil where they are not.
  func reasonToGiveUp(at now: Moment) -> String? {
    guard case .down(_, let reason) = phase, let end, now >= end else { return nil }
    return reason
  }
}
