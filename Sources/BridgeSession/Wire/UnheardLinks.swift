package import BridgeErrors
import BridgeWaiting

/// Links of one run that ended over a command before anything answered it.
///
/// There are devices that end the connection after any command (Cisco IOS: "Line has invalid
/// autocommand"): it is no outage that so many links in a row end so, and dialing again helps
/// nothing.
package final class UnheardLinks: Sendable {
  /// nil once something has answered.
  private let count = Mutex<Int?>(0)
  private static let limit = 3

  /// None yet.
  package init() {}

  /// Whether so many ended that another one is pointless.
  package var areTooMany: Bool { count.withLock { ($0 ?? 0) >= Self.limit } }

  /// An answer came.
  package func hear() { count.withLock { $0 = nil } }

  /// A link ended over the command that was to be answered.
  ///
  /// - Returns: `durableSessionHostUnusable` where that was one too many.
  package func lose(host: String) -> AppError? {
    count.withLock { $0 = $0.map { $0 + 1 } }
    guard areTooMany else { return nil }
    return .durableSessionHostUnusable(
      host: host, reason: "\(Self.limit) connections ended when it was asked for bridge-host")
  }
}
