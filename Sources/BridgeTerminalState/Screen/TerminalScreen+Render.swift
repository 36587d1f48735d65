// What brings a fresh terminal of this size into this state.
extension TerminalScreen {
  /// Output after which a terminal of this size shows the same, and does the same with all that
  /// follows. What the terminal showed before leaves it at the top.
  /// - Parameter history: the most lines above the screen that are written.
  public func render(history: Int = .max) -> [UInt8] { render(history: history, joinsLines: true) }

  private func render(history: Int, joinsLines: Bool) -> [UInt8] {
    var writer = ScreenWriter(table, joinsLines: joinsLines)
    writer.write("\r" + String(repeating: "\n", count: rows - 1) + "\u{1B}[H\u{1B}[J")
    let main = isAlternate ? other : grid
    let alternate = isAlternate ? grid : other
    let keyboard = state.modes.keyboard
    if !isAlternate,
      !(alternate?.isBlank ?? true) || (saved.alternate ?? Cursor()) != Cursor()
        || !keyboard.alternate.isEmpty
    {
      // Where it was left by mode 47 it is shown again.
      writer.write("\u{1B}[?1049h")
      if let alternate { writer.draw(alternate, history: 0) }
      save(saved.alternate, on: alternate, &writer)
      writer.write(keyboard.alternate.restore)
      writer.write("\u{1B}[?47l\u{1B}[H")
    }
    writer.write(keyboard.main.restore)
    if let main { writer.draw(main, history: history) }
    if isAlternate {
      // Entering saves the cursor.
      put(saved.main ?? Cursor(), on: main, &writer)
      writer.write("\u{1B}[?1049h")
      undo(saved.main ?? Cursor(), &writer)
      writer.write("\u{1B}[H\u{1B}[J")
      writer.write(keyboard.alternate.restore)
      writer.draw(grid, history: 0)
    }
    save(saved[isAlternate: isAlternate], on: grid, &writer)
    renderSettings(&writer)
    putLast(&writer)
    return writer.output + decoder.pending + scanner.prefix
  }

  private func save(_ cursor: Cursor?, on grid: CellGrid?, _ writer: inout ScreenWriter) {
    // The first cell, where none was saved.
    guard let cursor, cursor != Cursor() else { return }
    put(cursor, on: grid, &writer)
    writer.write("\u{1B}7")
    undo(cursor, &writer)
  }

  /// Puts a cursor to be saved, while there are no margins.
  private func put(_ cursor: Cursor, on grid: CellGrid?, _ writer: inout ScreenWriter) {
    if cursor.hasOrigin { writer.write("\u{1B}[?6h") }
    place(cursor, on: grid, &writer, row: cursor.row, column: cursor.column)
    writer.set(cursor.style)
    writer.set(cursor.charsets)
  }

  /// Takes back what `put` has set.
  private func undo(_ cursor: Cursor, _ writer: inout ScreenWriter) {
    if cursor.hasOrigin { writer.write("\u{1B}[?6l") }
    writer.set(CellStyle())
    writer.set(Charsets())
  }

  /// Goes to a place; where a wrap is pending, the character there is written again.
  private func place(
    _ cursor: Cursor, on grid: CellGrid?, _ writer: inout ScreenWriter, row: Int, column: Int
  ) {
    guard let grid, cursor.isWrapPending, !grid[cursor.row, cursor.column].isWide else {
      return writer.move(row: row, column: column)
    }
    let (cell, first) = character(at: cursor.column, in: cursor.row, of: grid)
    writer.move(row: row, column: column - (cursor.column - first))
    writer.write(cell)
  }

  /// The character of a cell that is no first half, and its column.
  private func character(at column: Int, in row: Int, of grid: CellGrid) -> (ScreenCell, Int) {
    let cell = grid[row, column]
    return cell.isTail && column > 0 ? (grid[row, column - 1], column - 1) : (cell, column)
  }

