/// The cells of one screen, and the lines that have left it at the top.
struct CellGrid: Sendable {
  /// Rows and columns that something happens to.
  struct Area {
    var top: Int
    var bottom: Int
    var left: Int
    var right: Int
  }

  private(set) var rows: Int
  private(set) var columns: Int
  private let historyLimit: Int
  /// Rows in any order.
  private(set) var cells: [UInt64]
  /// Whether the text of a row goes on in the next one.
  private var wraps: [Bool]
  /// Where each row of the screen lies in `cells`, in rows.
  private var slots: [Int32]
  /// The same of the lines above the screen: a ring.
  private var history: [Int32] = []
  private var historyStart = 0
  /// What a narrower size has cut off, by slot: a program whose terminal becomes as wide again has
  /// not always drawn it anew.
  private var tails: [Int: Tail] = [:]
  /// Rows that a lower size has cut off at the bottom, from the top: as long as nothing scrolls.
  private var below: [[UInt64]] = []

  private struct Tail {
    /// The column of its first cell.
    var start: Int
    var cells: [UInt64]
  }

  init(rows: Int, columns: Int, historyLimit: Int) {
    (self.rows, self.columns, self.historyLimit) = (rows, columns, historyLimit)
    cells = Array(repeating: ScreenCell.blankWord, count: rows * columns)
    wraps = Array(repeating: false, count: rows)
    slots = (0..<Int32(rows)).map { $0 }
  }

  var historyCount: Int { history.count }

  /// The index of a row's first cell; a negative row is one of the history.
  @inline(__always) func base(_ row: Int) -> Int { slot(row) * columns }

  @inline(__always) private func slot(_ row: Int) -> Int {
    if row >= 0 { return Int(slots[row]) }
    return Int(history[(historyStart + history.count + row) % history.count])
  }

  subscript(row: Int, column: Int) -> ScreenCell {
    get { ScreenCell(word: cells[base(row) + column]) }
    set { cells[base(row) + column] = newValue.word }
  }

  func isWrapped(_ row: Int) -> Bool { wraps[slot(row)] }
  mutating func setWrapped(_ row: Int, _ isWrapped: Bool) { wraps[slot(row)] = isWrapped }

  /// How many cells of a row lie before the blanks at its end.
  func length(_ row: Int) -> Int {
    let base = base(row)
    var length = columns
    while length > 0, cells[base + length - 1] == ScreenCell.blankWord { length -= 1 }
    return length
  }

  /// Whether no row has anything.
  var isBlank: Bool { (0..<rows).allSatisfy(isBlank) }

  func isBlank(_ row: Int) -> Bool { length(row) == 0 }

  // MARK: Writing

  /// Writes ASCII of one style into cells of a row.
  @inline(__always) mutating func write(
    _ bytes: ArraySlice<UInt8>, row: Int, column: Int, style: UInt64, _ blank: UInt64
  ) {
    let base = base(row) + column
    cut(row, column, blank)
    if column + bytes.count < columns { cut(row, column + bytes.count, blank) }
    var index = base
    for byte in bytes {
      cells[index] = style | UInt64(byte)
      index += 1
    }
  }

  /// Clears a wide character whose second cell lies at `column`: its first cell is overwritten, or
  /// the second one is.
  @inline(__always) mutating func cut(_ row: Int, _ column: Int, _ blank: UInt64) {
    let index = base(row) + column
    guard ScreenCell(word: cells[index]).isTail, column > 0 else { return }
    cells[index - 1] = blank
    cells[index] = blank
  }

  mutating func fill(_ row: Int, from start: Int, to end: Int, _ blank: UInt64) {
    guard start < end else { return }
    cut(row, start, blank)
    if end < columns { cut(row, end, blank) }
    let base = base(row)
    for index in base + start..<base + end { cells[index] = blank }
    if end == columns { endLine(row) }
  }

  /// Nothing of the row goes on, neither in the next row nor in columns that were cut off.
  private mutating func endLine(_ row: Int) {
    setWrapped(row, false)
    if !tails.isEmpty { tails[slot(row)] = nil }
  }

