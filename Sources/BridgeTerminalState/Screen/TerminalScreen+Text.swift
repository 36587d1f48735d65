// What is printed, and the controls that move the cursor.
extension TerminalScreen {
  /// The last column that text goes to from the cursor.
  private var rightEnd: Int { cursor.column > margins.right ? columns - 1 : margins.right }

  /// Prints the ASCII text that begins at `start`; the index behind it.
  mutating func printASCII(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var end = start
    while end < bytes.endIndex, bytes[end] >= 0x20, bytes[end] < 0x80 { end += 1 }
    guard cursor.charsets.isASCII, singleShift == nil, !inserts else {
      for byte in bytes[start..<end] { printScalar(UInt32(byte)) }
      return end
    }
    var index = start
    while index < end {
      // DEL is not printed.
      var stop = index
      while stop < end, bytes[stop] != 0x7F { stop += 1 }
      if stop > index { printRun(bytes[index..<stop]) }
      index = stop + 1
    }
    return end
  }

  private mutating func printRun(_ text: ArraySlice<UInt8>) {
    var index = text.startIndex
    while index < text.endIndex {
      if cursor.isWrapPending { wrap() }
      let right = rightEnd
      let count = min(right - cursor.column + 1, text.endIndex - index)
      grid.write(
        text[index..<index + count], row: cursor.row, column: cursor.column, style: styleWord,
        blankWord)
      index += count
      advance(count, right)
    }
    lastScalar = UInt32(text[text.endIndex - 1])
  }

  private mutating func advance(_ count: Int, _ right: Int) {
    cursor.column += count
    guard cursor.column > right else { return }
    (cursor.column, cursor.isWrapPending) = (right, true)
  }

  /// Goes to the next line, where lines wrap.
  private mutating func wrap() {
    cursor.isWrapPending = false
    guard wraps else { return }
    let isWhole = cursor.column == columns - 1
    let row = cursor.row
    index(1)
    cursor.column = margins.left
    // The row may have scrolled up, even into the history.
    let before = cursor.row > row ? row : row - 1
    if isWhole, before >= 0 || (grid.historyCount > 0 && margins.top == 0) {
      grid.setWrapped(before, true)
    }
  }

  /// Decodes and prints up to the next ASCII byte.
  mutating func decode(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.endIndex, bytes[index] >= 0x80 || !decoder.isEmpty {
      switch decoder.take(bytes[index]) {
      case .more: index += 1
      case .scalar(let scalar):
        printScalar(scalar)
        index += 1
      case .invalid: printScalar(0xFFFD)
      }
    }
    return index
  }

  mutating func printScalar(_ scalar: UInt32) {
    let scalar = translated(scalar)
    switch CharacterWidth.of(scalar) {
    case 0: if scalar >= 0x300 { combine(scalar) }
    case let width: place(scalar, width)
    }
  }

  /// Of the character set in use.
  private mutating func translated(_ scalar: UInt32) -> UInt32 {
    let set = singleShift.map { cursor.charsets.sets[$0] } ?? cursor.charsets.current
    singleShift = nil
    guard scalar < 0x7F, set != Charsets.ascii else { return scalar }
    switch set {
    case UInt16(UInt8(ascii: "0")) where scalar >= 0x5F: return Self.graphics[Int(scalar) - 0x5F]
    case UInt16(UInt8(ascii: "A")) where scalar == 0x23: return 0xA3
    case _: return scalar
    }
  }

  /// DEC special graphics from the underscore on.
  private static let graphics: [UInt32] = [
    0x20, 0x25C6, 0x2592, 0x2409, 0x240C, 0x240D, 0x240A, 0xB0, 0xB1, 0x2424, 0x240B, 0x2518,
    0x2510, 0x250C, 0x2514, 0x253C, 0x23BA, 0x23BB, 0x2500, 0x23BC, 0x23BD, 0x251C, 0x2524, 0x2534,
    0x252C, 0x2502, 0x2264, 0x2265, 0x3C0, 0x2260, 0xA3, 0xB7,
  ]

