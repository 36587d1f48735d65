/// A terminal to request from the server (RFC 4254, 6.2).
public struct PseudoTerminal: Sendable, Equatable {
  /// The terminal's type, as in `TERM`.
  public var type: String
  /// Its size at the start.
  public var size: TerminalSize
  /// Its modes as in RFC 4254, 8, without the end: an opcode (1 byte) and its argument (4 bytes),
  /// in turn. Without any it has those of a new terminal of the server.
  public var modes: [UInt8]
  /// Whether nothing is started where the server gives no terminal (PermitTTY of sshd); else a
  /// program is started without one, as ssh(1) does where none was asked for by `-t`.
  public var isRequired: Bool

  /// A terminal of `type`.
  public init(
    type: String = "xterm-256color", size: TerminalSize = TerminalSize(), modes: [UInt8] = [],
    isRequired: Bool = true
  ) {
    self.type = type
    self.size = size
    self.modes = modes
    self.isRequired = isRequired
  }
}