  mutating func clear(_ rows: Range<Int>, _ blank: UInt64) {
    if rows.upperBound == self.rows { below = below.map { _ in [] } }
    for row in rows { fill(row, from: 0, to: columns, blank) }
  }

  mutating func clearHistory() {
    var kept = CellGrid(rows: rows, columns: columns, historyLimit: historyLimit)
    for row in 0..<rows { kept.copy(row, of: self, to: row) }
    kept.below = below
    self = kept
  }

  mutating func insertCells(_ row: Int, at column: Int, right: Int, count: Int, _ blank: UInt64) {
    let count = min(count, right - column + 1)
    let base = base(row)
    cut(row, column, blank)
    // What is pushed out may be half of a wide character.
    cut(row, right - count + 1, blank)
    if right + 1 < columns { cut(row, right + 1, blank) }
    var index = right
    while index >= column + count {
      cells[base + index] = cells[base + index - count]
      index -= 1
    }
    fill(row, from: column, to: column + count, blank)
    endLine(row)
  }

  mutating func deleteCells(_ row: Int, at column: Int, right: Int, count: Int, _ blank: UInt64) {
    let count = min(count, right - column + 1)
    let base = base(row)
    cut(row, column, blank)
    if column + count < columns { cut(row, column + count, blank) }
    if right + 1 < columns { cut(row, right + 1, blank) }
    var index = column
    while index + count <= right {
      cells[base + index] = cells[base + index + count]
      index += 1
    }
    fill(row, from: right - count + 1, to: right + 1, blank)
    endLine(row)
  }

  // MARK: Scrolling

  /// Moves rows up; what leaves the screen at its top becomes history.
  mutating func scrollUp(_ area: Area, count: Int, _ blank: UInt64, keeps: Bool = true) {
    let count = min(count, area.bottom - area.top + 1)
    guard area.left == 0, area.right == columns - 1 else {
      return moveColumns(area, by: count, blank)
    }
    if area.bottom == rows - 1 { below = [] }
    for _ in 0..<count {
      let isKept = keeps && area.top == 0 && historyLimit > 0
      let fresh = isKept ? exchange(slots[0]) : slots[area.top]
      var row = area.top
      while row < area.bottom {
        slots[row] = slots[row + 1]
        row += 1
      }
      slots[area.bottom] = fresh
      wipe(Int(fresh), blank)
    }
    // What goes on in a row that is gone.
    if area.top > 0 { setWrapped(area.top - 1, false) }
  }

  private mutating func wipe(_ slot: Int, _ blank: UInt64) {
    let base = slot * columns
    for index in base..<base + columns { cells[index] = blank }
    wraps[slot] = false
    if !tails.isEmpty { tails[slot] = nil }
  }

  /// Adds a row to the history, and returns one that is free.
  private mutating func exchange(_ slot: Int32) -> Int32 {
    guard history.count < historyLimit else {
      let oldest = history[historyStart]
      history[historyStart] = slot
      historyStart = (historyStart + 1) % historyLimit
      return oldest
    }
    history.append(slot)
    cells.append(contentsOf: repeatElement(ScreenCell.blankWord, count: columns))
    wraps.append(false)
    return Int32(wraps.count - 1)
  }

  mutating func scrollDown(_ area: Area, count: Int, _ blank: UInt64) {
    let count = min(count, area.bottom - area.top + 1)
    guard area.left == 0, area.right == columns - 1 else {
      return moveColumns(area, by: -count, blank)
    }
    if area.bottom == rows - 1 { below = [] }
    for _ in 0..<count {
      let fresh = slots[area.bottom]
      var row = area.bottom
      while row > area.top {
        slots[row] = slots[row - 1]
        row -= 1
      }
      slots[area.top] = fresh
      wipe(Int(fresh), blank)
    }
    if area.top > 0 { setWrapped(area.top - 1, false) }
    setWrapped(area.bottom, false)
  }

