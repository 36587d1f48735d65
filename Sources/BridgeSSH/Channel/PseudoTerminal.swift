/// The size of a terminal, in characters.
public struct TerminalSize: Sendable, Equatable {
  /// Characters in a row.
  public var columns: Int
  /// Rows.
  public var rows: Int

  /// `columns` × `rows`; what is not in 1…65535 counts as 80 × 24.
  public init(columns: Int = 80, rows: Int = 24) {
    self.columns = (1...65_535).contains(columns) ? columns : 80
    self.rows = (1...65_535).contains(rows) ? rows : 24
  }
}

/// A terminal to ask the server for (RFC 4254, 6.2).
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
