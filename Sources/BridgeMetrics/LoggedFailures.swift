import BridgeErrors
import BridgeRecovery

/// Which failures of links have a line of the log: each kind once in an outage. A server that is
/// down is dialed twice a second, and a log of that hides all else.
struct LoggedFailures: Sendable {
  private var kinds: [String: Set<String>] = [:]

  /// Whether this failure of a link has a line.
  mutating func isNew(_ error: AppError, _ context: FailureContext?, of link: String) -> Bool {
    let kind = context.map { "\($0.kind) \($0.phase)" } ?? error.caseName
    return kinds[link, default: []].insert(kind).inserted
  }

  /// The link is up, or gone.
  mutating func end(_ link: String) { kinds[link] = nil }
}
