/// Keys whose echo is waited for, oldest first, those among them that end a line.
struct AwaitedKeys {
  /// An echo that was seen.
  struct Echo {
    /// The last key of it.
    var key: TypedKey
    /// Whether it can be of no other key.
    var isSure: Bool
    /// Whether the echo before was of the key before.
    var follows: Bool
  }

  private var keys: [TypedKey] = []
  /// Whether the last echo was of the key before the first one.
  private var follows = false
  /// How many of the first keys came back, one after the other, before their echo could be here.
  private var early = 0

  /// The echo of an older key will not come any more: a program took it.
  private static let longest = Duration.seconds(5)
  private static let most = 256
  /// So many keys are not printed in a row by anything but their echo: the round trip is shorter
  /// than was measured.
  private static let mostEarly = 3

  var isEmpty: Bool { keys.isEmpty }
  var first: TypedKey? { keys.first }
  /// Whether the last text may have been an echo that came too soon to be one.
  var mayBeEarly: Bool { early > 0 }

  mutating func removeFirst() {
    keys.removeFirst()
    early = 0
  }

  mutating func append(_ key: TypedKey) {
    keys.append(key)
    guard keys.count > Self.most else { return }
    keys.removeFirst(keys.count - Self.most)
    early = 0
  }

  /// Puts keys back in the order in which they were typed.
  mutating func insert(_ others: [TypedKey]) {
    guard let first = others.first else { return }
    keys.insert(contentsOf: others, at: keys.firstIndex { $0.time > first.time } ?? keys.count)
    (follows, early) = (false, 0)
  }

  mutating func forget(at now: Duration) {
    let count = keys.count
    keys.removeAll { now > $0.time + Self.longest }
    if keys.count < count { early = 0 }
  }

  /// Drops lines that were ended and that `screen` shows: they were echoed while that could not be
  /// seen. Not short ones, which it may show by accident.
  mutating func dropLines(shownBy screen: TerminalScreen) {
    guard let end = keys.lastIndex(where: { $0.input == .other }) else { return }
    let rows = (0..<screen.rows).map { row in
      (0..<screen.columns).map { screen.grid[row, $0].content }
    }
    var kept: [TypedKey] = []
    for line in keys[..<end].split(omittingEmptySubsequences: true, whereSeparator: \.isOther) {
      let text = line.compactMap(\.scalar)
      let isShown =
        text.count == line.count && text.count >= Self.shortestLine
        && rows.contains { Self.contains($0, text) }
      if !isShown { kept += line + [TypedKey(input: .other, at: line.last?.time ?? .zero)] }
    }
    keys = kept + keys[(end + 1)...]
    early = 0
  }

  private static let shortestLine = 4

  private static func contains(_ row: [UInt32], _ text: [UInt32]) -> Bool {
    guard row.count >= text.count else { return false }
    return (0...row.count - text.count).contains { row[$0...].starts(with: text) }
  }

  /// Takes the keys of which `text` is the echo, and those before them, which will have none; nil
  /// where it is of no keys. Echoes come in the order of the keys: of several places the first
  /// counts, and nothing is sure.
  ///
  /// - Parameter latest: when the last of them was typed at the latest, for its echo to be here.
  mutating func take(_ text: [UInt32], typedBy latest: Duration) -> Echo? {
    let ends = (0...keys.count).filter { end in
      end >= text.count && keys[end - 1].time <= latest
        && zip(keys[end - text.count..<end], text).allSatisfy { $0.input == .character($1) }
    }
    guard let end = ends.first else { return takeEarly(text) }
    let echo = Echo(
      key: keys[end - 1], isSure: ends.count == 1, follows: follows && end == text.count)
    keys.removeFirst(end)
    (follows, early) = (true, 0)
    return echo
  }

  /// Takes the first keys once enough of them came back too soon.
  private mutating func takeEarly(_ text: [UInt32]) -> Echo? {
    follows = false
    let awaited = keys.dropFirst(early)
    let isEcho =
      awaited.count >= text.count
      && zip(awaited, text).allSatisfy { $0.input == .character($1) }
    early = isEcho ? early + text.count : 0
    guard early >= Self.mostEarly else { return nil }
    let echo = Echo(key: keys[early - 1], isSure: true, follows: true)
    keys.removeFirst(early)
    (follows, early) = (true, 0)
    return echo
  }
}
