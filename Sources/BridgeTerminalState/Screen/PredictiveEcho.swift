/// What is typed, shown at once where it is all but certain how the far side echoes it, and
/// underlined until it has; after the predictive echo of mosh (Winstein and Balakrishnan, "Mosh: An
/// Interactive Remote Shell for Mobile Clients", USENIX ATC 2012).
///
/// Nothing is shown before an echo was seen: in each line the first key waits for the far side, so
/// that a password never shows, nor the commands of an editor. What is shown never leaves the row
/// of the cursor, and is taken back before output is written.
public struct PredictiveEcho: Sendable {
  private enum Phase {
    /// An echo of these keys is waited for, and nothing is shown.
    case watching([TypedKey])
    /// Characters are echoed as others, as in a password prompt: nothing is shown up to the next
    /// line.
    case masked
    /// The line shows what is typed.
    case showing(EchoedLine)
    /// A key has ended the line, whose echo has not come yet; the keys behind it.
    case leaving(EchoedLine, [TypedKey])
  }

  /// How long an echo may take beyond a round trip and a quarter.
  private static let grace = Duration.milliseconds(150)
  /// So many bytes at once were not typed.
  private static let mostTyped = 64
  private static let mostKeys = 128

  private var screen: TerminalScreen
  private var phase = Phase.watching([])
  private var parser = TypedKeyParser()
  private var last: ScreenPlace?
  /// How long echoes have taken lately.
  private var echoTime: Duration
  /// Where the column of the terminal's cursor is known.
  private var isPlaced: Bool
  /// What the terminal shows that output has not put there, by column; nil where nothing.
  private var drawn: [Int: UInt32]?

  /// A terminal of this size.
  ///
  /// - Parameters:
  ///   - isAtLineStart: whether its cursor is known to be in the first column; else nothing is
  ///     predicted before a carriage return.
  ///   - roundTrip: of the link.
  public init(rows: Int, columns: Int, isAtLineStart: Bool, roundTrip: Duration) {
    screen = TerminalScreen(rows: rows, columns: columns, history: 0)
    isPlaced = isAtLineStart
    (self.roundTrip, echoTime) = (roundTrip, roundTrip)
  }

  /// The round trip of the link, from now on.
  public var roundTrip: Duration {
    didSet { echoTime = roundTrip }
  }

  /// Whether something is shown that output has not put there, or could be wrong.
  public var isShown: Bool { drawn != nil }

  /// How many keys wait for their echo, shown or not.
  public var waiting: Int {
    switch phase {
    case .watching(let keys): keys.count
    case .masked: 0
    case .showing(let line): line.edits.count
    case .leaving(let line, let keys): line.edits.count + keys.count
    }
  }

  /// The terminal has another size.
  public mutating func resize(rows: Int, columns: Int) {
    guard rows != screen.rows || columns != screen.columns else { return }
    screen.resize(rows: rows, columns: columns)
    lose()
  }

  /// Something else was written to the terminal: its cursor may be anywhere.
  public mutating func lose() {
    (phase, last, drawn, isPlaced) = (.watching([]), nil, nil, false)
  }

  /// Takes back what is shown, and predicts nothing before the next echo.
  /// - Returns: what to write.
  public mutating func withdraw() -> [UInt8] {
    defer { phase = .watching([]) }
    return erase()
  }

  /// Takes output in.
  ///
  /// - Parameter now: the time since any moment that stays the same.
  /// - Returns: what to write: the output, with what is shown taken back before it.
  public mutating func take(_ output: [UInt8], at now: Duration) -> [UInt8] {
    let erased = erase()
    screen.track(output)
    if !isPlaced, output.contains(0x0D) { isPlaced = true }
    observe(at: now)
    let shown = draw()
    return erased.isEmpty && shown.isEmpty ? output : erased + output + shown
  }

  /// Takes typed bytes in.
  ///
  /// - Parameter now: as in `take`.
  /// - Returns: what to write.
  public mutating func type(_ bytes: [UInt8], at now: Duration) -> [UInt8] {
    guard bytes.count <= Self.mostTyped else {
      parser = TypedKeyParser()
      endLine()
      return draw()
    }
    for byte in bytes {
      if let input = parser.take(byte) { add(TypedKey(input: input, at: now)) }
    }
    return draw()
  }

  /// Takes back what should have been echoed by now.
  ///
  /// - Parameter now: as in `take`.
  /// - Returns: what to write.
  public mutating func expire(at now: Duration) -> [UInt8] {
    observe(at: now)
    return draw()
  }

  // MARK: Keys

  private mutating func add(_ key: TypedKey) {
    guard key.input != .other else { return endLine() }
    guard waiting < Self.mostKeys else { return endLine() }
    switch phase {
    case .masked: return
    case .watching(let keys): phase = .watching(keys + [key])
    case .leaving(let line, let keys): phase = .leaving(line, keys + [key])
    case .showing(var line):
      if let place = last, line.append(key, at: place) {
        phase = .showing(line)
      } else {
        endLine()
        add(key)
      }
    }
  }

  /// What comes now may be a prompt, or a program.
  private mutating func endLine() {
    switch phase {
    case .showing(let line), .leaving(let line, _):
      phase = line.edits.isEmpty ? .watching([]) : .leaving(line, [])
    case .watching, .masked: phase = .watching([])
    }
  }

  // MARK: Echo

