import BridgeErrors
import BridgeReactor

/// The lines that count, checked, with their effects: the first of each keyword, or all of it.
struct ConfigSettings {
  private struct Line {
    let entry: ConfigEntry
    let effect: ConfigKeyword.Effect
  }

  private var lines: [String: [Line]] = [:]
  /// The first line of each keyword that has no effect.
  private var unused: [ConfigEntry] = []
  /// No line sets the host's name any more: the second reading asks which lines hold for it.
  var isHostNameFinal = false

  /// Checks `entry`, and keeps it unless an earlier line has decided. Returns a warning where a
  /// value is not taken as it is meant.
  mutating func set(_ keyword: ConfigKeyword, _ entry: ConfigEntry) throws(AppError) -> String? {
    let line = Line(entry: entry, effect: try keyword.parse(entry))
    let earlier = lines[keyword.slot] ?? []
    switch keyword.counting {
    case .first:
      if isHostNameFinal, keyword.name == "HostName" { break }
      // As with OpenSSH, `ProxyJump none` leaves ProxyCommand to later lines.
      let isOpen = earlier.first.map { $0.entry.keyword == "ProxyJump" && $0.entry.isNone } ?? true
      if earlier.isEmpty || (isOpen && keyword.name == "ProxyCommand") {
        lines[keyword.slot] = [line]
      }
    case .all(let limit):
      // A second reading finds them all again.
      guard !earlier.contains(where: { $0.entry.saysTheSame(as: entry) }) else { break }
      guard earlier.count(where: { !$0.entry.isNone }) < limit else {
        throw entry.refusal("more than \(limit) \(keyword.slot)")
      }
      lines[keyword.slot] = earlier + [line]
    case .every(let limit):
      guard earlier.count < limit else {
        throw entry.refusal("more than \(limit) \(keyword.slot) lines")
      }
      lines[keyword.slot] = earlier + [line]
    }
    return keyword.warning(entry)
  }

  /// Keeps a line that has no effect, unless an earlier one has decided; whether it was kept.
  mutating func leaveOut(_ entry: ConfigEntry) -> Bool {
    guard !unused.contains(where: { $0.keyword == entry.keyword }) else { return false }
    unused.append(entry)
    return true
  }

  /// The host, port, user and alias as far as they are known, everything else as where nothing is
  /// set.
  func addressed(
    for query: ClientConfig.Query, files: ClientConfig.Files
  ) throws(AppError) -> ClientConfig {
    var config = ClientConfig(query)
    let names = ConfigNames(beforeHostNameOf: query, files: files)
    try apply(ConfigKeyword.address, names, to: &config)
    config.port = query.port ?? config.port
    config.user = query.user ?? config.user
    config.hostName = Self.canonical(config.hostName)
    return config
  }

  /// As OpenSSH, an address is written in one way, by which known_hosts has it: `127.1` and `0::1`
  /// are others. One with a scope (RFC 4007) stays as it is.
  private static func canonical(_ host: String) -> String {
    guard !host.contains("%") else { return host }
    return NetworkAddress(numeric: host)?.description ?? host
  }

  /// The settings with defaults filled in and tokens replaced.
  func resolved(
    for query: ClientConfig.Query, files: ClientConfig.Files, warnings: [String],
    notes: [String]
  ) throws(AppError) -> ClientConfig {
    var config = try addressed(for: query, files: files)
    let names = ConfigNames(for: config, jump: jump, query: query, files: files)
    try apply(ConfigKeyword.others, names, to: &config)
    config.entries = Self.slots(of: ConfigKeyword.table).flatMap { lines[$0] ?? [] }.map(\.entry)
    config.unused = unused
    config.warnings = warnings
    config.notes = notes
    return config
  }

  /// The text of ProxyJump; empty without one.
  var jump: String {
    guard let entry = lines["proxy"]?.first?.entry, entry.keyword == "ProxyJump", !entry.isNone
    else { return "" }
    return entry.text
  }

  private func apply(
    _ keywords: [ConfigKeyword], _ names: ConfigNames, to config: inout ClientConfig
  ) throws(AppError) {
    for slot in Self.slots(of: keywords) {
      for line in lines[slot] ?? [] { try line.effect(names, &config) }
    }
  }

  /// The slots in the order of the table, each once.
  private static func slots(of keywords: [ConfigKeyword]) -> [String] {
    var seen: Set<String> = []
    return keywords.map(\.slot).filter { seen.insert($0).inserted }
  }
}

extension ConfigEntry {
  fileprivate func saysTheSame(as other: ConfigEntry) -> Bool {
    keyword == other.keyword
      && words.joined(separator: ":") == other.words.joined(separator: ":")
  }
}
