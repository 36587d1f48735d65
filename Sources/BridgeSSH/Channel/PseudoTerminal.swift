/// A terminal to request from the server (RFC 4254, 6.2).
public struct PseudoTerminal: Sendable, Equatable {
  /// The terminal's type, as in `TERM`.
  public var type: String
  /// Its size at the start.
  public var size: TerminalSize

  /// A terminal of `type`.
  public init(type: String = "xterm-256color", size: TerminalSize = TerminalSize()) {
    self.type = type
    self.size = size
  }
}
