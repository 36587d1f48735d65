import Foundation

/// A terminal and its other end (openpty(3)).
struct TerminalPair {
  let controller: Int32
  let terminal: Int32

  /// Nil where there is none.
  init?() {
    var (controller, terminal): (Int32, Int32) = (-1, -1)
    guard unsafe openpty(&controller, &terminal, nil, nil, nil) == 0 else { return nil }
    (self.controller, self.terminal) = (controller, terminal)
  }

  /// Each byte comes as it is typed.
  func makeRaw() {
    var modes = termios()
    _ = unsafe tcgetattr(terminal, &modes)
    unsafe cfmakeraw(&modes)
    _ = unsafe tcsetattr(terminal, TCSANOW, &modes)
  }

  func type(_ bytes: [UInt8]) { _ = unsafe write(controller, bytes, bytes.count) }

  func close() {
    Foundation.close(controller)
    Foundation.close(terminal)
  }
}
