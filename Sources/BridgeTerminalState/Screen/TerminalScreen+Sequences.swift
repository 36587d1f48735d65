// What each sequence does to the screen (ECMA-48; xterm's "Control Sequences").
extension TerminalScreen {
  mutating func applyCSI(_ bytes: ArraySlice<UInt8>) {
    if !decoder.isEmpty { control(0) }
    // Only a rendition has values that colons join.
    guard !parameters.hasSubvalues || parameters.final == UInt8(ascii: "m") else { return }
    switch (parameters.marker, parameters.intermediate) {
    case (0, 0): applyPlain(bytes)
    case (UInt8(ascii: "?"), 0): applyPrivate(bytes)
    case (0, UInt8(ascii: "!")) where parameters.final == UInt8(ascii: "p"): softReset(bytes)
    case (0, UInt8(ascii: "\"")) where parameters.final == UInt8(ascii: "q"):
      let isProtected = parameters[0] == 1
      if isProtected {
        cursor.style.attributes.insert(.protected)
      } else {
        cursor.style.attributes.remove(.protected)
      }
      restyle()
    case (0, UInt8(ascii: " ")) where parameters.final == UInt8(ascii: "@"): shiftColumns(-1)
    case (0, UInt8(ascii: " ")) where parameters.final == UInt8(ascii: "A"): shiftColumns(1)
    case (0, UInt8(ascii: "'")): applyColumns()
    case (0, UInt8(ascii: "$")):
      relyOnRows()
      applyRectangle()
    case (_, 0xFF): break
    case _: state.track(bytes)
    }
  }

  private mutating func applyPlain(_ bytes: ArraySlice<UInt8>) {
    let count = parameters.positive(0)
    switch parameters.final {
    case UInt8(ascii: "m"):
      cursor.style.apply(parameters)
      restyle()
    case UInt8(ascii: "H"), UInt8(ascii: "f"):
      addressRow()
      move(row: count - 1, column: parameters.positive(1) - 1)
    case UInt8(ascii: "A"): moveUp(count)
    case UInt8(ascii: "B"), UInt8(ascii: "e"): moveDown(count)
    case UInt8(ascii: "C"), UInt8(ascii: "a"): moveRight(count)
    case UInt8(ascii: "D"): moveLeft(count)
    case UInt8(ascii: "E"):
      moveDown(count)
      carriageReturn()
    case UInt8(ascii: "F"):
      moveUp(count)
      carriageReturn()
    case UInt8(ascii: "G"), UInt8(ascii: "`"): move(row: relativeRow, column: count - 1)
    case UInt8(ascii: "d"):
      addressRow()
      move(row: count - 1, column: relativeColumn)
    case UInt8(ascii: "I"): tab(count)
    case UInt8(ascii: "Z"): tab(-count)
    case UInt8(ascii: "J"): eraseDisplay(parameters[0] ?? 0)
    case UInt8(ascii: "K"): eraseLine(parameters[0] ?? 0)
    case UInt8(ascii: "X"):
      cursor.isWrapPending = false
      let end = min(cursor.column + count, columns)
      grid.fill(cursor.row, from: cursor.column, to: end, blankWord)
    case UInt8(ascii: "b"): repeatLast(count)
    // A report of where the cursor is (DSR).
    case UInt8(ascii: "n"): relyOnRows()
    case UInt8(ascii: "c"), UInt8(ascii: "t"): break
    case _: applyEdit(bytes, count)
    }
  }

  private mutating func applyEdit(_ bytes: ArraySlice<UInt8>, _ count: Int) {
    let isInside = isInMargins
    switch parameters.final {
    case UInt8(ascii: "@"):
      cursor.isWrapPending = false
      guard isInside || margins.isWide(columns) else { return }
      grid.insertCells(cursor.row, at: cursor.column, right: editEnd, count: count, blankWord)
    case UInt8(ascii: "P"):
      cursor.isWrapPending = false
      guard isInside || margins.isWide(columns) else { return }
      grid.deleteCells(cursor.row, at: cursor.column, right: editEnd, count: count, blankWord)
    case UInt8(ascii: "L"), UInt8(ascii: "M"):
      guard isInside else { return }
      relyOnRows()
      var area = margins
      area.top = cursor.row
      if parameters.final == UInt8(ascii: "L") {
        grid.scrollDown(area, count: count, blankWord)
      } else {
        grid.scrollUp(area, count: count, blankWord, keeps: false)
      }
      (cursor.column, cursor.isWrapPending) = (margins.left, false)
    case UInt8(ascii: "S"):
      relyOnRows()
      grid.scrollUp(margins, count: count, blankWord)
    case UInt8(ascii: "T"), UInt8(ascii: "^"):
      // Of all counts only this one may be 0.
      guard parameters.count <= 1, parameters[0] != 0 else { return }
      relyOnRows()
      grid.scrollDown(margins, count: count, blankWord)
    case UInt8(ascii: "g"):
      if parameters[0] ?? 0 == 0 { tabStops[cursor.column] = false }
      if parameters[0] == 3 { tabStops = tabStops.map { _ in false } }
    case UInt8(ascii: "r"): setRows()
    case UInt8(ascii: "s"): if hasColumnMargins { setColumns() } else { saveCursor() }
    case UInt8(ascii: "u"): returnCursor()
    case UInt8(ascii: "h"), UInt8(ascii: "l"):
      state.track(bytes)
      followModes()
    case _: break
    }
  }

