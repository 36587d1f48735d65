import BridgeSessionProtocol
import BridgeWaiting

/// Which machine a run copies to or from, and which home directory it has: under one name there may
/// be several.
package final class CopySite: Sendable {
  private struct State {
    var known: FileSite?
    /// Whether a source of the run is in place there.
    var hasCopied = false
  }

  private let state = Mutex(State())

  /// Not known yet.
  package init() {}

  /// A source is in place.
  func settle() { state.withLock { $0.hasCopied = true } }

  /// A host answers. Whether it can go on: where nothing is in place any can.
  ///
  /// - Parameter isBound: whether something of the source is in place, or comes at the same time.
  func enter(_ site: FileSite, isBound: Bool) -> Bool {
    state.withLock { state in
      let isOther = state.known.map { !site.isSame(as: $0) } ?? false
      guard !isOther || !isBound && !state.hasCopied else { return false }
      state.known = site
      return true
    }
  }
}
