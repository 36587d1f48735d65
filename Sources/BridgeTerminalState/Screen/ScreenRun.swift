/// Text of one look in a row of a screen, for what draws it with other means than a terminal's.
public struct ScreenRun: Sendable, Hashable {
  /// A color; the terminal's own where there is none.
  public enum Color: Sendable, Hashable {
    /// One of the palette of 256: 0 to 15 are the terminal's, then the cube of 6 × 6 × 6, then 24
    /// grays.
    case palette(Int)
    /// Its parts, 0 to 255 each.
    case rgb(red: Int, green: Int, blue: Int)
  }

  /// What a run looks like beside its colors.
  public struct Attributes: Sendable, Hashable, OptionSet {
    /// A bit for each.
    public var rawValue: Int

    /// The attributes of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A heavier face.
    public static let bold = Attributes(rawValue: 1)
    /// A paler color.
    public static let faint = Attributes(rawValue: 2)
    /// An oblique face.
    public static let italic = Attributes(rawValue: 4)
    /// A line below, whatever its form.
    public static let underlined = Attributes(rawValue: 8)
    /// A line through it.
    public static let struck = Attributes(rawValue: 16)
    /// The colors are exchanged, where there is none the terminal's own.
    public static let inverse = Attributes(rawValue: 32)
  }

  /// The characters. What is hidden (SGR 8) is blank.
  public var text: String
  /// How many columns they take. A wide character is a run of its own.
  public var columns: Int
  /// The color of the text.
  public var foreground: Color?
  /// The color behind it.
  public var background: Color?
  /// The rest of the look.
  public var attributes: Attributes

  /// Text in so many columns.
  public init(
    _ text: String, columns: Int, foreground: Color? = nil, background: Color? = nil,
    attributes: Attributes = []
  ) {
    (self.text, self.columns) = (text, columns)
    (self.foreground, self.background, self.attributes) = (foreground, background, attributes)
  }
}

extension TerminalScreen {
  /// Whether the cursor is to be seen (mode 25).
  public var isCursorShown: Bool { modeValue(25, initial: true) }

  /// Whether the program is in the middle of an update that is to be seen as a whole (mode 2026).
  public var isUpdating: Bool { modeValue(2026, initial: false) }

  /// The runs of a row, without the blanks in the terminal's own colors at its end.
  public func runs(ofRow row: Int) -> [ScreenRun] {
    guard (0..<rows).contains(row) else { return [] }
    var runs: [ScreenRun] = []
    var (bytes, start, style) = ([UInt8](), 0, 0)
    func end(at column: Int) {
      guard column > start else { return }
      runs.append(run(bytes, columns: column - start, table.styles[style]))
      (bytes, start) = ([], column)
    }
    let length = grid.length(row)
    var endsWide = false
    for column in 0..<length {
      let cell = grid[row, column]
      let isSecond = cell.isTail && column > 0 && grid[row, column - 1].isWide
      defer { endsWide = isSecond }
      guard !isSecond else { continue }
      if cell.style != style || cell.isWide || endsWide { end(at: column) }
      style = cell.style
      if cell.isTail || table.styles[style].attributes.contains(.hidden) {
        bytes.append(0x20)
      } else {
        table.append(cell, to: &bytes)
      }
    }
    end(at: length)
    return runs
  }

  private func run(_ bytes: [UInt8], columns: Int, _ style: CellStyle) -> ScreenRun {
    var attributes: ScreenRun.Attributes = []
    let pairs: [(CellStyle.Attributes, ScreenRun.Attributes)] = [
      (.bold, .bold), (.faint, .faint), (.italic, .italic), (.struck, .struck),
      (.inverse, .inverse),
    ]
    for (cell, run) in pairs where style.attributes.contains(cell) { attributes.insert(run) }
    if style.underline > 0 { attributes.insert(.underlined) }
    return ScreenRun(
      String(decoding: bytes, as: UTF8.self), columns: columns,
      foreground: style.foreground.shown, background: style.background.shown,
      attributes: attributes)
  }
}

extension CellStyle.Color {
  fileprivate var shown: ScreenRun.Color? {
    guard !isDefault else { return nil }
    guard !isPalette else { return .palette(number) }
    let parts = components
    return .rgb(red: parts[0], green: parts[1], blue: parts[2])
  }
}
