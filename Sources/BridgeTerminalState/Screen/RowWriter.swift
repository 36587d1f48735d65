/// Writes into the row of a terminal's cursor, from where that is: the terminal may count the
/// columns of other characters in it otherwise.
struct RowWriter {
  private var writer: ScreenWriter
  /// The terminal's rendition, before and after.
  private let style: CellStyle
  private var column: Int

  init(_ table: CellTable, _ style: CellStyle, column: Int) {
    writer = ScreenWriter(table, joinsLines: false, style: style)
    (self.style, self.column) = (style, column)
  }

  /// Writes a cell of one column; a blank one is erased, as long as REP need not repeat it.
  mutating func write(_ cell: ScreenCell, at target: Int, isRepeated: Bool = false) {
    move(to: target)
    guard cell == .blank, !isRepeated else {
      writer.write(cell)
      column += 1
      return
    }
    writer.set(CellStyle())
    // ECH, which leaves the cursor.
    writer.write("\u{1B}[X")
  }

  /// Writes a character of one column.
  mutating func write(_ scalar: UInt32, _ style: CellStyle, at target: Int) {
    move(to: target)
    writer.set(style)
    writer.write(scalar)
    column += 1
  }

  /// Goes to the column of the cursor.
  /// - Returns: all that was written.
  mutating func end(at target: Int) -> [UInt8] {
    move(to: target)
    writer.set(style)
    return writer.output
  }

  private mutating func move(to target: Int) {
    if target < column { writer.write("\u{1B}[\(column - target)D") }
    if target > column { writer.write("\u{1B}[\(target - column)C") }
    column = target
  }
}
