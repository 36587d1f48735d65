/// What is typed, shown at once where it is all but certain how the far side echoes it, and
/// underlined until it has; after the predictive echo of mosh (Winstein and Balakrishnan, "Mosh: An
/// Interactive Remote Shell for Mobile Clients", USENIX ATC 2012).
///
/// Nothing is shown before an echo was seen: in each line, and after a pause in one that is not
/// edited by a shell, the first key waits for the far side. What is echoed is compared with all
/// keys before it that were not, so that no password shows, nor the commands of an editor. What is
/// shown never leaves the row of the cursor, is drawn from there, and is taken back before output
/// is written.
public struct PredictiveEcho: Sendable {
  private enum Phase {
    /// An echo is waited for, and nothing is shown.
    case watching
    /// Characters are echoed as others, as in a password prompt: nothing is shown up to the next
    /// line.
    case masked
    /// The line shows what is typed.
    case showing(EchoedLine)
    /// A key has ended the line, whose echo has not come yet.
    case leaving(EchoedLine)
  }

  /// What the terminal shows that output has not put there.
  private struct Drawing: Equatable {
    /// Contents of cells by column.
    var cells: [Int: UInt32]
    /// The cursor.
    var column: Int
  }

  /// So many bytes at once were not typed.
  private static let mostTyped = 64
  /// After so long without a key a program may have switched the echo off, and print nothing: the
  /// letters before it were typed ahead.
  private static let pause = Duration.seconds(1)

  private var screen: TerminalScreen
  private var phase = Phase.watching
  /// Keys that no line shows and that were not echoed, as far as is known.
  private var awaited = AwaitedKeys()
  private var parser = TypedKeyParser()
  private var last: ScreenPlace?
  /// When the last key was typed.
  private var lastTyped = Duration.zero
  /// How long echoes have taken lately.
  private var echoTime: EchoTime
  /// Whether the row and the column of the terminal's cursor are those of `screen`.
  private var isPlaced = false
  private var drawn: Drawing?

  /// A terminal of this size, whose cursor may be anywhere: nothing is predicted before the first
  /// line that begins.
  /// - Parameter roundTrip: of the link.
  public init(rows: Int, columns: Int, roundTrip: Duration) {
    screen = TerminalScreen(rows: rows, columns: columns, history: 0)
    (self.roundTrip, echoTime) = (roundTrip, EchoTime(roundTrip))
  }

  /// The round trip of the link, from now on.
  public var roundTrip: Duration {
    didSet { echoTime = EchoTime(roundTrip) }
  }

  /// Whether nothing is shown for now: something else is drawn meanwhile, from where output has
  /// left the cursor.
  public var isHidden = false

  /// Whether something is shown that output has not put there.
  public var isShown: Bool { drawn != nil }

  /// Whether something is predicted, shown or not.
  public var isPredicting: Bool {
    switch phase {
    case .watching, .masked: false
    case .showing(let line), .leaving(let line): !line.edits.isEmpty
    }
  }

  /// The terminal has another size.
  /// - Returns: what to write.
  public mutating func resize(rows: Int, columns: Int) -> [UInt8] {
    guard rows != screen.rows || columns != screen.columns else { return [] }
    defer { screen.resize(rows: rows, columns: columns) }
    return lose()
  }

  /// Takes back what is shown: something else is written to the terminal next, and its cursor may
  /// be anywhere then.
  /// - Returns: what to write before it.
  public mutating func lose() -> [UInt8] {
    defer { (last, isPlaced) = (nil, false) }
    return withdraw()
  }

  /// Forgets what is shown: another program has written to the terminal since.
  public mutating func forget() {
    drawn = nil
    _ = lose()
  }

  /// Takes back what is shown, and predicts nothing before the next echo.
  /// - Returns: what to write.
  public mutating func withdraw() -> [UInt8] {
    defer { drop() }
    return erase()
  }

