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
