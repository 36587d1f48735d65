// Modes, both screens, and what a reset leaves.
extension TerminalScreen {
  mutating func applyPrivate(_ bytes: ArraySlice<UInt8>) {
    switch parameters.final {
    case UInt8(ascii: "h"), UInt8(ascii: "l"):
      let isOn = parameters.final == UInt8(ascii: "h")
      for index in 0..<parameters.count { if let mode = parameters[index] { set(mode, isOn) } }
    case UInt8(ascii: "r"):
      state.track(bytes)
      if state.isAlternateScreen != isAlternate { switchScreen(to: !isAlternate) }
      followModes()
    case UInt8(ascii: "n"): relyOnRows()
    case UInt8(ascii: "J"): eraseSelectively(parameters[0] ?? 0, isLine: false)
    case UInt8(ascii: "K"): eraseSelectively(parameters[0] ?? 0, isLine: true)
    case UInt8(ascii: "W"): if parameters[0] == 5 { tabStops = Self.initialTabStops }
    case _: state.track(bytes)
    }
  }

  private mutating func set(_ mode: Int, _ isOn: Bool) {
    switch mode {
    case 47, 1047, 1048, 1049: return setScreen(mode, isOn)
    case _: state.setPrivate(mode, isOn)
    }
    switch mode {
    case 6:
      addressRow()
      followModes()
      move(row: 0, column: 0)
    case 69:
      relyOnRows()
      (margins.left, margins.right) = (0, columns - 1)
      followModes()
    case 7: wraps = isOn
    case 3: relyOnRows()
    case _: break
    }
  }

  private mutating func setScreen(_ mode: Int, _ isOn: Bool) {
    switch (mode, isOn) {
    case (1048, true): saveCursor()
    case (1048, false): returnCursor()
    case (1049, true):
      saveCursor()
      switchScreen(to: true)
      eraseAll()
    case (1049, false):
      let isReturn = isAlternate
      switchScreen(to: false)
      // Entering again by 1049 clears it.
      other = nil
      if isReturn { restoreCursor() } else { returnCursor() }
    case (1047, false):
      if isAlternate { eraseAll() }
      switchScreen(to: false)
      other = nil
    case _: switchScreen(to: isOn)
    }
  }

  private mutating func switchScreen(to isAlternate: Bool) {
    // Which keyboard stack is in use.
    state.modes.alternate = isAlternate ? 1049 : nil
    guard isAlternate != self.isAlternate else { return }
    relyOnRows()
    let next = other ?? CellGrid(rows: rows, columns: columns, historyLimit: 0)
    (other, grid, self.isAlternate) = (grid, next, isAlternate)
  }

  func modeValue(_ number: Int, initial: Bool) -> Bool { state.modes.privates[number] ?? initial }

  /// Takes over the modes that writing looks at.
  mutating func followModes() {
    wraps = modeValue(7, initial: true)
    hasColumnMargins = modeValue(69, initial: false)
    cursor.hasOrigin = modeValue(6, initial: false)
    inserts = state.modes.ansi.contains(4)
    hasNewLine = state.modes.ansi.contains(20)
  }

  mutating func softReset(_ bytes: ArraySlice<UInt8>) {
    state.track(bytes)
    followModes()
    margins = CellGrid.Area(top: 0, bottom: rows - 1, left: 0, right: columns - 1)
    (cursor.charsets, cursor.style, singleShift) = (Charsets(), CellStyle(), nil)
    saved[isAlternate: isAlternate] = nil
    restyle()
  }

  mutating func applyOSC(_ sequence: ControlSequence) {
    guard let (number, rest) = sequence.command else { return }
    guard number == 8 else { return state.track(sequence.terminated) }
    let isEnd = rest.elementsEqual(";".utf8) || rest.last == UInt8(ascii: ";")
    dropUnused()
    let isPrintable = rest.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    cursor.style.link = isEnd || !isPrintable ? 0 : table.number(ofLink: Array(rest))
    restyle()
  }

  mutating func applyEscape(_ sequence: ControlSequence) {
    if !decoder.isEmpty { control(0) }
    switch sequence.introducer {
    case UInt8(ascii: "c"): reset()
    case UInt8(ascii: "7"): saveCursor()
    case UInt8(ascii: "8"): returnCursor()
    case UInt8(ascii: "D"): index(1)
    case UInt8(ascii: "E"):
      index(1)
      carriageReturn()
    case UInt8(ascii: "M"): reverseIndex()
    case UInt8(ascii: "H"): tabStops[cursor.column] = true
    case UInt8(ascii: "N"): singleShift = 2
    case UInt8(ascii: "O"): singleShift = 3
    case UInt8(ascii: "n"): cursor.charsets.active = 2
    case UInt8(ascii: "o"): cursor.charsets.active = 3
    case UInt8(ascii: "6"): stepColumn(-1)
    case UInt8(ascii: "9"): stepColumn(1)
    case UInt8(ascii: "#"): if sequence.final == UInt8(ascii: "8") { align() }
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"):
      designate(sequence)
    case _: state.track(sequence.bytes)
    }
  }

  private mutating func designate(_ sequence: ControlSequence) {
    let rest = sequence.bytes.dropFirst(2)
    guard (1...2).contains(rest.count) else { return }
    let set = rest.count == 1 ? UInt16(rest[2]) : UInt16(rest[2]) << 8 | UInt16(rest[3])
    guard Self.isKnown(set) else { return }
    cursor.charsets.sets[Int(sequence.introducer - UInt8(ascii: "("))] = set
  }

  /// Whether xterm knows the set of these bytes; to designate another one does nothing. Programs
  /// designate one with each rendition: a switch costs nothing.
  private static func isKnown(_ set: UInt16) -> Bool {
    switch set {
    // 0 1 2 4 5 6 7 9 < = > A B C E H K Q R Y Z ` f
    case 0x30...0x32, 0x34...0x37, 0x39, 0x3C...0x3E, 0x41...0x43, 0x45, 0x48, 0x4B, 0x51, 0x52,
      0x59, 0x5A, 0x60, 0x66:
      true
    // %0 %2 %3 %5 %6 %=
    case 0x2530, 0x2532, 0x2533, 0x2535, 0x2536, 0x253D: true
    case _: false
    }
  }

  /// DECALN.
  private mutating func align() {
    relyOnRows()
    margins = CellGrid.Area(top: 0, bottom: rows - 1, left: 0, right: columns - 1)
    grid.clear(0..<rows, UInt64(UInt8(ascii: "E")))
    (cursor.row, cursor.column, cursor.isWrapPending) = (0, 0, false)
  }

  /// RIS.
  private mutating func reset() {
    self = TerminalScreen(rows: rows, columns: columns, history: historyLimit)
    rowRelation = .same(isAddressed: false)
  }

  /// Drops styles, links and clusters that no cell has any more, where there are many.
  mutating func dropUnused() {
    guard table.isDue else { return }
    var move = CellTable.Move(table)
    cursor.style = move.style(cursor.style)
    for isAlternate in [false, true] {
      guard var kept = saved[isAlternate: isAlternate] else { continue }
      kept.style = move.style(kept.style)
      saved[isAlternate: isAlternate] = kept
    }
    grid.renumber(&move)
    other?.renumber(&move)
    let cells = grid.cells.count + (other?.cells.count ?? 0)
    table = move.finish(cells: cells)
    styleWord = UInt64(table.number(of: cursor.style)) << ScreenCell.styleShift
    let erased = table.number(of: cursor.style.erased)
    blankWord = UInt64(erased) << ScreenCell.styleShift | ScreenCell.blankWord
  }
}