  /// All that is neither cells nor cursor.
  private func renderSettings(_ writer: inout ScreenWriter) {
    if tabStops[..<columns] != Self.initialTabStops[..<columns] {
      writer.write("\u{1B}[3g")
      for column in 0..<columns where tabStops[column] {
        writer.write("\u{1B}[\(column + 1)G\u{1B}H")
      }
    }
    var settings = state.modes
    settings.alternate = nil
    settings.cursor = .unknown
    (settings.keyboard.main, settings.keyboard.alternate) = (KeyboardFlags(), KeyboardFlags())
    (settings.region, settings.margins, settings.rendition) = ([], [], [])
    (settings.charsets, settings.shift) = ([:], 0)
    for mode in [6, 2026] { settings.privates.set(mode, false) }
    settings.privates.set(7, true)
    settings.ansi.remove(4)
    writer.write(settings.restore)
    if margins.top > 0 || margins.bottom < rows - 1 {
      writer.write("\u{1B}[\(margins.top + 1);\(margins.bottom + 1)r")
    }
    if !margins.isWide(columns) {
      writer.write("\u{1B}[\(margins.left + 1);\(margins.right + 1)s")
    }
  }

  /// The cursor, and the modes that would have changed how it got there.
  func putLast(_ writer: inout ScreenWriter) {
    if cursor.hasOrigin { writer.write("\u{1B}[?6h") }
    let (top, left) = cursor.hasOrigin ? (margins.top, margins.left) : (0, 0)
    let (row, column) = (max(cursor.row - top, 0), max(cursor.column - left, 0))
    let last = repeated
    if let last {
      writer.move(row: row, column: column - (cursor.column - last.column))
    } else {
      place(cursor, on: grid, &writer, row: row, column: column)
    }
    putModes(&writer, replacesLast: last != nil)
    if let last { writer.write(last.cell) }
  }

  /// How the cursor writes.
  ///
  /// - Parameter replacesLast: whether a character that is there is written again then.
  func putModes(_ writer: inout ScreenWriter, replacesLast: Bool = false) {
    writer.set(cursor.style)
    writer.set(cursor.charsets)
    if inserts {
      if replacesLast { writer.write("\u{1B}[P") }
      writer.write("\u{1B}[4h")
    }
    if !wraps { writer.write("\u{1B}[?7l") }
    if modeValue(2026, initial: false) { writer.write("\u{1B}[?2026h") }
    if let singleShift { writer.write(singleShift == 2 ? "\u{1B}N" : "\u{1B}O") }
  }

  /// The character that REP would repeat, before the cursor: it is written again, as the last one.
  /// Not a wide one that moves others: xterm fills what it moves away with another color.
  private var repeated: (cell: ScreenCell, column: Int)? {
    let before = cursor.column - (cursor.isWrapPending ? 0 : 1)
    let first = cursor.hasOrigin ? margins.left : 0
    // The character set would make another one of it.
    guard cursor.charsets.isASCII ? lastScalar > 0 : lastScalar >= 0x80, before >= first,
      wraps || !cursor.isWrapPending,
      !grid[cursor.row, before].isWide
    else { return nil }
    let (cell, column) = character(at: before, in: cursor.row, of: grid)
    let isLast =
      column >= first && !cell.isCluster && !(inserts && cell.isWide) && cell.content == lastScalar
      && table.styles[cell.style] == cursor.style
    return isLast ? (cell, column) : nil
  }
}

extension TerminalScreen: Equatable {
  /// Whether both show the same and do the same with what follows, but REP. Lines above the screen,
  /// and which lines are one for a selection, are not looked at.
  public static func == (left: TerminalScreen, right: TerminalScreen) -> Bool {
    guard left.rows == right.rows, left.columns == right.columns,
      left.isAlternate == right.isAlternate, left.position == right.position,
      left.cursor.isWrapPending == right.cursor.isWrapPending
    else { return false }
    var (left, right) = (left, right)
    (left.lastScalar, right.lastScalar) = (0, 0)
    return left.render(history: 0, joinsLines: false)
      == right.render(history: 0, joinsLines: false)
  }
}
