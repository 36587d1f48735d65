/// Lines that are shown over a screen that is known, on its terminal, and that go again without a
/// trace. No output may come while they are there.
///
/// Of a full-screen program they cover the last rows, or the first ones where a person types in the
/// last, or the cursor is hidden: that may be anywhere. Else they cover those under the cursor, for
/// which rows leave at the top where they must.
public struct ScreenBanner: Sendable {
  private let screen: TerminalScreen
  private let coversRows: Bool
  private var count = 0

  /// Nil where it is not known what the rows of the terminal show: it showed something before, and
  /// this output has not yet cleared the screen, or addressed a row by its number.
  public init?(over screen: TerminalScreen) {
    guard screen.isAligned, screen.decoder.isEmpty || screen.isShownWhole else { return nil }
    self.screen = screen
    coversRows = screen.isShownWhole && screen.state.isFullScreen
  }

  /// How many rows have left at the top.
  private var shift: Int {
    coversRows ? 0 : max(0, screen.position.row + count - (screen.rows - 1))
  }

  /// The first row that is covered.
  private var first: Int {
    guard coversRows else { return screen.position.row - shift + 1 }
    let row = screen.position.row
    let isLast = row >= screen.rows - count && row >= count
    return isLast || !screen.modeValue(25, initial: true) ? 0 : screen.rows - count
  }

  /// Shows `lines` in place of those before, none of which is longer than a row.
  /// - Parameter lines: at most one fewer than there are rows.
  /// - Returns: what to write.
  public mutating func show(_ lines: [String]) -> [UInt8] {
    let lines = lines.prefix(screen.rows - 1)
    let cleared = lines.count == count ? [] : clear()
    let isNew = count == 0
    count = lines.count
    guard count > 0 else { return cleared }
    var output = cleared + screen.opening
    if isNew, shift > 0 { output += scrolling.utf8 }
    for (index, line) in lines.enumerated() {
      output += "\u{1B}[\(first + index + 1);1H\(line)\u{1B}[m\u{1B}[K".utf8
    }
    let (row, column) = screen.position
    output += "\u{1B}[\(row - shift + 1);\(column + 1)H".utf8
    return output + screen.cursorVisibility
  }

  /// Makes space at the bottom. Text that is only on the terminal is kept above it.
  private var scrolling: String {
    screen.isShownWhole
      ? "\u{1B}[H\u{1B}[\(shift)M"
      : "\u{1B}[\(screen.rows)H" + String(repeating: "\n", count: shift)
  }

  /// Takes the lines away.
  /// - Returns: what to write: the terminal is as the output has left it then.
  public mutating func clear() -> [UInt8] {
    guard count > 0 else { return [] }
    defer { count = 0 }
    // Of half a character the terminal has shown something, and may have scrolled for it.
    guard screen.decoder.isEmpty else { return screen.repaint() }
    let back = shift > 0 ? Array("\u{1B}[H\u{1B}[\(shift)L".utf8) : []
    let covered = first + shift..<min(first + shift + count, screen.rows)
    return screen.opening + back + screen.paint(Array(0..<shift) + covered) + screen.closing
  }
}

// Rows of a terminal that shows this screen.
extension TerminalScreen {
  /// Whether the cursor is in the same row of a terminal that showed something before.
  var isAligned: Bool { isAlternate || rowRelation.isAligned }

  /// Whether a terminal that showed something before shows all rows as they are here.
  var isShownWhole: Bool { isAlternate || rowRelation == .same }

  /// The terminal may have moved its rows.
  public mutating func loseRows() { rowRelation = .sameSteps(isCleared: false) }

  /// The sequences after which a terminal that showed this screen shows it again, with all that was
  /// written to it since; empty where it is not known what its rows show.
  public func repaint() -> [UInt8] {
    isShownWhole ? opening + paint(Array(0..<rows)) + closing : []
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

  fileprivate func paint(_ rows: [Int]) -> [UInt8] {
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