  private mutating func place(_ scalar: UInt32, _ width: Int) {
    if cursor.isWrapPending { wrap() }
    var right = rightEnd
    if cursor.column + width - 1 > right {
      // A wide character has no space in the last column.
      guard wraps, right - margins.left + 1 >= width else { return }
      cursor.column = right
      wrap()
      right = rightEnd
    }
    let (row, column) = (cursor.row, cursor.column)
    if inserts {
      grid.insertCells(row, at: column, right: right, count: width, blankWord)
    }
    let style = Int(styleWord >> ScreenCell.styleShift)
    grid.cut(row, column, blankWord)
    if column + width < columns { grid.cut(row, column + width, blankWord) }
    grid[row, column] = ScreenCell(scalar, style: style, isWide: width == 2)
    if width == 2 { grid[row, column + 1] = .tail(style: style) }
    lastScalar = scalar
    advance(width, right)
  }

  /// Adds a mark to the character before the cursor.
  private mutating func combine(_ mark: UInt32) {
    var column = cursor.isWrapPending ? cursor.column : cursor.column - 1
    guard column >= 0, let scalar = Unicode.Scalar(mark) else { return }
    if grid[cursor.row, column].isTail, column > 0 { column -= 1 }
    let cell = grid[cursor.row, column]
    var bytes: [UInt8] = []
    table.append(cell, to: &bytes)
    bytes += Array(String(scalar).utf8)
    guard bytes.count <= CellTable.longestCluster else { return }
    dropUnused()
    guard let number = table.number(ofCluster: bytes) else { return }
    grid[cursor.row, column] = grid[cursor.row, column].withCluster(number)
  }

  /// REP.
  mutating func repeatLast(_ count: Int) {
    guard lastScalar > 0 else { return }
    let shift = cursor.charsets
    // It is repeated as it was shown.
    cursor.charsets = Charsets()
    for _ in 0..<min(count, rows * columns) { printScalar(lastScalar) }
    cursor.charsets = shift
  }

  // MARK: Controls

  mutating func control(_ byte: UInt8) {
    if !decoder.isEmpty {
      decoder = ScalarDecoder()
      printScalar(0xFFFD)
    }
    switch byte {
    case 0x07: bells += 1
    case 0x08: back()
    case 0x09: tab(1)
    case 0x0A, 0x0B, 0x0C:
      index(1)
      if hasNewLine { carriageReturn() }
    case 0x0D: carriageReturn()
    case 0x0E: cursor.charsets.active = 1
    case 0x0F: cursor.charsets.active = 0
    case _: break
    }
  }

  private mutating func back() {
    cursor.isWrapPending = false
    let left = cursor.column < margins.left ? 0 : margins.left
    if cursor.column > left { cursor.column -= 1 }
  }

  mutating func carriageReturn() {
    cursor.isWrapPending = false
    cursor.column = cursor.column < margins.left ? 0 : margins.left
  }

  /// To a tab stop, forward or back; in the last column a wrap that is pending stays so.
  mutating func tab(_ count: Int) {
    let right = rightEnd
    for _ in 0..<min(abs(count), columns) {
      if count > 0 {
        guard cursor.column < right else { return }
        cursor.column += 1
        while cursor.column < right, !tabStops[cursor.column] { cursor.column += 1 }
      } else {
        cursor.isWrapPending = false
        let left = cursor.hasOrigin ? margins.left : 0
        guard cursor.column > left else { return }
        cursor.column -= 1
        while cursor.column > left, !tabStops[cursor.column] { cursor.column -= 1 }
      }
    }
  }

  /// Whether the cursor's column scrolls.
  private var isInColumns: Bool {
    margins.left <= cursor.column && cursor.column <= margins.right
  }

  /// Goes down; at the end of the region its rows go up.
  mutating func index(_ count: Int) {
    cursor.isWrapPending = false
    for _ in 0..<min(count, rows) {
      if cursor.row != margins.bottom {
        if cursor.row < rows - 1 { cursor.row += 1 }
      } else if isInColumns {
        if !isAlternate { rowRelation.scroll(isPlain: blankWord == ScreenCell.blankWord) }
        grid.scrollUp(margins, count: 1, blankWord)
      }
    }
  }

  /// Goes up; at the start of the region its rows go down.
  mutating func reverseIndex() {
    cursor.isWrapPending = false
    if !isAlternate { rowRelation.goUp(1, from: cursor.row) }
    if cursor.row != margins.top {
      if cursor.row > 0 { cursor.row -= 1 }
    } else if isInColumns {
      grid.scrollDown(margins, count: 1, blankWord)
    }
  }
}
