package import BridgeErrors
import BridgeWaiting

/// Links of one run that ended over a command before anything answered it.
///
/// There are devices that end the connection after any command (Cisco IOS: "Line has invalid
/// autocommand"): it is no outage that so many links in a row end so, and dialing again helps
/// nothing. A host that printed something else before may have run a forced command: it is not
/// asked again.
package final class UnheardLinks: Sendable {
  private enum State {
    /// Nothing has answered on so many links; `printed` is true where something else came.
    case unheard(links: Int, printed: Bool)
    case heard
  }

  private let state = Mutex(State.unheard(links: 0, printed: false))
  private static let limit = 3

  /// None yet.
  package init() {}

  /// Whether so many ended that another one is pointless.
  package var areTooMany: Bool { state.withLock { Self.areTooMany($0) } }

  private static func areTooMany(_ state: State) -> Bool {
    guard case .unheard(let links, let printed) = state else { return false }
    return links >= (printed ? 1 : limit)
  }

  /// An answer came.
  package func hear() { state.withLock { $0 = .heard } }

  /// Something else came on a link that ended before the answer.
  package func hearOthers() {
    state.withLock { state in
      guard case .unheard(let links, _) = state else { return }
      state = .unheard(links: links, printed: true)
    }
  }

  /// A link ended over the command that was to be answered.
  ///
  /// - Returns: `durableSessionHostUnusable` where that was one too many.
  package func lose(host: String) -> AppError? {
    state.withLock { state in
      guard case .unheard(let links, let printed) = state else { return nil }
      state = .unheard(links: links + 1, printed: printed)
      guard Self.areTooMany(state) else { return nil }
      let reason =
        printed
        ? "it printed something else and ended the connection when it was asked for bridge-host"
        : "\(Self.limit) connections ended when it was asked for bridge-host"
      return .durableSessionHostUnusable(host: host, reason: reason)
    }
  }
}