  private var editEnd: Int { margins.right }

  private var isInMargins: Bool {
    (margins.top...margins.bottom).contains(cursor.row)
      && (margins.left...margins.right).contains(cursor.column)
  }

  // MARK: The cursor

  /// The number of the style that is written, and of the one that erasing leaves.
  mutating func restyle() {
    dropUnused()
    styleWord = UInt64(table.number(of: cursor.style)) << ScreenCell.styleShift
    let erased = cursor.style.background.isDefault ? 0 : table.number(of: cursor.style.erased)
    blankWord = UInt64(erased) << ScreenCell.styleShift | ScreenCell.blankWord
  }

  private var relativeRow: Int { cursor.row - (cursor.hasOrigin ? margins.top : 0) }
  private var relativeColumn: Int { cursor.column - (cursor.hasOrigin ? margins.left : 0) }

  /// Goes to a place, within the margins in origin mode.
  mutating func move(row: Int, column: Int) {
    cursor.isWrapPending = false
    if cursor.hasOrigin {
      cursor.row = min(max(row + margins.top, margins.top), margins.bottom)
      cursor.column = min(max(column + margins.left, margins.left), margins.right)
    } else {
      cursor.row = min(max(row, 0), rows - 1)
      cursor.column = min(max(column, 0), columns - 1)
    }
  }

  mutating func addressRow() {
    if !isAlternate { rowRelation.address(isBlank: grid.isBlank) }
  }

  mutating func relyOnRows() { if !isAlternate { rowRelation.rely() } }

  private mutating func moveUp(_ count: Int) {
    cursor.isWrapPending = false
    let top = cursor.row >= margins.top ? margins.top : 0
    if !isAlternate { rowRelation.goUp(count, from: cursor.row) }
    cursor.row = max(cursor.row - count, top)
  }

  private mutating func moveDown(_ count: Int) {
    cursor.isWrapPending = false
    let bottom = cursor.row <= margins.bottom ? margins.bottom : rows - 1
    if cursor.row + count > bottom { relyOnRows() }
    cursor.row = min(cursor.row + count, bottom)
  }

  private mutating func moveRight(_ count: Int) {
    cursor.isWrapPending = false
    let right = cursor.column <= margins.right ? margins.right : columns - 1
    cursor.column = min(cursor.column + count, right)
  }

  private mutating func moveLeft(_ count: Int) {
    cursor.isWrapPending = false
    let left = cursor.column >= margins.left ? margins.left : 0
    cursor.column = max(cursor.column - count, left)
  }

  private mutating func setRows() {
    let (top, bottom) = (parameters.positive(0) - 1, min(parameters[1] ?? rows, rows) - 1)
    let last = parameters[1] == 0 ? rows - 1 : bottom
    guard top < last else { return }
    (margins.top, margins.bottom) = (top, last)
    addressRow()
    move(row: 0, column: 0)
  }

  private mutating func setColumns() {
    let last = min(parameters[1].map { $0 == 0 ? columns : $0 } ?? columns, columns) - 1
    let left = parameters.positive(0) - 1
    guard left < last else { return }
    relyOnRows()
    (margins.left, margins.right) = (left, last)
    move(row: 0, column: 0)
  }

  mutating func saveCursor() {
    relyOnRows()
    saved[isAlternate: isAlternate] = cursor
    if !isAlternate { saved.isAligned = rowRelation.isAligned }
  }

  /// Goes back to where it was saved. The terminal goes to that row of its own, whose text may have
  /// left since.
  mutating func returnCursor() {
    relyOnRows()
    guard saved[isAlternate: isAlternate] != nil else {
      // Home.
      addressRow()
      return restoreCursor()
    }
    let row = cursor.row
    restoreCursor()
    guard !isAlternate, cursor.row != row else { return }
    rowRelation.returnTo(isAligned: saved.isAligned)
  }

