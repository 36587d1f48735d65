/// Writes what brings a terminal to cells, with the least that its style and character sets need.
struct ScreenWriter {
  private(set) var output: [UInt8] = []
  private let table: CellTable
  private var style = CellStyle()
  private var charsets = TerminalScreen.Charsets()

  /// Whether text that wrapped is written so that it wraps: a terminal takes it for one line.
  private let joinsLines: Bool

  /// - Parameter style: the one that the terminal writes with.
  init(_ table: CellTable, joinsLines: Bool, style: CellStyle = CellStyle()) {
    (self.table, self.joinsLines, self.style) = (table, joinsLines, style)
  }

  mutating func write(_ text: String) { output += text.utf8 }
  mutating func write(_ bytes: [UInt8]) { output += bytes }

  mutating func move(row: Int, column: Int) { write("\u{1B}[\(row + 1);\(column + 1)H") }

  mutating func set(_ new: CellStyle) {
    guard new != style else { return }
    output += new.rendition(from: style)
    let isProtected = new.attributes.contains(.protected)
    if isProtected != style.attributes.contains(.protected) {
      write(isProtected ? "\u{1B}[1\"q" : "\u{1B}[0\"q")
    }
    if new.link != style.link {
      write("\u{1B}]8;")
      output += new.link == 0 ? [UInt8(ascii: ";")] : table.links[Int(new.link)]
      write("\u{1B}\\")
    }
    style = new
  }

  mutating func set(_ new: TerminalScreen.Charsets) {
    for (slot, set) in new.sets.enumerated() where set != charsets.sets[slot] {
      output += [0x1B, UInt8(ascii: "(") + UInt8(slot)]
      if set > 0xFF { output.append(UInt8(set >> 8)) }
      output.append(UInt8(set & 0xFF))
    }
    if new.active != charsets.active {
      output += [[0x0F], [0x0E], Array("\u{1B}n".utf8), Array("\u{1B}o".utf8)][new.active]
    }
    charsets = new
  }

  mutating func write(_ cell: ScreenCell) {
    guard !cell.isTail else { return }
    set(table.styles[cell.style])
    table.append(cell, to: &output)
  }

  mutating func write(_ scalar: UInt32) { table.append(ScreenCell(scalar, style: 0), to: &output) }

  /// Writes the rows of a grid, and so many lines above them, into a blank screen from its first
  /// cell on.
  mutating func draw(_ grid: CellGrid, history: Int) {
    let history = min(max(history, 0), grid.historyCount)
    var last = grid.rows - 1
    while history == 0, last >= 0, grid.isBlank(last) { last -= 1 }
    guard last >= 0 else { return }
    for row in -history...last {
      draw(row, of: grid)
      guard row < last else { break }
      if goesOn(row, in: grid) { continue }
      // A line that comes in has the background in use.
      if !style.background.isDefault { set(CellStyle()) }
      output += [0x0D, 0x0A]
    }
    set(CellStyle())
  }

  /// Writes a row of a grid in place of what the terminal shows there.
  mutating func paint(_ row: Int, of grid: CellGrid) {
    move(row: row, column: 0)
    write("\u{1B}[2K")
    draw(row, of: grid)
    set(CellStyle())
  }

  /// Whether the text of a row wraps into the next one when it is written. A line that comes in has
  /// the background of the character that wraps.
  private func goesOn(_ row: Int, in grid: CellGrid) -> Bool {
    let next = grid[row + 1, 0]
    return joinsLines && grid.isWrapped(row) && !grid[row, grid.columns - 1].isBlank
      && !next.isBlank
      && table.styles[next.style].background.isDefault
  }

  private static let shortestJump = 6

  private mutating func draw(_ row: Int, of grid: CellGrid) {
    let length = grid.length(row)
    var column = 0
    while column < length {
      let run = blanks(in: grid, row, from: column, to: length)
      if run >= Self.shortestJump, column + run == grid.columns, grid[row, column].style != 0 {
        let blankStyle = table.styles[grid[row, column].style]
        if blankStyle == blankStyle.erased {
          set(blankStyle)
          return write("\u{1B}[K")
        }
      }
      if run >= Self.shortestJump, grid[row, column] == .blank {
        write("\u{1B}[\(run)C")
        column += run
      } else {
        for index in column..<column + max(run, 1) { write(grid[row, index]) }
        column += max(run, 1)
      }
    }
  }

  /// How many blanks of one style follow.
  private func blanks(in grid: CellGrid, _ row: Int, from start: Int, to end: Int) -> Int {
    let first = grid[row, start]
    guard first.isBlank else { return 0 }
    var index = start
    while index < end, grid[row, index] == first { index += 1 }
    return index - start
  }
}
