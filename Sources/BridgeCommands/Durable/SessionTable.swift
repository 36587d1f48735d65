import BridgeErrors
package import BridgeSessionProtocol
import BridgeTerminal

/// The table of `sessions`: those that run first, each group in the order in which they were
/// started. On a terminal no line is longer than it is wide.
package struct SessionTable: Sendable {
  /// A column, in its place; what is less needed goes first where there is no space.
  private enum Column: Int, CaseIterable {
    case id, name, state, age, kept, clients, ends, command

    var header: String {
      switch self {
      case .id: "ID"
      case .name: "NAME"
      case .state: "STATE"
      case .age: "AGE"
      case .kept: "KEPT"
      case .clients: "CLIENTS"
      case .ends: "ENDS"
      case .command: "COMMAND"
      }
    }

    static let dispensable: [Column] = [.ends, .clients, .kept, .age]
  }

  private static let gap = 2
  /// So much of a command tells what it is.
  private static let shortestCommand = 12
  /// As much of a name is shown where there is not space for all of it.
  private static let shortestName = 8

  private var columns = Column.allCases
  private var rows: [[String]]
  private let notes: [String]

  /// The lines for a terminal of `width`, or whole for nil; empty for no session.
  package static func text(_ sessions: [SessionStatus], now: UInt64, width: Int? = nil) -> String {
    guard !sessions.isEmpty else { return "" }
    var table = SessionTable(sessions, now: now)
    if let width { table.fit(width) }
    return table.lines(width).map { $0 + "\n" }.joined()
  }

  private init(_ sessions: [SessionStatus], now: UInt64) {
    let ordered = Self.ordered(sessions)
    rows = [Column.allCases.map(\.header)] + ordered.map { Self.row($0, now: now) }
    notes = ordered.compactMap { $0.shortState.note }.reduce(into: []) { notes, note in
      if !notes.contains(note) { notes.append(note) }
    }
  }

  /// In the order of the lines.
  package static func ordered(_ sessions: [SessionStatus]) -> [SessionStatus] {
    let sorted = SessionText.sorted(sessions)
    return sorted.filter(\.isRunning) + sorted.filter { !$0.isRunning }
  }

  private static func row(_ status: SessionStatus, now: UInt64) -> [String] {
    let name = status.name.map {
      PeerText.escaped(SessionText.text($0), limit: StartRequest.longestName)
    }
    let kept = status.newest - status.oldest
    return [
      String("\(status.session)".prefix(SessionText.shortID)), name ?? "-",
      status.shortState.words,
      SessionText.age(of: status, now: now),
      SessionText.size(kept), "\(status.attached)",
      status.isRunning ? ends(status, now: now) : "-",
      SessionText.command(status),
    ]
  }

  /// What ends it without its user: a logout, or the time without a client.
  private static func ends(_ status: SessionStatus, now: UInt64) -> String {
    let now = status.now ?? now
    if let end = status.hangsUpAt { return "in \(SessionText.wait(end > now ? end - now : 0))" }
    if status.survivesLogout == "yes" { return "-" }
    return status.survivesLogout.hasPrefix("unknown") ? "unknown" : "logout"
  }

  private func width(_ column: Column) -> Int {
    rows.map { TerminalText.width(of: $0[column.rawValue]) }.max() ?? 0
  }

  /// The cells before the command.
  private var margin: Int {
    columns.filter { $0 != .command }.reduce(0) { $0 + width($1) + Self.gap }
  }

  /// Leaves out what does not fit.
  private mutating func fit(_ width: Int) {
    let longest = min(self.width(.command), Self.shortestCommand)
    for column in Column.dispensable where margin + longest > width {
      columns.removeAll { $0 == column }
    }
    guard margin + longest > width else { return }
    let space = max(Self.shortestName, self.width(.name) - (margin + longest - width))
    for index in rows.indices {
      rows[index][Column.name.rawValue] = TerminalText.clipped(
        rows[index][Column.name.rawValue], to: space)
    }
  }

  private func lines(_ width: Int?) -> [String] {
    let widths = columns.map { column in column == .command ? 0 : self.width(column) }
    let table = rows.map { row in
      let cells = zip(columns, widths).map { column, width in
        let cell = row[column.rawValue]
        return cell + String(repeating: " ", count: max(0, width - TerminalText.width(of: cell)))
      }
      let line = cells.joined(separator: String(repeating: " ", count: Self.gap))
      return width.map { TerminalText.clipped(line, to: $0) } ?? line
    }
    guard let width else { return table + notes }
    return table + notes.flatMap { Paragraph.wrapped($0, at: width) }
  }

}

extension SessionStatus {
  /// Whether its program runs, as far as is known.
  package var isRunning: Bool { state == .running && memory != .end || end == .orphaned }

  /// The state in a word or two, and what that means where they do not say it.
  fileprivate var shortState: (words: String, note: String?) {
    switch (state, memory) {
    case (.running, .output):
      ("disk full", "disk full: it runs; its newest output is in memory only, there.")
    case (.running, .end):
      ("in memory", "in memory: it ended while the disk was full; its keeper holds the end.")
    case (.claimed, _): ("starting", nil)
    case (.running, nil) where waitsForReader:
      ("waiting", "waiting: its output is full; it goes on when a client reads that (attach).")
    case (.running, nil):
      (node.map { "on \(PeerText.escaped($0, limit: 16))" } ?? "running", nil)
    case (.ended, _): end.map(Self.short) ?? ("ended", nil)
    case (.keeperDied, _): Self.short(end ?? .unknownKeeperDied)
    case (.rebooted, _): Self.short(.unknownRebooted)
    }
  }

  private static func short(_ end: ProgramEnd) -> (words: String, note: String?) {
    switch end {
    case .exited(let status): ("exit \(status)", nil)
    case .signaled(let number, _): (SessionText.signal(number), nil)
    case .unknownKeeperDied:
      ("no keeper", "no keeper: that process was killed; how the program ended is not known.")
    case .orphaned:
      ("orphaned", "orphaned: its keeper was killed; the program still runs; `kill` ends it.")
    case .unknownRebooted:
      ("rebooted", "rebooted: the host was; how the program ended is not known.")
    }
  }
}
