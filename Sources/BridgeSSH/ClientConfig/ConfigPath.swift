import BridgeErrors

/// File names of a configuration: `~`, `${NAME}` and, for Include, wildcards.
enum ConfigPath {
  /// `text` with a leading `~` or `~user` and every `${NAME}` replaced.
  static func expanded(
    _ text: String, query: ClientConfig.Query, files: ClientConfig.Files,
    _ refuse: (String) -> AppError
  ) throws(AppError) -> String {
    var path = text
    if text.hasPrefix("~") {
      let user = String(text.dropFirst().prefix { $0 != "/" })
      guard let home = user.isEmpty ? query.home : files.home(user) else {
        throw refuse("there is no user \(PeerText.escaped(user, limit: 64))")
      }
      let rest = text.dropFirst(1 + user.count)
      // As with OpenSSH, a home directory alone ends with a slash.
      path = home + (rest.isEmpty ? "/" : rest)
    }
    guard !path.utf8.contains(0) else { throw refuse("a file name cannot hold a zero byte") }
    var result = ""
    var rest = path[...]
    while let start = rest.firstRange(of: "${") {
      guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
        throw refuse("${ is not closed")
      }
      let name = String(rest[start.upperBound..<end])
      guard let value = query.environment[name] else {
        throw refuse("the variable \(PeerText.escaped(name, limit: 64)) is not set")
      }
      result += rest[..<start.lowerBound] + value
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  /// The files that `pattern` (absolute, with wildcards in any part) stands for, sorted; the
  /// pattern itself where it has no wildcard. At most 1,024.
  static func glob(_ pattern: String, names: (String) -> [String]) -> [String] {
    var paths = [""]
    for part in pattern.split(separator: "/").map({ PathPattern($0) }) {
      guard part.hasWildcard else {
        paths = paths.map { "\($0)/\(part.plain)" }
        continue
      }
      var matches: [String] = []
      for path in paths {
        let found = names(path.isEmpty ? "/" : path).filter(part.fits)
        matches += found.sorted().map { "\(path)/\($0)" }
        if matches.count > 1024 { break }
      }
      paths = Array(matches.prefix(1024))
      if paths.isEmpty { break }
    }
    return paths
  }
}
