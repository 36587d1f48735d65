/// The cursor of a screen, and the row that it is in.
struct ScreenPlace: Equatable {
  var row: Int
  var column: Int
  var cells: [ScreenCell]

  init(_ screen: TerminalScreen) {
    (row, column) = screen.position
    cells = (0..<screen.columns).map { [row] in screen.grid[row, $0] }
  }

  /// What a step of the cursor forward from `last` has put into its row; nil where it has not, or
  /// something else than single characters.
  func text(since last: ScreenPlace) -> [UInt32]? {
    guard last.row == row, last.column < column, cells.count == last.cells.count else { return nil }
    let step = last.column..<column
    guard cells[step].allSatisfy(\.isPlain), step.contains(where: { cells[$0] != last.cells[$0] })
    else { return nil }
    return cells[step].map(\.content)
  }

  /// The first column that may be the last one of the terminal, which counts some characters
  /// otherwise.
  func edge(from column: Int) -> Int {
    cells.count - 1 - cells[..<column].count { $0.content >= 0x80 || !$0.isPlain }
  }

  /// The columns of the text from `column` on, up to two blanks, where the row has `contents`; nil
  /// where something else than single characters is there.
  func text(from column: Int, in contents: [UInt32]) -> Range<Int>? {
    var end = column
    while end < contents.count {
      let isBlank = contents[end] == 0x20
      if isBlank, end + 1 >= contents.count || contents[end + 1] == 0x20 { break }
      guard cells[end].isPlain else { return nil }
      end += 1
    }
    return column..<end
  }
}

/// A line in which the far side echoes what is typed, and what is still to come of that.
struct EchoedLine {
  /// What a key does to the line.
  struct Edit {
    var key: TypedKey
    /// Contents of cells by column.
    var cells: [Int: UInt32] = [:]
    /// The cursor behind it.
    var column: Int
  }

  /// What a character does to the text behind it.
  enum Habit {
    case inserts
    case overwrites
  }

  let row: Int
  /// The first column that was typed to: before it there may be a prompt.
  private let start: Int
  /// The column behind what was typed.
  private var end: Int
  /// The cursor, as far as the echo has been seen.
  private var column: Int
  /// Nil while that has not been seen.
  private let habit: Habit?
  /// What the echo of keys will do that has not been seen, oldest first.
  private(set) var edits: [Edit] = []

  /// A line of which the cursor's step to `place` was the first echo.
  init(from last: ScreenPlace, to place: ScreenPlace) {
    (row, start, end, column) = (place.row, last.column, place.column, place.column)
    habit = Self.habit(from: last, to: place)
  }

  private static func habit(from last: ScreenPlace, to place: ScreenPlace) -> Habit? {
    let (old, new) = (last.cells.map(\.content), place.cells.map(\.content))
    guard let rest = last.text(from: last.column, in: old), !rest.isEmpty else { return nil }
    let shift = place.column - last.column
    let isMoved = rest.allSatisfy { $0 + shift >= new.count || new[$0 + shift] == old[$0] }
    let isKept = rest.allSatisfy { $0 < place.column || new[$0] == old[$0] }
    // Of a text like "aaa" both may be true.
    return isMoved == isKept ? nil : isMoved ? .inserts : .overwrites
  }

  /// The contents of cells behind all edits, by column.
  var predicted: [Int: UInt32] {
    var cells: [Int: UInt32] = [:]
    for edit in edits { cells.merge(edit.cells) { $1 } }
    return cells
  }

  /// Adds what a key will do; false where that is not certain.
  mutating func append(_ key: TypedKey, at place: ScreenPlace) -> Bool {
    guard let edit = edit(for: key, at: place) else { return false }
    switch key.input {
    case .character: end = habit == .inserts ? end + 1 : max(end, edit.column)
    case .erase: end = max(edit.column, end - 1)
    case .left, .right, .other: break
    }
    edits.append(edit)
    return true
  }

  private func edit(for key: TypedKey, at place: ScreenPlace) -> Edit? {
    let column = edits.last?.column ?? column
    var edit = Edit(key: key, column: column)
    switch key.input {
    case .other: return nil
    case .left where column > start: edit.column -= 1
    case .right where column < end: edit.column += 1
    case .left, .right: return nil
    case .character(let scalar):
      guard let change = insertion(of: scalar, at: column, in: place) else { return nil }
      edit.cells = change
      edit.column += 1
    case .erase:
      guard column > start, let change = erasure(before: column, in: place) else { return nil }
      edit.cells = change
      edit.column -= 1
    }
    return edit
  }

  private func insertion(
    of scalar: UInt32, at column: Int, in place: ScreenPlace
  ) -> [Int: UInt32]? {
    let contents = contents(of: place)
    let edge = place.edge(from: column)
    guard column < edge, let rest = place.text(from: column, in: contents) else { return nil }
    var cells = [column: scalar]
    switch habit {
    case _ where rest.isEmpty: break
    case .overwrites?: break
    case .inserts?:
      for index in rest where index + 1 < edge { cells[index + 1] = contents[index] }
    case nil: return nil
    }
    return cells
  }

  private func erasure(before column: Int, in place: ScreenPlace) -> [Int: UInt32]? {
    let contents = contents(of: place)
    guard let rest = place.text(from: column, in: contents), place.cells[column - 1].isPlain,
      rest.isEmpty || habit == .inserts
    else { return nil }
    var cells = [rest.upperBound - 1: Self.blank]
    for index in rest { cells[index - 1] = contents[index] }
    return cells
  }

  private static let blank: UInt32 = 0x20

  /// The contents of the row behind all edits.
  private func contents(of place: ScreenPlace) -> [UInt32] {
    var contents = place.cells.map(\.content)
    for (column, content) in predicted where column < contents.count { contents[column] = content }
    return contents
  }

  /// Whether a row of the screen, which may have scrolled, shows all of it.
  func isShown(by screen: TerminalScreen) -> Bool {
    let cells = predicted
    return (0...min(row, screen.rows - 1)).contains { row in
      cells.allSatisfy { $0.key < screen.columns && screen.grid[row, $0.key].content == $0.value }
    }
  }

  /// Drops what the row shows, and returns its keys; nil where it shows nothing of them, and is not
  /// as it was.
  mutating func confirm(at place: ScreenPlace) -> [TypedKey]? {
    guard place.row == row else { return nil }
    var (cells, confirmed) = ([Int: UInt32](), 0)
    for (index, edit) in edits.enumerated() {
      cells.merge(edit.cells) { $1 }
      let isThere =
        edit.column == place.column
        && cells.allSatisfy { place.cells[$0.key].content == $0.value }
      if isThere { confirmed = index + 1 }
    }
    guard confirmed > 0 else { return place.column == column && edits.isEmpty ? [] : nil }
    defer {
      edits.removeFirst(confirmed)
      column = place.column
    }
    return edits.prefix(confirmed).map(\.key)
  }
}