  /// Takes output in.
  ///
  /// - Parameter now: the time since any moment that stays the same.
  /// - Returns: what to write: the output, with what is shown taken back before it.
  public mutating func take(_ output: [UInt8], at now: Duration) -> [UInt8] {
    let erased = erase()
    awaited.forget(at: now)
    let clears = screen.clears
    screen.track(output)
    let begins = output.contains(0x0D) && output.contains(0x0A) && !screen.isAlternateScreen
    if begins || screen.clears != clears { isPlaced = true }
    if begins { awaited.dropLines(shownBy: screen) }
    observe(at: now)
    let shown = draw()
    return erased.isEmpty && shown.isEmpty ? output : erased + output + shown
  }

  /// Takes typed bytes in.
  ///
  /// - Parameter now: as in `take`.
  /// - Returns: what to write.
  public mutating func type(_ bytes: [UInt8], at now: Duration) -> [UInt8] {
    awaited.forget(at: now)
    guard bytes.count <= Self.mostTyped else {
      parser = TypedKeyParser()
      add(TypedKey(input: .other, at: now))
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
    defer { lastTyped = key.time }
    if case .showing(let line) = phase, line.edits.isEmpty, !isEdited,
      key.time - lastTyped > Self.pause
    {
      phase = .watching
    }
    if case .showing(var line) = phase {
      if let last, line.append(key, at: last) {
        phase = .showing(line)
        return
      }
      phase = line.edits.isEmpty ? .watching : .leaving(line)
    }
    // What comes behind it may be a prompt, or a program.
    if case .masked = phase, key.input == .other { phase = .watching }
    awaited.append(key)
  }

  /// Predicts nothing more in this line; its echo may come even so.
  private mutating func drop() {
    switch phase {
    case .watching, .masked: return
    case .showing(let line), .leaving(let line):
      awaited.insert(line.edits.map(\.key))
      phase = .watching
    }
  }

  // MARK: Echo

  /// Compares the row of the cursor with what was typed.
  private mutating func observe(at now: Duration) {
    guard isWhole else { return }
    let place = ScreenPlace(screen)
    defer { last = place }
    guard isUsable else { return drop() }
    switch phase {
    case .masked: break
    case .watching: watch(to: place, at: now)
    case .showing(var line):
      let seen = line.confirm(at: place)
      record(seen, at: now)
      phase = .showing(line)
      if seen == nil, !isAwaited(line, at: now) { drop() }
    case .leaving(var line):
      let seen = line.confirm(at: place)
      record(seen, at: now)
      let isSame = seen != nil || place == last
      if line.edits.isEmpty || (!isSame && line.isShown(by: screen)) {
        phase = .watching
      } else {
        phase = .leaving(line)
        if !isSame || !isAwaited(line, at: now) { drop() }
      }
    }
  }

  private func isAwaited(_ line: EchoedLine, at now: Duration) -> Bool {
    guard let key = line.edits.first?.key else { return false }
    return now <= key.time + echoTime.limit
  }

  /// Records how long the echo of keys took.
  private mutating func record(_ keys: [TypedKey]?, at now: Duration) {
    for key in keys ?? [] { echoTime.record(now - key.time) }
  }

  /// Whether output ends where something can be said of the screen: not in the middle of a
  /// sequence, a character or a change of many parts.
  private var isWhole: Bool {
    screen.scanner.isGround && screen.decoder.isEmpty && screen.modeValue(25, initial: true)
      && !screen.modeValue(2026, initial: false)
  }

  /// Whether a shell edits the line: it has pastes marked, and nothing else does that prompts.
  private var isEdited: Bool { screen.modeValue(2004, initial: false) }

  /// Whether what is written goes to the cell of the cursor, as it is, in a row that is known.
  private var isUsable: Bool {
    isPlaced && (screen.isAlternateScreen || screen.rowRelation.isKnown)
      && !screen.cursor.isWrapPending && screen.cursor.charsets.isASCII && !screen.inserts
      && !screen.hasColumnMargins && !screen.cursor.hasOrigin && screen.singleShift == nil
      && !screen.cursor.style.attributes.contains(.protected)
      // Of a terminal that may have changed its columns (DECCOLM) nothing is known.
      && !screen.modeValue(40, initial: false)
  }

  /// Looks for keys of which the cursor's step to `place` is the echo.
  private mutating func watch(to place: ScreenPlace, at now: Duration) {
    guard let last, let text = place.text(since: last) else { return }
    guard !text.allSatisfy(Self.masks.contains) else {
      if !awaited.isEmpty { phase = .masked }
      return
    }
    guard let echo = awaited.take(text, typedBy: now - leastEcho) else {
      if !isEdited, !awaited.isEmpty, !awaited.mayBeEarly { phase = .masked }
      return
    }
    if now - echo.key.time < leastEcho { roundTrip = now - echo.key.time }
    guard echo.isSure, isEdited || text.count > 1 || echo.follows else { return }
    // One that came much later may be of another key: what is not echoed would stay as long.
    if now - echo.key.time <= echoTime.limit * 2 { record([echo.key], at: now) }
    var line = EchoedLine(from: last, to: place)
    while let key = awaited.first, line.append(key, at: place) { awaited.removeFirst() }
    // The rest has ended the line, or is not certain.
    if awaited.isEmpty {
      phase = .showing(line)
    } else {
      phase = line.edits.isEmpty ? .watching : .leaving(line)
    }
  }

  /// An echo that comes sooner is of another key, unless several do: the round trip was measured on
  /// a host or a machine that may have been busy.
  private var leastEcho: Duration { max(.zero, roundTrip - .milliseconds(40)) / 2 }

  /// What terminals show in place of a password.
  private static let masks: Set<UInt32> = [0x2A, 0x2022, 0x25CF, 0x2219, 0xB7]

  // MARK: Drawing

  /// What is to be shown; nil for nothing.
  private var wanted: Drawing? {
    let line: EchoedLine
    guard !isHidden else { return nil }
    switch phase {
    case .watching, .masked: return nil
    case .showing(let shown): line = shown
    case .leaving(let left): line = left
    }
    let row = screen.position.row
    guard let end = line.edits.last, isWhole, isUsable, line.row == row else { return nil }
    let cells = line.predicted
    guard cells.keys.allSatisfy({ screen.grid[row, $0].isPlain }) else { return nil }
    return Drawing(
      cells: cells.filter { screen.grid[row, $0.key].content != $0.value }, column: end.column)
  }

  /// Shows what is wanted, from what is shown.
  private mutating func draw() -> [UInt8] {
    let wanted = wanted
    guard wanted != drawn else { return [] }
    guard let wanted else { return erase() }
    var writer = rowWriter
    let old = drawn?.cells ?? [:]
    for column in Set(old.keys).union(wanted.cells.keys).sorted() {
      guard old[column] != wanted.cells[column] else { continue }
      if let content = wanted.cells[column] {
        var style = screen.cursor.style
        style.underline = 1
        writer.write(content, style, at: column)
      } else {
        writer.write(screen.grid[screen.position.row, column], at: column)
      }
    }
    drawn = wanted
    return writer.end(at: wanted.column)
  }

  /// Takes back what is shown.
  private mutating func erase() -> [UInt8] {
    guard let shown = drawn else { return [] }
    var writer = rowWriter
    drawn = nil
    let (row, column) = screen.position
    for column in shown.cells.keys.sorted() { writer.write(screen.grid[row, column], at: column) }
    // REP repeats what was written last.
    let before = column > 0 ? screen.grid[row, column - 1] : .blank
    if column > 0, before.isPlain, before.content == screen.lastScalar {
      writer.write(before, at: column - 1, isRepeated: true)
    }
    return writer.end(at: column)
  }

  /// A writer for the terminal as it is.
  private var rowWriter: RowWriter {
    RowWriter(screen.table, screen.cursor.style, column: drawn?.column ?? screen.position.column)
  }
}