  /// Between left and right margins the cells themselves are moved.
  private mutating func moveColumns(_ area: Area, by count: Int, _ blank: UInt64) {
    for row in area.top...area.bottom {
      cut(row, area.left, blank)
      if area.right + 1 < columns { cut(row, area.right + 1, blank) }
      endLine(row)
    }
    let order = Array(area.top...area.bottom)
    for row in count > 0 ? order : order.reversed() {
      let source = row + count
      guard source >= area.top, source <= area.bottom else {
        fill(row, from: area.left, to: area.right + 1, blank)
        continue
      }
      let (to, from) = (base(row), base(source))
      for column in area.left...area.right { cells[to + column] = cells[from + column] }
    }
  }

  // MARK: Size

  /// A grid of another size without reflow, as xterm has it: columns are cut or added at the right;
  /// rows go at the top where the cursor would else be below the screen, and come back from there.
  /// What is cut off at the right and at the bottom comes back, too, where it was not erased.
  func resized(rows newRows: Int, columns newColumns: Int, cursor: Int) -> (CellGrid, shift: Int) {
    let back = min(max(newRows - rows, 0), below.count)
    let down = newRows > rows ? min(newRows - rows - back, historyCount) : 0
    let up = max(0, cursor - newRows + 1)
    let shift = down - up
    var grid = CellGrid(rows: newRows, columns: newColumns, historyLimit: historyLimit)
    let area = Area(top: 0, bottom: newRows - 1, left: 0, right: newColumns - 1)
    let last = min(rows, newRows - shift)
    for row in -historyCount..<last {
      guard row + shift < 0 else {
        grid.copy(row, of: self, to: row + shift)
        continue
      }
      guard historyLimit > 0 else { continue }
      grid.copy(row, of: self, to: 0)
      grid.scrollUp(area, count: 1, ScreenCell.blankWord)
    }
    for (index, cells) in below.prefix(back).enumerated() {
      grid.set(rows + shift + index, cells)
    }
    if last < rows || !below.isEmpty {
      grid.below = (max(last, 0)..<max(last, rows)).map(wholeRow) + below.dropFirst(back)
    }
    return (grid, shift)
  }

  private mutating func copy(_ row: Int, of other: CellGrid, to target: Int) {
    set(target, other.wholeRow(row))
    setWrapped(target, other.columns == columns && other.isWrapped(row))
  }

  /// Sets the cells of a row; those that it has no columns for are cut off.
  private mutating func set(_ target: Int, _ all: [UInt64]) {
    let to = base(target)
    for column in 0..<min(columns, all.count) { cells[to + column] = all[column] }
    // Of a wide character that is cut nothing shows; it comes back as a whole.
    let isCut = columns < all.count && ScreenCell(word: all[columns]).isTail
    if isCut { cells[to + columns - 1] = ScreenCell.blankWord }
    let tail = all.dropFirst(isCut ? columns - 1 : columns)
    if tail.contains(where: { $0 != ScreenCell.blankWord }) {
      tails[slot(target)] = Tail(start: tail.startIndex, cells: Array(tail))
    }
  }

  /// The cells of a row with those that were cut off.
  private func wholeRow(_ row: Int) -> [UInt64] {
    let base = base(row)
    var all = Array(cells[base..<base + columns])
    guard let tail = tails[slot(row)] else { return all }
    var rest = tail.cells[...]
    if tail.start < columns {
      if all.last == ScreenCell.blankWord {
        all.removeLast()
      } else {
        rest = [ScreenCell.blankWord] + rest.dropFirst(2)
      }
    }
    return all + rest
  }

  /// Replaces the numbers in all cells.
  mutating func renumber(_ move: inout CellTable.Move) {
    for index in cells.indices where cells[index] != ScreenCell.blankWord {
      cells[index] = move.cell(cells[index])
    }
    let renumbered = { (cells: [UInt64], move: inout CellTable.Move) in
      cells.map { $0 == ScreenCell.blankWord ? $0 : move.cell($0) }
    }
    tails = tails.mapValues { Tail(start: $0.start, cells: renumbered($0.cells, &move)) }
    below = below.map { renumbered($0, &move) }
  }
}
