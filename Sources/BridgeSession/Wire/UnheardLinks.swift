package import BridgeErrors
import BridgeWaiting

/// Links of one run that ended over a command before anything answered it.
///
/// There are devices that end the connection after any command (Cisco IOS: "Line has invalid
/// autocommand"): it is no outage that so many links in a row end so, and dialing again helps
/// nothing. A host that printed something else before may have run a forced command: it is not
/// asked again. One that is known to have `bridge-host` is asked more often: that its links end is
/// an outage, unless it goes on.
package final class UnheardLinks: Sendable {
  private enum State {
    case unheard(Silence)
    case heard
  }

  private struct Silence {
    /// How many links ended so.
    var links = 0
    /// Whether the host has answered an earlier run.
    var isExpected = false
    /// What else came, at the end.
    var printed: [UInt8] = []

    /// How many may end so.
    var limit: Int { isExpected ? 6 : printed.isEmpty ? 3 : 1 }

    var reason: String {
      let ended =
        links == 1
        ? "it ended the connection when it was asked for bridge-host"
        : "\(links) connections ended when it was asked for bridge-host"
      let text = String(decoding: printed, as: UTF8.self).trimmedLines
      return text.isEmpty ? ended : "\(ended); it printed: \(text)"
    }
  }

  private let state = Mutex(State.unheard(Silence()))

  /// None yet.
  package init() {}

  /// Whether so many ended that another one is pointless.
  package var areTooMany: Bool {
    guard case .unheard(let silence) = state.withLock({ $0 }) else { return false }
    return silence.links >= silence.limit
  }

  /// The host is known to have answered an earlier run.
  package func expect() { change { $0.isExpected = true } }

  /// An answer came.
  package func hear() { state.withLock { $0 = .heard } }

  /// This, where it is anything, came on a link that ended before the answer.
  package func hearOthers(_ printed: some Sequence<UInt8>) {
    let printed = Array(printed)
    if !printed.isEmpty { change { $0.printed = printed.suffix(300) } }
  }

  /// A link ended over the command that was to be answered.
  ///
  /// - Returns: `durableSessionHostUnusable` where that was one too many.
  package func lose(host: String) -> AppError? {
    guard let silence = change({ $0.links += 1 }), silence.links >= silence.limit else {
      return nil
    }
    return .durableSessionHostUnusable(host: host, reason: silence.reason)
  }

  /// Returns what it is then; nil where something has answered.
  @discardableResult private func change(_ body: (inout Silence) -> Void) -> Silence? {
    state.withLock { state in
      guard case .unheard(var silence) = state else { return nil }
      body(&silence)
      state = .unheard(silence)
      return silence
    }
  }
}
