import BridgeAgentHost
import BridgeTerminalState

/// An agent's screen at a moment.
struct ScreenPicture: Sendable {
  private let rows: Int
  private let columns: Int
  private let standing: AgentScreen.Standing
  private let cursor: ScreenFrame.Cursor?
  private let lines: [[ScreenRun]]
  /// Whether it is in the middle of an update that is to be seen as a whole (mode 2026).
  let isUpdating: Bool

  init(_ terminal: TerminalScreen, _ standing: AgentScreen.Standing) {
    (rows, columns, self.standing) = (terminal.rows, terminal.columns, standing)
    let place = terminal.position
    cursor =
      terminal.isCursorShown ? ScreenFrame.Cursor(row: place.row, column: place.column) : nil
    lines = (0..<terminal.rows).map(terminal.runs)
    isUpdating = terminal.isUpdating
  }

  private func isSeenAs(_ old: ScreenPicture?) -> Bool {
    guard let old else { return false }
    return (rows, columns, standing, cursor) == (old.rows, old.columns, old.standing, old.cursor)
      && lines == old.lines
  }

  /// What makes this one of an earlier one; of none where that is nil. nil where they are equal.
  func frame(after old: ScreenPicture?, at now: Int64) -> ScreenFrame? {
    guard !isSeenAs(old) else { return nil }
    let isOther = old.map { $0.rows != rows || $0.columns != columns } ?? true
    let changed = lines.indices.filter { isOther || old?.lines[$0] != lines[$0] }
    return ScreenFrame(
      standing: standing.word, at: now, rows: rows, columns: columns, cursor: cursor,
      lines: changed.map { row in
        ScreenFrame.Line(row: row, runs: lines[row].map { ScreenFrame.Run($0) })
      })
  }
}

/// What has changed on an agent's screen since the frame before, as JSON. The first one, and one
/// with another size, has all lines.
struct ScreenFrame: Sendable, Encodable {
  struct Cursor: Sendable, Encodable, Equatable {
    var row: Int
    var column: Int
  }

  struct Line: Sendable, Encodable {
    var row: Int
    var runs: [Run]
  }

  struct Run: Sendable, Encodable {
    var text: String
    var columns: Int
    /// `0` to `255` of the palette, or `#rrggbb`.
    var foreground: String?
    var background: String?
    /// `bold`, `faint`, `italic`, `underlined`, `struck` and `inverse`.
    var look: [String]?
  }

  /// `opening`, `live` or `interrupted`.
  var standing: String
  /// When it was so, in milliseconds since 1970.
  var at: Int64
  var rows: Int
  var columns: Int
  /// nil where it is hidden.
  var cursor: Cursor?
  var lines: [Line]
}

extension ScreenFrame.Run {
  private static let words: [(ScreenRun.Attributes, String)] = [
    (.bold, "bold"), (.faint, "faint"), (.italic, "italic"), (.underlined, "underlined"),
    (.struck, "struck"), (.inverse, "inverse"),
  ]

  init(_ run: ScreenRun) {
    (text, columns) = (run.text, run.columns)
    (foreground, background) = (run.foreground?.word, run.background?.word)
    let words = Self.words.filter { run.attributes.contains($0.0) }.map(\.1)
    look = words.isEmpty ? nil : words
  }
}

extension ScreenRun.Color {
  fileprivate var word: String {
    switch self {
    case .palette(let number): "\(number)"
    case .rgb(let red, let green, let blue):
      "#"
        + [red, green, blue].map { part in
          let digits = String(part, radix: 16)
          return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }
  }
}

extension AgentScreen.Standing {
  fileprivate var word: String {
    switch self {
    case .opening: "opening"
    case .live: "live"
    case .interrupted: "interrupted"
    }
  }
}
