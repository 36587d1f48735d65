import BridgeErrors
import BridgeStore
import BridgeWaiting

/// The answers that a store has and agents are not known to have, for the work of all agents of a
/// host.
final class StoredAnswers: Sendable {
  private struct State {
    var decided: [String: [StoredApproval]] = [:]
    var readers = 0
  }

  private let state = Mutex(State())
  private let changes = Changes()

  /// Whether any work waits for answers.
  var hasReaders: Bool { state.withLock { $0.readers > 0 } }

  /// The store has these now, by agent.
  func set(_ decided: [String: [StoredApproval]]) {
    let isNew = state.withLock { state in
      defer { state.decided = decided }
      return state.decided != decided
    }
    if isNew { changes.announce() }
  }

  /// Hands the answers to an agent's questions to `take`, each time that they are others, until the
  /// task is canceled or `take` throws.
  func follow(
    _ agent: String, _ take: ([StoredApproval]) async throws(AppError) -> Void
  ) async throws(AppError) {
    state.withLock { $0.readers += 1 }
    defer { state.withLock { $0.readers -= 1 } }
    while true {
      let version = changes.version
      try await take(state.withLock { $0.decided[agent] ?? [] })
      try await changes.wait(after: version)
    }
  }
}
