/// Lines that are shown over a screen that is known, on its terminal, and that go again without a
/// trace; a shell's screen may stay raised. No output may come while they are there.
///
/// Of a full-screen program they cover the last rows, or the first ones where a person types in the
/// last, or the cursor is hidden: that may be anywhere. Else they cover those under the cursor, for
/// which rows leave at the top where they must.
public struct ScreenBanner: Sendable {
  /// As the output has left it.
  private let screen: TerminalScreen
  /// As the terminal shows it, but for the lines.
  private var shown: TerminalScreen
  private let coversRows: Bool
  private var count = 0

  /// Nil where it is not known what the rows of the terminal show: it showed something before, and
  /// this output has not yet cleared the screen, or addressed a row by its number.
  public init?(over screen: TerminalScreen) {
    shown = screen.asShown
    guard shown.isAligned, shown.decoder.isEmpty || shown.isShownWhole else { return nil }
    self.screen = screen
    coversRows = shown.isShownWhole && screen.state.isFullScreen
  }

  /// The first row that is covered.
  private var first: Int {
    let row = shown.position.row
    guard coversRows else { return row + 1 }
    let isLast = row >= shown.rows - count && row >= count
    return isLast || !shown.modeValue(25, initial: true) ? 0 : shown.rows - count
  }

  /// Shows `lines` in place of those before, none of which is longer than a row.
  /// - Parameter lines: at most one fewer than there are rows.
  /// - Returns: what to write.
  public mutating func show(_ lines: [String]) -> [UInt8] {
    let lines = lines.prefix(shown.rows - 1)
    let isCleared = lines.isEmpty || (coversRows && lines.count != count)
    let cleared = isCleared ? clear() : []
    guard !lines.isEmpty else { return cleared }
    let left = covered.dropFirst(lines.count)
    count = lines.count
    var output = cleared + shown.opening + shown.paint(left) + makeSpace()
    for (index, line) in lines.enumerated() {
      output += "\u{1B}[\(first + index + 1);1H\(line)\u{1B}[m\u{1B}[K".utf8
    }
    let (row, column) = shown.position
    output += "\u{1B}[\(row + 1);\(column + 1)H".utf8
    return output + shown.cursorVisibility
  }

  private var covered: Range<Int> { first..<min(first + count, shown.rows) }

  /// Has rows leave at the top, for the lines: into what the terminal keeps above its screen.
  private mutating func makeSpace() -> [UInt8] {
    let missing = coversRows ? 0 : shown.missingRows(count)
    guard missing > 0 else { return [] }
    shown = shown.raised(by: missing)
    let lines = String(repeating: "\n", count: missing)
    return Array("\u{1B}[\(shown.rows)H\(lines)".utf8)
  }

  /// Takes the lines away. The rows that have left for them stay away where a screen can be raised;
  /// else the terminal is as the output has left it.
  /// - Returns: what to write.
  public mutating func clear() -> [UInt8] {
    guard count > 0 else { return [] }
    let covered = covered
    count = 0
    let raise = screen.canBeRaised ? 0 : screen.position.row - shown.position.row
    if raise > 0 { shown = screen }
    // Of half a character the terminal has shown something, and may have scrolled for it.
    guard shown.decoder.isEmpty else { return shown.repaint() }
    guard raise > 0 else { return shown.opening + shown.paint(covered) + shown.closing }
    return shown.lowering(by: raise, behind: covered)
  }
}

// Rows of a terminal that shows this screen.
extension TerminalScreen {
  /// Whether the cursor is in the same row of a terminal that showed something before.
  var isAligned: Bool { isAlternate || rowRelation.isAligned }

  /// Whether a terminal that showed something before shows all rows as they are here.
  var isShownWhole: Bool { isAlternate || rowRelation.isSame }

  /// The terminal may have moved its rows.
  public mutating func loseRows() { rowRelation = .sameSteps(isCleared: false, lag: rows - 1) }

  /// The sequences after which a terminal that showed this screen shows it again, with all that was
  /// written to it since; empty where it is not known what its rows show.
  public func repaint() -> [UInt8] {
    isShownWhole ? opening + paint(0..<rows) + closing : []
  }

  /// The sequences after which the row of the terminal's cursor shows what that of this one does,
  /// up to a column, with the cursor in its column: wherever in that row it stands.
  public func repaintLine(to end: Int) -> [UInt8] {
    guard !hasRegion, !hasColumnMargins, !cursor.hasOrigin, decoder.isEmpty else { return [] }
    var writer = ScreenWriter(table, joinsLines: false)
    for column in 0..<min(grid.length(cursor.row), end) { writer.write(grid[cursor.row, column]) }
    if cursor.column > 0 { writer.write("\r\u{1B}[\(cursor.column)C") } else { writer.write("\r") }
    writer.write(cursorVisibility)
    putModes(&writer)
    return opening + "\r\u{1B}[2K".utf8 + writer.output + scanner.prefix
  }

  // MARK: Rows that have left at the top

  /// Whether programs take no notice of it when rows have left for lines under the cursor: the
  /// screen can stay so, until as many have been printed.
  fileprivate var canBeRaised: Bool {
    let hasPlace = hasRegion || hasColumnMargins || cursor.hasOrigin || state.isFullScreen
    return isRaised || (!isAlternate && rowRelation == .same(isAddressed: false) && !hasPlace)
  }

