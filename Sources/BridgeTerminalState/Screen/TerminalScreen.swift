/// What a terminal shows after output: the cells of both screens, some lines above them, the cursor
/// and the modes. `render` brings a fresh terminal into the same state.
///
/// Where terminals differ it does as xterm does (its "Control Sequences"). A new size moves no text
/// to other lines. Of Unicode it knows the width of characters; a character of several that are
/// joined takes the cells of each, as without mode 2027.
public struct TerminalScreen: Sendable {
  /// Character sets, and which one is in use.
  struct Charsets: Sendable, Equatable {
    /// The final byte of each designation, with its intermediate byte above.
    var sets: [UInt16] = Array(repeating: Self.ascii, count: 4)
    var active = 0
    static let ascii = UInt16(UInt8(ascii: "B"))

    var current: UInt16 { sets[active] }
    var isASCII: Bool { current == Self.ascii }
  }

  /// What DECSC saves.
  struct Cursor: Sendable, Equatable {
    var row = 0
    var column = 0
    /// The next character goes to the next line: the last column has been written.
    var isWrapPending = false
    var style = CellStyle()
    var charsets = Charsets()
    var hasOrigin = false
  }

  /// A cursor for each screen.
  struct Saved: Sendable, Equatable {
    var main: Cursor?
    var alternate: Cursor?
    /// Whether that of the main screen was saved in the same row of the terminal.
    var isAligned = false

    subscript(isAlternate isAlternate: Bool) -> Cursor? {
      get { isAlternate ? alternate : main }
      set { if isAlternate { alternate = newValue } else { main = newValue } }
    }
  }

  /// The rows of the terminal.
  public private(set) var rows: Int
  /// The columns of the terminal.
  public private(set) var columns: Int
  let historyLimit: Int
  /// The screen in use, and the other one as soon as it was used.
  var grid: CellGrid
  var other: CellGrid?
  var isAlternate = false
  var table = CellTable()
  var cursor = Cursor()
  var saved = Saved()
  /// The numbers of the styles that are written and that erasing leaves, above a cell's content.
  var styleWord: UInt64 = 0
  var blankWord = ScreenCell.blankWord
  /// Margins, from 0, both inclusive.
  var margins: CellGrid.Area
  var tabStops: [Bool]
  /// Modes that writing looks at; all of them are in `state`.
  var wraps = true
  var inserts = false
  var hasNewLine = false
  var hasColumnMargins = false
  /// A character set for one character (SS2, SS3).
  var singleShift: Int?
  /// How often the bell was rung.
  var bells: UInt64 = 0
  /// How often all of the screen was cleared.
  var clears: UInt64 = 0
  /// Of the main screen.
  var rowRelation = RowRelation.initial
  /// What REP repeats: nothing behind any other control function.
  var lastScalar: UInt32 = 0
  /// All that output has set besides.
  var state = TerminalState()
  var scanner = SequenceScanner()
  var parameters = SequenceParameters()
  var decoder = ScalarDecoder()

  /// The largest number of rows and of columns; larger sizes are taken for this one.
  public static let largest = 1000

  /// A terminal in its initial state.
  /// - Parameter history: how many lines above the screen are kept.
  public init(rows: Int, columns: Int, history: Int = 100) {
    let (rows, columns) = (Self.bounded(rows), Self.bounded(columns))
    (self.rows, self.columns, historyLimit) = (rows, columns, min(max(history, 0), 10_000))
    grid = CellGrid(rows: rows, columns: columns, historyLimit: historyLimit)
    margins = CellGrid.Area(top: 0, bottom: rows - 1, left: 0, right: columns - 1)
    tabStops = Self.initialTabStops
  }

  static func bounded(_ size: Int) -> Int { min(max(size, 1), largest) }

  static let initialTabStops = (0..<largest).map { $0 % 8 == 0 && $0 > 0 }

  /// Whether the alternate screen is in use.
  public var isAlternateScreen: Bool { isAlternate }

  /// Row and column of the cursor, from 0.
  public var position: (row: Int, column: Int) { (cursor.row, cursor.column) }

  /// How many lines above the screen are kept.
  public var historyCount: Int { (isAlternate ? other : grid)?.historyCount ?? 0 }

