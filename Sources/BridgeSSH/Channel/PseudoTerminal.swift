/// A terminal to request from the server (RFC 4254, 6.2).
public struct PseudoTerminal: Sendable, Equatable {
  /// The terminal's type, as in `TERM`.
  public var type: String
  /// Its size at the start.
  public var size: TerminalSize
  /// Its modes as in RFC 4254, 8, without the end: an opcode (1 byte) and its argument (4 bytes),
  /// in turn. Without any it has those of a new terminal of the server.
  public var modes: [UInt8]

  /// A terminal of `type`.
  public init(
    type: String = "xterm-256color", size: TerminalSize = TerminalSize(), modes: [UInt8] = []
  ) {
    self.type = type
    self.size = size
    self.modes = modes
  }
}
