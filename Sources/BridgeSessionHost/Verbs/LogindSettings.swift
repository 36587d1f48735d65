import BridgeSessionProtocol

/// What systemd-logind does with the processes of a user who logs out (logind.conf(5)).
struct LogindSettings: Equatable {
  /// Nil where no answer was found.
  var killsProcesses: Bool?
  /// Where some are named, the processes of no other user are ended.
  var only: [String] = []
  var excluded = ["root"]

  /// Whether the processes of a user are ended; nil where that is not known.
  func ends(_ user: String) -> Bool? {
    if excluded.contains(user) || !only.isEmpty && !only.contains(user) { return false }
    return killsProcesses
  }

  /// As logind answers, or else as its files say.
  static func current() -> Self? { asked() ?? LogindSettings(filesBelow: "") }

  // MARK: What logind answers

  private static let properties = ["KillUserProcesses", "KillOnlyUsers", "KillExcludeUsers"]

  private static func asked() -> Self? {
    guard let path = Programs.find("busctl") else { return nil }
    let words =
      [
        "busctl", "get-property", "org.freedesktop.login1", "/org/freedesktop/login1",
        "org.freedesktop.login1.Manager",
      ] + properties
    return Programs.output(of: path, words, within: 2000).flatMap(LogindSettings.init(properties:))
  }

  /// Reads a line for each property: `b true`, `as 0`, `as 1 "root"`.
  init?(properties text: String) {
    let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    guard lines.count == Self.properties.count, lines[0].count == 2, lines[0][0] == "b" else {
      return nil
    }
    let lists = lines[1...].map { line in line.dropFirst(2).map { $0.filter { $0 != "\"" } } }
    (killsProcesses, only, excluded) = (lines[0][1] == "true", lists[0], lists[1])
  }

  // MARK: What its files say

  /// From the most to the least important.
  private static let folders = [
    "/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd", "/lib/systemd",
  ]

  /// Reads logind.conf and its drop-ins below a root directory.
  init(filesBelow root: String) {
    let folders = Self.folders.compactMap { try? Directory(root + $0, follows: true) }
    let main = folders.compactMap { Self.text("logind.conf", in: $0) }.first
    // Its comments have what it was compiled with (logind.conf(5)).
    for line in Self.lines(of: main ?? "") where line.hasPrefix("#") { take(line.dropFirst()) }
    if let main { take(file: main) }
    var names: [String: Directory] = [:]
    for folder in folders.reversed() {
      guard let found = try? Directory("logind.conf.d", in: folder, follows: true) else { continue }
      for name in found.names() where name.hasSuffix(".conf") { names[name] = found }
    }
    for (name, folder) in names.sorted(by: { $0.key < $1.key }) {
      if let text = Self.text(name, in: folder) { take(file: text) }
    }
  }

  private static func text(_ name: String, in folder: Directory) -> String? {
    (try? folder.readFollowing(name, limit: 64 << 10)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func lines(of text: String) -> [Substring] {
    text.split(separator: "\n").map { line in
      let start = line.drop { $0 == " " || $0 == "\t" }
      let end = start.lastIndex { $0 != " " && $0 != "\t" && $0 != "\r" }
      return end.map { start[...$0] } ?? ""
    }
  }

  private mutating func take(file text: String) {
    var isLogin = false
    for line in Self.lines(of: text) {
      if line.hasPrefix("[") { isLogin = line == "[Login]" } else if isLogin { take(line) }
    }
  }

  private mutating func take(_ line: Substring) {
    guard let sign = line.firstIndex(of: "=") else { return }
    let name = line[..<sign].filter { $0 != " " }
    let value = String(line[line.index(after: sign)...].drop { $0 == " " || $0 == "\t" })
    switch name {
    case "KillUserProcesses": killsProcesses = Self.boolean(value) ?? killsProcesses
    case "KillOnlyUsers": only = Self.list(only, value)
    case "KillExcludeUsers": excluded = Self.list(excluded, value)
    default: return
    }
  }

  /// As systemd spells it (systemd.syntax(7)); nil for anything else, which it ignores.
  private static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "1", "yes", "y", "true", "t", "on": true
    case "0", "no", "n", "false", "f", "off": false
    default: nil
    }
  }

  /// Lists add up; an empty one begins anew.
  private static func list(_ before: [String], _ text: String) -> [String] {
    text.isEmpty ? [] : before + text.split(separator: " ").map(String.init)
  }
}