  /// The text of a row, without the blanks at its end.
  public func text(ofRow row: Int) -> String {
    var bytes: [UInt8] = []
    guard (0..<rows).contains(row) else { return "" }
    for column in 0..<columns { table.append(grid[row, column], to: &bytes, skipsTails: true) }
    while bytes.last == 0x20 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The first bytes of a character whose rest has not come.
  public var unfinishedCharacter: [UInt8] { decoder.pending }

  // MARK: Output

  /// Takes output in, cut anywhere.
  public mutating func track(_ bytes: [UInt8]) { track(bytes[...]) }

  /// Takes output in, cut anywhere.
  public mutating func track(_ bytes: ArraySlice<UInt8>) {
    var index = skipLines(bytes)
    while index < bytes.endIndex {
      guard scanner.isGround else {
        if let token = scanner.next(in: bytes, at: &index) { apply(token) }
        continue
      }
      let byte = bytes[index]
      if byte >= 0x80 || !decoder.isEmpty {
        index = decode(bytes, from: index)
      } else if byte >= 0x20 {
        index = printASCII(bytes, from: index)
      } else if byte != 0x1B {
        control(byte)
        (index, lastScalar) = (index + 1, 0)
      } else if let end = parameters.read(bytes, at: index) {
        applyCSI(bytes[index..<end])
        (index, lastScalar) = (end, 0)
      } else {
        scanner.begin()
        index += 1
      }
    }
  }

  private mutating func apply(_ token: SequenceScanner.Token) {
    switch token {
    case .control(let byte): control(byte)
    case .sequence(let sequence): apply(sequence)
    case .text, .start, .rest, .end, .broken: break
    }
    lastScalar = 0
  }

  private mutating func apply(_ sequence: ControlSequence) {
    switch sequence.introducer {
    case UInt8(ascii: "["):
      if parameters.read(sequence.bytes[...], at: 0) != nil { applyCSI(sequence.bytes[...]) }
    case UInt8(ascii: "]"): applyOSC(sequence)
    case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"): break
    case _: applyEscape(sequence)
    }
  }

  /// Of lines of text without sequences only the last ones matter: the others leave the screen, and
  /// the history, again. Returns where those begin.
  private mutating func skipLines(_ bytes: ArraySlice<UInt8>) -> Int {
    let lines = 2 * rows + historyLimit
    let hasRegion = margins.top > 0 || margins.bottom < rows - 1 || hasColumnMargins
    guard bytes.count > lines * columns * 2, scanner.isGround, !hasRegion else {
      return bytes.startIndex
    }
    // Up to a sequence or a change of the character set.
    let end = bytes.firstControl(from: bytes.startIndex)
    var (index, left) = (end, lines)
    while index > bytes.startIndex, left > 0 {
      index -= 1
      if bytes[index] == 0x0A { left -= 1 }
    }
    guard left == 0, index > bytes.startIndex + 1, bytes[index - 1] == 0x0D else {
      return bytes.startIndex
    }
    decoder = ScalarDecoder()
    if !isAlternate { rowRelation.scroll(lines, isPlain: blankWord == ScreenCell.blankWord) }
    (cursor.row, cursor.column, cursor.isWrapPending) = (rows - 1, 0, false)
    return index
  }

  // MARK: Size

  /// Sets the size, as xterm does without reflow: rows leave at the top where the cursor would else
  /// be below the screen and come back from there; columns are cut or added at the right.
  public mutating func resize(rows newRows: Int, columns newColumns: Int) {
    let (newRows, newColumns) = (Self.bounded(newRows), Self.bounded(newColumns))
    guard newRows != rows || newColumns != columns else { return }
    let (resized, shift) = grid.resized(rows: newRows, columns: newColumns, cursor: cursor.row)
    grid = resized
    let mainRow = (isAlternate ? saved.main?.row : nil) ?? 0
    var otherShift = 0
    if let behind = other {
      let (resized, shift) = behind.resized(rows: newRows, columns: newColumns, cursor: mainRow)
      (other, otherShift) = (resized, shift)
    }
    (rows, columns) = (newRows, newColumns)
    saved[isAlternate: isAlternate]?.row += shift
    saved[isAlternate: !isAlternate]?.row += otherShift
    for isAlternate in [false, true] {
      guard var kept = saved[isAlternate: isAlternate] else { continue }
      fit(&kept)
      saved[isAlternate: isAlternate] = kept
    }
    cursor.row += shift
    fit(&cursor)
    margins = CellGrid.Area(top: 0, bottom: rows - 1, left: 0, right: columns - 1)
  }

  private func fit(_ cursor: inout Cursor) {
    if cursor.column != columns - 1 { cursor.isWrapPending = false }
    cursor.row = min(max(cursor.row, 0), rows - 1)
    cursor.column = min(cursor.column, columns - 1)
  }
}
