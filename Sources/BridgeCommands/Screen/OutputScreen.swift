import BridgeTerminalState
import BridgeWaiting

/// The user's terminal as what was written to standard output has set it.
final class OutputScreen: Sendable {
  private let tracker = Mutex(TerminalState())

  /// Tracks what is written.
  func see(_ bytes: [UInt8]) { tracker.withLock { $0.track(bytes) } }

  /// Its state now.
  var state: TerminalState { tracker.withLock { $0 } }

  /// Whether a remote program has the whole screen to itself.
  var isFullScreen: Bool { tracker.withLock { $0.isFullScreen } }

  /// The sequences that give it back as it was; empty where none are needed, as the next time.
  func takeReset() -> String {
    tracker.withLock { tracker in
      defer { tracker = TerminalState() }
      return String(decoding: tracker.reset, as: UTF8.self)
    }
  }
}