  /// Compares the row of the cursor with what was typed.
  private mutating func observe(at now: Duration) {
    guard isWhole else { return }
    let place = ScreenPlace(screen)
    defer { last = place }
    guard isUsable else {
      phase = .watching([])
      return
    }
    switch phase {
    case .masked: break
    case .watching(var keys):
      // What was not echoed is passed over: a command of an editor.
      keys.removeAll { isOverdue($0, at: now) }
      phase = .watching(keys)
      watch(keys, from: last, to: place, at: now)
    case .showing(var line):
      let seen = line.confirm(at: place)
      record(seen, at: now)
      let isAwaited = line.edits.first.map { !isOverdue($0.key, at: now) } ?? false
      phase = seen != nil || isAwaited ? .showing(line) : .watching([])
    case .leaving(var line, let keys):
      let seen = line.confirm(at: place)
      record(seen, at: now)
      let isAwaited = line.edits.first.map { !isOverdue($0.key, at: now) } ?? false
      let isSame = seen != nil || place == last
      phase = isAwaited && isSame ? .leaving(line, keys) : .watching(keys)
    }
  }

  private func isOverdue(_ key: TypedKey, at now: Duration) -> Bool {
    now > key.time + max(roundTrip, echoTime) * 5 / 4 + Self.grace
  }

  /// Records how long the echo of keys took.
  private mutating func record(_ keys: [TypedKey]?, at now: Duration) {
    for key in keys ?? [] { echoTime = (echoTime * 7 + (now - key.time)) / 8 }
  }

  /// Whether output ends where something can be said of the screen: not in the middle of a
  /// sequence, a character or a change of many parts.
  private var isWhole: Bool {
    screen.scanner.isGround && screen.decoder.isEmpty && screen.modeValue(25, initial: true)
      && !screen.modeValue(2026, initial: false)
  }

  /// Whether what is written goes to the cell of the cursor, as it is.
  private var isUsable: Bool {
    isPlaced && !screen.cursor.isWrapPending && screen.cursor.charsets.isASCII && !screen.inserts
      && !screen.hasColumnMargins && !screen.cursor.hasOrigin && screen.singleShift == nil
      && !screen.cursor.style.attributes.contains(.protected)
  }

  /// Looks for keys of which the cursor's step to `place` is the echo.
  private mutating func watch(
    _ keys: [TypedKey], from last: ScreenPlace?, to place: ScreenPlace, at now: Duration
  ) {
    guard let last, last.row == place.row, last.column < place.column else { return }
    let step = last.column..<place.column
    let text = place.cells[step].map(\.content)
    guard place.cells[step].allSatisfy(\.isPlain),
      step.contains(where: { place.cells[$0] != last.cells[$0] })
    else { return }
    if text.allSatisfy(Self.masks.contains) {
      if !keys.isEmpty { phase = .masked }
      return
    }
    guard keys.count >= text.count,
      let end = (text.count...keys.count).first(where: { end in
        zip(keys[end - text.count..<end], text).allSatisfy { $0.input == .character($1) }
      })
    else { return }
    record(Array(keys[..<end].suffix(1)), at: now)
    show(keys[end...], from: last, to: place)
  }

  /// What terminals show in place of a password.
  private static let masks: Set<UInt32> = [0x2A, 0x2022, 0x25CF, 0x2219, 0xB7]

  private mutating func show(
    _ keys: ArraySlice<TypedKey>, from last: ScreenPlace, to place: ScreenPlace
  ) {
    phase = .showing(EchoedLine(from: last, to: place))
    // The keys behind are compared with what is there from now on.
    self.last = place
    for key in keys { add(key) }
  }

  // MARK: Drawing

  /// What is to be shown, by column; nil where nothing.
  private var wanted: (cells: [Int: UInt32], column: Int)? {
    let line: EchoedLine
    switch phase {
    case .watching, .masked: return nil
    case .showing(let shown): line = shown
    case .leaving(let left, _): line = left
    }
    guard let end = line.edits.last, isWhole, isUsable, line.row == screen.position.row else {
      return nil
    }
    let cells = line.predicted
    guard cells.keys.allSatisfy({ screen.grid[line.row, $0].isPlain }) else { return nil }
    return (cells.filter { screen.grid[line.row, $0.key].content != $0.value }, end.column)
  }

  /// Shows what is wanted, from what is shown.
  private mutating func draw() -> [UInt8] {
    guard let wanted else { return erase() }
    var writer = pen()
    let row = screen.position.row
    let old = drawn ?? [:]
    for column in Set(old.keys).union(wanted.cells.keys).sorted() {
      guard old[column] != wanted.cells[column] else { continue }
      writer.move(column: column)
      let cell = screen.grid[row, column]
      guard let content = wanted.cells[column] else {
        writer.write(cell)
        continue
      }
      var style = screen.cursor.style
      style.underline = 1
      writer.set(style)
      writer.write(content)
    }
    drawn = wanted.cells
    writer.set(screen.cursor.style)
    writer.move(column: wanted.column)
    return writer.output
  }

  /// Takes back what is shown.
  private mutating func erase() -> [UInt8] {
    guard let shown = drawn else { return [] }
    drawn = nil
    var writer = pen()
    for column in shown.keys.sorted() {
      writer.move(column: column)
      writer.write(screen.grid[screen.position.row, column])
    }
    moveBack(&writer)
    return writer.output
  }

  /// A writer for a terminal in the state of `screen`.
  private func pen() -> ScreenWriter {
    ScreenWriter(screen.table, joinsLines: false, style: screen.cursor.style)
  }

  /// Moves to the cursor of `screen`, so that REP repeats what it would have repeated.
  private func moveBack(_ writer: inout ScreenWriter) {
    let (row, column) = screen.position
    let cell = column > 0 ? screen.grid[row, column - 1] : .blank
    let isLast = column > 0 && cell.isPlain && cell.content == screen.lastScalar
    writer.move(column: isLast ? column - 1 : column)
    if isLast { writer.write(cell) }
    writer.set(screen.cursor.style)
  }
}
