import BridgeErrors
import BridgeSSH
import BridgeSessionProtocol
import BridgeTerminal

extension RunContext {
  /// The shell or command of `connect`, with the terminal that it wants.
  var connectSpec: SessionSpec {
    var spec = spec
    spec.isOnlyOfItsName = spec.name != nil && !request.startsAnother
    if request.start.keep == nil, spec.name == nil {
      spec.keep = spec.command == nil ? Self.shellKeep : Self.commandKeep
    }
    guard wantsTerminal else { return spec }
    spec.terminal = Array(terminalType.utf8)
    if let size = TerminalSize(of: 0) { spec.size = .init(size) }
    spec.modes = TerminalModes.encoded(of: 0)
    return spec
  }

  /// How long a command or a shell goes on whose client vanished without a word, in seconds.
  private static let commandKeep: UInt64 = 24 * 3600
  private static let shellKeep: UInt64 = 7 * 24 * 3600

  /// The host as the user typed it, with the options that lead there, for a command to copy.
  var shownHost: String { request.target }
}

extension WindowSize {
  init(_ size: TerminalSize) {
    self.init(columns: UInt16(clamping: size.columns), rows: UInt16(clamping: size.rows))
  }
}