  /// Whether the terminal shows all rows further up than they are here.
  public var isRaised: Bool { rowRelation.raise > 0 }

  /// How many rows must leave for `count` under the cursor.
  fileprivate func missingRows(_ count: Int) -> Int { max(0, cursor.row + count - (rows - 1)) }

  /// On the terminal there were `count` lines under the cursor.
  public mutating func makeSpace(_ count: Int) {
    guard !isAlternate else { return }
    switch rowRelation {
    case .same, .raised:
      let raise = max(rowRelation.raise, missingRows(count))
      if canBeRaised, !state.isFullScreen, raise > 0 { rowRelation = .raised(by: raise) }
    case .sameSteps(let isCleared, let lag):
      rowRelation = .sameSteps(isCleared: isCleared, lag: max(lag, count))
    case .unknown, .torn: break
    }
  }

  /// The screen as its terminal shows it.
  fileprivate var asShown: TerminalScreen { isRaised ? raised(by: rowRelation.raise) : self }

  fileprivate func raised(by count: Int) -> TerminalScreen {
    var screen = self
    let all = CellGrid.Area(top: 0, bottom: rows - 1, left: 0, right: columns - 1)
    screen.grid.scrollUp(all, count: count, ScreenCell.blankWord, keeps: false)
    screen.cursor.row -= count
    if isRaised { screen.rowRelation = .same(isAddressed: false) }
    return screen
  }

  /// Takes output in. Its terminal may show all rows further up.
  /// - Returns: what to write before it, where it relies on a row.
  public mutating func take(_ parts: [[UInt8]]) -> [UInt8] {
    let before = self
    for bytes in parts { track(bytes) }
    guard rowRelation == .torn else { return [] }
    self = before
    defer { for bytes in parts { track(bytes) } }
    return lower()
  }

  /// Puts the rows where they are here.
  /// - Returns: what to write; empty where they are.
  public mutating func lower() -> [UInt8] {
    guard isRaised else { return [] }
    let raise = rowRelation.raise
    rowRelation = .same(isAddressed: false)
    // Of half a character the terminal has shown something, and may have scrolled for it.
    return decoder.isEmpty ? lowering(by: raise) : repaint()
  }

  /// - Parameter covered: rows of the terminal that show something else.
  fileprivate func lowering(by raise: Int, behind covered: Range<Int> = 0..<0) -> [UInt8] {
    let other = covered.map { $0 + raise }.filter { $0 < rows }
    return opening + "\u{1B}[H\u{1B}[\(raise)L".utf8 + paint(0..<raise) + paint(other) + closing
  }

  /// Has the terminal write anywhere, with a rendition of its own.
  fileprivate var opening: [UInt8] {
    // What has begun is broken off; what a program holds back is shown.
    let isWhole = scanner.isGround && decoder.isEmpty
    var output: [UInt8] = isWhole ? [] : [0x18, 0x1B, 0x5C]
    output += "\u{1B}[?25l\u{1B}[m".utf8
    if modeValue(2026, initial: false) { output += "\u{1B}[?2026l".utf8 }
    if cursor.style.attributes.contains(.protected) { output += "\u{1B}[0\"q".utf8 }
    // A string may end with what breaks it off.
    if cursor.style.link != 0 || !isWhole { output += "\u{1B}]8;;\u{1B}\\".utf8 }
    if cursor.hasOrigin { output += "\u{1B}[?6l".utf8 }
    if hasColumnMargins { output += "\u{1B}[?69l".utf8 }
    if hasRegion { output += "\u{1B}[r".utf8 }
    if inserts { output += "\u{1B}[4l".utf8 }
    if !wraps { output += "\u{1B}[?7h".utf8 }
    for slot in 0..<cursor.charsets.sets.count
    where cursor.charsets.sets[slot] != Charsets.ascii {
      output += [0x1B, UInt8(ascii: "(") + UInt8(slot), UInt8(ascii: "B")]
    }
    return cursor.charsets.active == 0 ? output : output + [0x0F]
  }

  private var hasRegion: Bool { margins.top > 0 || margins.bottom < rows - 1 }

  fileprivate func paint(_ rows: some Sequence<Int>) -> [UInt8] {
    var writer = ScreenWriter(table, joinsLines: false)
    for row in rows { writer.paint(row, of: grid) }
    return writer.output
  }

  /// Has the terminal write as it did before `opening`.
  fileprivate var closing: [UInt8] {
    var writer = ScreenWriter(table, joinsLines: false)
    if hasRegion { writer.write("\u{1B}[\(margins.top + 1);\(margins.bottom + 1)r") }
    if hasColumnMargins {
      writer.write("\u{1B}[?69h\u{1B}[\(margins.left + 1);\(margins.right + 1)s")
    }
    writer.write(cursorVisibility)
    putLast(&writer)
    return writer.output + decoder.pending + scanner.prefix
  }

  fileprivate var cursorVisibility: [UInt8] {
    modeValue(25, initial: true) ? Array("\u{1B}[?25h".utf8) : []
  }
}
