/// What a terminal of another size shows of a screen: a part that follows the cursor, or lies where
/// a person has moved it. Of a smaller screen it shows all, and blanks beside and below it.
public struct ScreenWindow: Sendable {
  /// A way to move the window.
  public enum Move: Sendable, Equatable {
    /// By half of its rows.
    case up
    /// By half of its rows.
    case down
    /// By half of its columns.
    case left
    /// By half of its columns.
    case right
    /// To where the cursor is, and along with it.
    case follow
  }

  /// What the terminal shows already.
  private struct Painted: Sendable {
    /// The bytes of each row.
    var rows: [[UInt8]]
    var cursor: [UInt8] = []
    var title: [UInt8] = []
    var bells: UInt64 = 0
  }

  private var rows: Int
  private var columns: Int
  /// The cell of the screen in the window's first one.
  private var origin = (row: 0, column: 0)
  /// Whether it lies where the cursor is.
  public private(set) var follows = true
  private var painted: Painted?
  private var update = Update.none

  /// A synchronized update of the program (mode 2026), in which nothing is painted.
  private enum Update: Sendable {
    /// Can become `withheld`.
    case none
    /// Something was not painted. Can become `none`, `overdue`.
    case withheld
    /// It has lasted too long, and is passed over. Can become `none`.
    case overdue
  }

  /// A window for a terminal of this size that shows nothing of it yet.
  public init(rows: Int, columns: Int) {
    (self.rows, self.columns) = (TerminalScreen.bounded(rows), TerminalScreen.bounded(columns))
  }

  /// Takes over another size of the terminal, which shows nothing that can be relied on then.
  public mutating func resize(rows: Int, columns: Int) { self = resized(rows, columns) }

  private func resized(_ rows: Int, _ columns: Int) -> ScreenWindow {
    var window = ScreenWindow(rows: rows, columns: columns)
    (window.origin, window.follows) = (origin, follows)
    return window
  }

  /// Writes all of it the next time: something else was written to the terminal.
  public mutating func invalidate() { painted = nil }

  /// The rows and columns of `screen` that it shows, from 0 on, where there is nothing in them; nil
  /// where there is.
  public func blankArea(of screen: TerminalScreen) -> (rows: Range<Int>, columns: Range<Int>)? {
    guard let painted, painted.rows.allSatisfy({ $0 == Self.blank }) else { return nil }
    return (
      origin.row..<min(origin.row + rows, screen.rows),
      origin.column..<min(origin.column + columns, screen.columns)
    )
  }

  /// Whether something was not painted because an update of the program is under way.
  public var isWithheld: Bool { update == .withheld }

  /// Paints within the update that is under way from now on: its end may never come.
  public mutating func passOverUpdate() { if isWithheld { update = .overdue } }

  /// Moves the window by half of its size, or back to the cursor.
  public mutating func move(_ move: Move) {
    follows = move == .follow
    switch move {
    case .up: origin.row -= max(rows / 2, 1)
    case .down: origin.row += max(rows / 2, 1)
    case .left: origin.column -= max(columns / 2, 1)
    case .right: origin.column += max(columns / 2, 1)
    case .follow: break
    }
  }

  /// The sequences after which the terminal shows the window on `screen`: what has changed since
  /// the last time. Within a synchronized update (mode 2026) of the program there are none.
  ///
  /// - Parameter isAsked: whether a person has asked for it: also within an update.
  public mutating func paint(_ screen: TerminalScreen, isAsked: Bool = false) -> [UInt8] {
    let isUpdating = screen.modeValue(2026, initial: false)
    if isUpdating, painted != nil, !isAsked, update != .overdue {
      update = .withheld
      return []
    }
    if !isUpdating { update = .none }
    place(on: screen)
    var output: [UInt8] = []
    if painted == nil { output += "\u{1B}[m\u{1B}[H\u{1B}[2J".utf8 }
    var old = painted ?? Painted(rows: Array(repeating: Self.blank, count: rows))
    if painted == nil { old.bells = screen.bells }
    for row in 0..<rows {
      let bytes = self.bytes(ofRow: row, of: screen)
      guard bytes != old.rows[row] else { continue }
      output += "\u{1B}[\(row + 1);1H".utf8
      output += bytes
      old.rows[row] = bytes
    }
    let cursor = self.cursor(of: screen)
    if !output.isEmpty || cursor != old.cursor {
      // Hidden while it runs over the rows.
      if !output.isEmpty { output = Array("\u{1B}[?25l".utf8) + output }
      output += cursor
    }
    old.cursor = cursor
    let title = screen.state.modes.title
    if title != old.title { output += title }
    old.title = title
    if screen.bells != old.bells { output.append(0x07) }
    old.bells = screen.bells
    painted = old
    return output
  }

  /// Moves it so that it lies on the screen, and shows the cursor where it follows.
  private mutating func place(on screen: TerminalScreen) {
    if follows {
      let cursor = screen.position
      origin.row = min(max(origin.row, cursor.row - rows + 1), cursor.row)
      // A hidden cursor may be anywhere: the text begins at the left.
      let isShown = screen.modeValue(25, initial: true)
      if !isShown || cursor.column < columns {
        origin.column = 0
      } else if !(origin.column..<origin.column + columns).contains(cursor.column) {
        // Most of the text is before it.
        origin.column = cursor.column - columns * 3 / 4
      }
    }
    origin.row = max(0, min(origin.row, screen.rows - rows))
    origin.column = max(0, min(origin.column, screen.columns - columns))
  }

  private func cursor(of screen: TerminalScreen) -> [UInt8] {
    let (row, column) = (screen.position.row - origin.row, screen.position.column - origin.column)
    guard screen.modeValue(25, initial: true), (0..<rows).contains(row),
      (0..<columns).contains(column)
    else { return Array("\u{1B}[H\u{1B}[?25l".utf8) }
    return Array("\u{1B}[\(row + 1);\(column + 1)H\u{1B}[?25h".utf8)
  }

  /// The part of a row that lies in the window; the blanks at its end are erased.
  private func bytes(ofRow row: Int, of screen: TerminalScreen) -> [UInt8] {
    let row = origin.row + row
    guard row < screen.rows else { return Self.blank }
    let end = min(screen.grid.length(row), origin.column + columns)
    guard origin.column < end else { return Self.blank }
    var writer = ScreenWriter(screen.table, joinsLines: false)
    for column in origin.column..<end {
      let cell = screen.grid[row, column]
      let isCut =
        cell.isWide && column + 1 == origin.column + columns
        || cell.isTail && column == origin.column
      if isCut {
        writer.write(ScreenCell(0x20, style: cell.style))
      } else {
        writer.write(cell)
      }
    }
    writer.set(CellStyle())
    // After the last cell there is nothing to erase, and the terminal would erase that one.
    return writer.output + (end == origin.column + columns ? [] : Self.blank)
  }

  /// Erases the row from the cursor on.
  private static let blank = Array("\u{1B}[K".utf8)
}
