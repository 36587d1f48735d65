import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// How a run that was started for it goes to the background: once it is logged in, and its ports
/// are open where they must be.
final class Detachment: Sendable {
  private struct State {
    var isLoggedIn = false
    var arePortsOpen: Bool
    var isDone = false
  }

  private let descriptor: Int32
  private let isIdle: Bool
  private let state: Mutex<State>

  /// A run that says so by a byte to `descriptor`; one that is idle needs no output after it.
  init(to descriptor: Int32, isIdle: Bool, waitsForForwards: Bool) {
    self.descriptor = descriptor
    self.isIdle = isIdle
    state = Mutex(State(arePortsOpen: !waitsForForwards))
  }

  /// The login has succeeded.
  func loggedIn(_ reporter: Reporter) { change(reporter) { $0.isLoggedIn = true } }

  /// The host listens on every port.
  func portsAreOpen(_ reporter: Reporter) { change(reporter) { $0.arePortsOpen = true } }

  private func change(_ reporter: Reporter, _ body: (inout State) -> Void) {
    let isDue = state.withLock { state in
      body(&state)
      guard state.isLoggedIn, state.arePortsOpen, !state.isDone else { return false }
      state.isDone = true
      return true
    }
    if isDue { detach(reporter) }
  }

  /// Leaves the terminal: its signals, and what would be drawn on it.
  private func detach(_ reporter: Reporter) {
    Foreground.leaveSession()
    if reporter.style.isTerminal {
      reporter.progress(nil)
      reporter.set(.quiet)
    }
    // As ssh: what is asked for by -v and --json still comes.
    let saysMore = reporter.style.isJSON || reporter.style.loudness == .verbose
    Foreground.report(to: descriptor, closing: isIdle ? (saysMore ? [1] : [1, 2]) : [])
  }
}
