import BridgeErrors

/// Walks the options and files and keeps what applies to the host: first value wins.
struct ConfigReader {
  /// Where something is written: `file:line`, or the option itself.
  struct Place: CustomStringConvertible {
    let description: String

    init(file: String, line: Int) {
      description = "\(PeerText.escaped(file, limit: 1024)):\(line)"
    }

    init(option: String) {
      description = "-o \(PeerText.escaped(option, limit: 256))"
    }
  }

  private(set) var settings = ConfigSettings()
  private let question: ClientConfig.Question
  private let files: ClientConfig.Files
  private var ignored: Set<String> = []
  private var notes: [String] = []
  private var filesRead = 0

  static let includeDepth = 16
  static let fileLimit = 256
  private static let warningLimit = 100

  init(question: ClientConfig.Question, files: ClientConfig.Files) {
    self.question = question
    self.files = files
  }

  var warnings: [String] {
    guard notes.count > Self.warningLimit else { return notes }
    return notes.prefix(Self.warningLimit)
      + ["\(notes.count - Self.warningLimit) more warnings about the configuration"]
  }

  mutating func read(option: String) throws(AppError) {
    let place = Place(option: option)
    guard let line = ConfigLine(option[...]), !line.name.isEmpty, !option.utf8.contains(10) else {
      throw bad("-o", "expected KEY=VALUE", place)
    }
    guard let keyword = ConfigKeyword(rawValue: line.name.lowercased()) else {
      return ignore(line.name, place)
    }
    switch keyword {
    case .host, .match, .include:
      throw bad(line.name, "it cannot be given as an option", place)
    case .hostName, .user, .port, .identityFile, .identitiesOnly, .userKnownHostsFile,
      .strictHostKeyChecking, .connectTimeout, .serverAliveInterval, .serverAliveCountMax,
      .hostKeyAlias, .requestTTY, .logLevel, .proxyJump, .proxyCommand:
      try apply(keyword, line, place)
    }
  }

  /// Reads the file at `path`; false where there is none.
  mutating func read(path: String) throws(AppError) -> Bool {
    guard let text = try files.read(path) else { return false }
    try read(text, path: path, above: [])
    return true
  }

  private mutating func read(_ text: String, path: String, above: [String]) throws(AppError) {
    filesRead += 1
    var isActive = true
    for (index, text) in TextLines.split(text).enumerated() {
      guard let line = ConfigLine(text) else { continue }
      let place = Place(file: path, line: index + 1)
      guard let keyword = ConfigKeyword(rawValue: line.name.lowercased()) else {
        if isActive { ignore(line.name, place) }
        continue
      }
      switch keyword {
      case .host:
        let patterns = try words(of: line, place).map { HostPattern($0) }
        isActive = patterns.match(question.host)
      case .match:
        isActive = false
        notes.append("\(place): Match is not supported; the block was skipped")
      case .include where isActive:
        try include(try words(of: line, place), place: place, above: above + [path])
      case .hostName, .user, .port, .identityFile, .identitiesOnly, .userKnownHostsFile,
        .strictHostKeyChecking, .connectTimeout, .serverAliveInterval, .serverAliveCountMax,
        .hostKeyAlias, .requestTTY, .logLevel, .proxyJump, .proxyCommand, .include:
        if isActive { try apply(keyword, line, place) }
      }
    }
  }

  private mutating func include(
    _ patterns: [String], place: Place, above: [String]
  ) throws(AppError) {
    for pattern in patterns {
      var path = try ConfigPath.expanded(pattern, question: question) {
        bad("Include", $0, place)
      }
      if !path.hasPrefix("/") { path = "\(question.home)/.ssh/\(path)" }
      for file in ConfigPath.glob(path, names: files.names) {
        guard !above.contains(file) else {
          throw bad("Include", "\(PeerText.escaped(file, limit: 1024)) includes itself", place)
        }
        guard above.count <= Self.includeDepth else {
          throw bad("Include", "more than \(Self.includeDepth) files deep", place)
        }
        guard filesRead < Self.fileLimit else {
          throw bad("Include", "more than \(Self.fileLimit) files", place)
        }
        guard let text = try files.read(file) else { continue }
        try read(text, path: file, above: above)
      }
    }
  }

  private mutating func apply(
    _ keyword: ConfigKeyword, _ line: ConfigLine, _ place: Place
  ) throws(AppError) {
    if keyword == .proxyCommand {
      let command = line.words ?? ["?"]
      guard !command.isEmpty else { throw bad(line.name, "the value is missing", place) }
      return try settings.setProxy(command, keyword: line.name, place: place)
    }
    let values = try words(of: line, place)
    guard values.count == 1 || keyword.takesSeveral else {
      throw bad(line.name, "more than one value", place)
    }
    let note = try settings.set(keyword, values, name: line.name, place: place)
    if let note { notes.append(note) }
  }

  private func words(of line: ConfigLine, _ place: Place) throws(AppError) -> [String] {
    guard let words = line.words else { throw bad(line.name, "a quote is not closed", place) }
    guard !words.isEmpty, !words.contains("") else {
      throw bad(line.name, "the value is missing", place)
    }
    return words
  }

  private mutating func ignore(_ name: String, _ place: Place) {
    let shown = name.isEmpty ? "=" : PeerText.escaped(name, limit: 64)
    guard ignored.count < 10_000, ignored.insert(name.lowercased()).inserted else { return }
    notes.append("\(place): \(shown) is not supported and was ignored")
  }

  private func bad(_ name: String, _ reason: String, _ place: Place) -> AppError {
    ConfigSettings.bad(name, reason, place)
  }
}
