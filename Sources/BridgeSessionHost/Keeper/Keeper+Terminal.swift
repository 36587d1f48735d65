import BridgeSessionProtocol
import BridgeTerminalState

extension Keeper {
  /// What a terminal answers to DA1: a VT220 with color, which is all that is promised.
  private static let identity = Array("\u{1B}[?62;22c".utf8)
  /// Programs miss a change of the size that follows the last one at once (measured with emacs).
  private static let redrawDelay: Milliseconds = 50

  /// Follows the modes of the terminal. With no client attached the keeper answers what the
  /// terminal is: some shells wait ten seconds for that.
  func track(_ bytes: [UInt8]) {
    let before = tracker.identityQueries
    tracker.track(bytes)
    let asked = tracker.identityQueries > before
    if asked, server.machine.attachedCount == 0 { program.answer(Self.identity) }
  }

  /// Sets the size. A full-screen program redraws only when the size changes, so a terminal that
  /// shows nothing yet gets another size first; in line mode that would only repeat the prompt.
  func resize(to size: WindowSize, at now: Milliseconds) {
    redraw = nil
    // The client's terminal has this size already, and never has the other one.
    checkpoint?.resize(to: size, at: server.journal.newest)
    guard server.takeNewScreen(), tracker.isAlternateScreen, size.rows > 1 else {
      return program.resize(size)
    }
    var other = size
    other.rows -= 1
    program.resize(other)
    redraw = (now + Self.redrawDelay, size)
  }
}