  mutating func restoreCursor() {
    cursor = saved[isAlternate: isAlternate] ?? Cursor()
    (cursor.row, cursor.column) = (min(cursor.row, rows - 1), min(cursor.column, columns - 1))
    state.modes.privates.set(6, cursor.hasOrigin)
    restyle()
  }

  // MARK: Erasing

  private mutating func eraseDisplay(_ kind: Int) {
    if kind == 2 || (kind == 0 && (cursor.row, cursor.column) == (0, 0)) {
      clears += 1
      if !isAlternate { rowRelation.clear(isWhole: kind == 2) }
    }
    switch kind {
    case 0:
      eraseLine(0)
      grid.clear(cursor.row + 1..<rows, blankWord)
    case 1:
      grid.clear(0..<cursor.row, blankWord)
      eraseLine(1)
    case 2: eraseAll()
    case 3: if !isAlternate { grid.clearHistory() }
    case _: break
    }
  }

  mutating func eraseAll() {
    cursor.isWrapPending = false
    grid.clear(0..<rows, blankWord)
  }

  private mutating func eraseLine(_ kind: Int) {
    let row = cursor.row
    switch kind {
    case 0: grid.fill(row, from: cursor.column, to: columns, blankWord)
    case 1: grid.fill(row, from: 0, to: cursor.column + 1, blankWord)
    case 2: grid.fill(row, from: 0, to: columns, blankWord)
    case _: return
    }
    cursor.isWrapPending = false
  }

  /// DECSED and DECSEL: what is protected stays.
  mutating func eraseSelectively(_ kind: Int, isLine: Bool) {
    let start = kind == 0 ? (cursor.row, cursor.column) : (isLine ? cursor.row : 0, 0)
    let end =
      kind == 1 ? (cursor.row, cursor.column + 1) : (isLine ? cursor.row : rows - 1, columns)
    guard (0...2).contains(kind) else { return }
    cursor.isWrapPending = false
    for row in start.0...end.0 {
      let (first, last) = (row == start.0 ? start.1 : 0, row == end.0 ? end.1 : columns)
      for column in first..<last {
        let style = table.styles[grid[row, column].style]
        guard !style.attributes.contains(.protected) else { continue }
        grid.fill(row, from: column, to: column + 1, blankWord)
      }
    }
  }

  // MARK: Columns and rectangles

  /// SL and SR: the columns of the region go left or right.
  private mutating func shiftColumns(_ direction: Int) {
    guard isInMargins else { return }
    shiftColumns(from: margins.left, parameters.positive(0) * direction)
  }

  private mutating func shiftColumns(from left: Int, _ count: Int) {
    for row in margins.top...margins.bottom {
      if count > 0 {
        grid.insertCells(row, at: left, right: margins.right, count: count, blankWord)
      } else {
        grid.deleteCells(row, at: left, right: margins.right, count: -count, blankWord)
      }
    }
  }

  /// DECIC and DECDC.
  private mutating func applyColumns() {
    guard isInMargins else { return }
    switch parameters.final {
    case UInt8(ascii: "}"): shiftColumns(from: cursor.column, parameters.positive(0))
    case UInt8(ascii: "~"): shiftColumns(from: cursor.column, -parameters.positive(0))
    case _: break
    }
  }

  /// DECBI and DECFI: a step left or right; at the margin the columns of the region go on.
  mutating func stepColumn(_ direction: Int) {
    let edge = direction < 0 ? margins.left : margins.right
    if cursor.column != edge {
      if direction < 0 { moveLeft(1) } else { moveRight(1) }
    } else if isInMargins {
      shiftColumns(from: margins.left, -direction)
    }
  }

  /// DECERA and DECFRA.
  private mutating func applyRectangle() {
    let (start, blank): (Int, UInt64)
    switch parameters.final {
    case UInt8(ascii: "z"): (start, blank) = (0, blankWord)
    case UInt8(ascii: "x"):
      guard let byte = parameters[0], (0x20...0x7E).contains(byte) else { return }
      (start, blank) = (1, UInt64(byte) | styleWord)
    case _: return
    }
    let (top, left) = (cursor.hasOrigin ? margins.top : 0, cursor.hasOrigin ? margins.left : 0)
    let first = (parameters.positive(start) - 1 + top, parameters.positive(start + 1) - 1 + left)
    let last = (
      min((parameters[start + 2] ?? rows) + top, rows) - 1,
      min((parameters[start + 3] ?? columns) + left, columns)
    )
    guard first.0 <= last.0 else { return }
    for row in first.0...last.0 { grid.fill(row, from: first.1, to: last.1, blank) }
  }
}

extension CellGrid.Area {
  func isWide(_ columns: Int) -> Bool { left == 0 && right == columns - 1 }
}
