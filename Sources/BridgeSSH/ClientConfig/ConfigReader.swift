import BridgeErrors

/// Walks the options and files and keeps what applies to the host: first value wins.
struct ConfigReader {
  /// The file that is read, and what holds for all that it includes.
  private struct Scope {
    var path: String
    /// Where relative names of Include begin.
    var directory: String
    var isSystem = false
    /// The files around it.
    var above: [String] = []
    /// It is included for another host: its lines are only checked.
    var isForOthers = false

    func included(_ file: String, forOthers: Bool) -> Scope {
      Scope(
        path: file, directory: directory, isSystem: isSystem, above: above + [path],
        isForOthers: isForOthers || forOthers)
    }
  }

  /// Whether the lines that are read apply.
  private enum Block {
    case applies
    case doesNotApply
    /// Unknown: its Match line is not supported.
    case skipped(ConfigLocation)
  }

  private(set) var settings = ConfigSettings()
  /// Whether a Match line asks for a second reading with the final host name.
  private(set) var needsFinalPass = false
  private let query: ClientConfig.Query
  private let files: ClientConfig.Files
  /// What the patterns of Host lines are compared with.
  private var host: String
  private var isFinalPass = false
  /// IgnoreUnknown, where it was seen.
  private var ignorable: [HostPattern]?
  /// A sentence for each line that has no effect and needs none.
  private(set) var notes: [String] = []
  private var collected: [String] = []
  private var known: Set<String> = []
  private var filesRead = 0

  static let includeDepth = 16
  static let fileLimit = 256
  private static let warningLimit = 100

  init(query: ClientConfig.Query, files: ClientConfig.Files) {
    self.query = query
    self.files = files
    host = query.host
  }

  var warnings: [String] {
    guard collected.count > Self.warningLimit else { return collected }
    return collected.prefix(Self.warningLimit)
      + ["\(collected.count - Self.warningLimit) more warnings about the configuration"]
  }

  mutating func read(option: String) throws(AppError) {
    let location = ConfigLocation.option(option)
    guard let line = ConfigLine(option[...]), !line.name.isEmpty, !option.utf8.contains(10) else {
      throw bad("-o", "expected KEY=VALUE", location)
    }
    switch ConfigDirective(line.name) {
    case nil: try refuseUnknown(line.name, location)
    case .host, .match, .include: throw bad(line.name, "it cannot be given as an option", location)
    case .ignoreUnknown: try ignoreUnknown(line, location)
    case .setting(let keyword): try apply(keyword, line, location)
    case .unused(let keyword): try leaveOut(keyword, line, location)
    }
  }

  /// Reads `sources` in order.
  mutating func read(_ sources: [ClientConfig.Source]) throws(AppError) {
    for source in sources {
      switch source {
      case .user(let path):
        let scope = Scope(path: path, directory: "\(query.home)/.ssh")
        try readUnlessForbidden(scope, isChecked: true)
      case .named(let path):
        let scope = Scope(path: path, directory: "\(query.home)/.ssh")
        guard try read(scope, isChecked: false) else { throw .fileNotFound(path: path) }
      case .system(let path):
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        let scope = Scope(path: path, directory: directory, isSystem: true)
        try readUnlessForbidden(scope, isChecked: false)
      }
    }
  }

  /// As with OpenSSH, a usual file that may not be read stops nothing. What it says is missing: it
  /// is mentioned.
  private mutating func readUnlessForbidden(_ scope: Scope, isChecked: Bool) throws(AppError) {
    do throws(AppError) {
      _ = try read(scope, isChecked: isChecked)
    } catch {
      guard error == .filePermissionDenied(path: scope.path) else { throw error }
      warn("\(PeerText.escaped(scope.path)) is left out: you have no permission to read it")
    }
  }

  /// Begins the second reading, in which Host and Match lines see the name that is connected to.
  mutating func beginFinalPass() throws(AppError) {
    settings.isHostNameFinal = true
    host = try settings.addressed(for: query, files: files).hostName
    isFinalPass = true
    filesRead = 0
  }

  /// False where there is no such file.
  private mutating func read(_ scope: Scope, isChecked: Bool) throws(AppError) -> Bool {
    guard let text = try files.read(scope.path, isChecked) else { return false }
    filesRead += 1
    var block = scope.isForOthers ? Block.doesNotApply : .applies
    for (index, text) in TextLines.split(text).enumerated() {
      guard let line = ConfigLine(text) else { continue }
      try read(line, in: &block, scope, ConfigLocation.file(scope.path, line: index + 1))
    }
    return true
  }

  private mutating func read(
    _ line: ConfigLine, in block: inout Block, _ scope: Scope, _ location: ConfigLocation
  ) throws(AppError) {
    let directive = ConfigDirective(line.name)
    switch (directive, block) {
    case (.host, _) where scope.isForOthers, (.match, _) where scope.isForOthers:
      break
    case (.host, _):
      let patterns = try words(of: line, location).map { HostPattern($0) }
      block = patterns.match(host) ? .applies : .doesNotApply
    case (.match, _):
      block = try match(line, location)
    case (nil, _):
      // As with OpenSSH, also where the lines hold for another host.
      try refuseUnknown(line.name, location)
    case (.include, .doesNotApply):
      try include(try words(of: line, location), scope, location, forOthers: true)
    case (_, .doesNotApply):
      break
    case (_, .skipped(let matchLocation)):
      try warnSkipped(directive, line, location, matchLocation)
    case (.include, .applies):
      try include(try words(of: line, location), scope, location, forOthers: false)
    case (.setting(let keyword), .applies):
      try apply(keyword, line, location)
    case (.ignoreUnknown, .applies):
      try ignoreUnknown(line, location)
    case (.unused(let keyword), .applies):
      try leaveOut(keyword, line, location, isSystem: scope.isSystem)
    }
  }

  private mutating func match(_ line: ConfigLine, _ location: ConfigLocation) throws(AppError)
    -> Block
  {
    let config = try settings.addressed(for: query, files: files)
    let facts = ConfigMatch.Facts(
      host: config.hostName, originalHost: query.host, user: config.user,
      localUser: query.localUser, tag: config.tag ?? "", command: query.command ?? "",
      session: query.session, localAddresses: files.addresses, isFinalPass: isFinalPass)
    let criteria = try words(of: line, location)
    var match = ConfigMatch()
    let outcome: ConfigMatch.Outcome
    do throws(ConfigMatch.Malformed) {
      outcome = try match.evaluate(criteria, facts) { command in
        execute(command, config, location)
      }
    } catch {
      throw bad(line.name, error.reason, location)
    }
    needsFinalPass = needsFinalPass || match.needsFinalPass
    switch outcome {
    case .applies(let applies): return applies ? .applies : .doesNotApply
    case .failed(let error): throw error
    case .unsupported(let name):
      warn("\(location): Match \(name) is not supported; the block was skipped")
      return .skipped(location)
    }
  }

  /// Runs a command of `Match exec`; nil where none may run.
  private func execute(
    _ command: String, _ config: ClientConfig, _ location: ConfigLocation
  ) -> Result<Bool, AppError>? {
    guard let execute = files.execute else { return nil }
    let shell = query.environment["SHELL"].flatMap { $0.isEmpty ? nil : $0 } ?? "/bin/sh"
    let refuse = { (reason: String) in location.refusal(of: "Match exec", reason) }
    do throws(AppError) {
      let names = ConfigNames(whileReading: config, jump: settings.jump, query: query, files: files)
      let line = try ConfigEffect.shellLine(command, names.tokens, refuse)
      return execute(line, shell).mapError {
        refuse("\"\(PeerText.escaped(line, limit: 256))\" \($0.reason)")
      }
    } catch {
      return .failure(error)
    }
  }

  /// A restriction must not go unnoticed with the block that it stands in.
  private mutating func warnSkipped(
    _ directive: ConfigDirective?, _ line: ConfigLine, _ location: ConfigLocation,
    _ matchLocation: ConfigLocation
  ) throws(AppError) {
    switch directive {
    case .setting(let keyword) where keyword.isRestriction: break
    case .unused(let keyword) where keyword.meaning == .restricts: break
    case .include: break
    case .host, .match, .ignoreUnknown, .setting, .unused, nil: return
    }
    warn("\(location): \(line.name) was skipped with the Match block (\(matchLocation))")
  }

  private mutating func include(
    _ patterns: [String], _ scope: Scope, _ location: ConfigLocation, forOthers: Bool
  ) throws(AppError) {
    for pattern in patterns {
      guard !scope.isSystem || !pattern.hasPrefix("~") else {
        throw bad("Include", "the machine's file cannot include a user's", location)
      }
      var path = try ConfigPath.expanded(pattern, query: query, files: files) {
        bad("Include", $0, location)
      }
      if !path.hasPrefix("/") { path = "\(scope.directory)/\(path)" }
      for file in ConfigPath.glob(path, names: files.names) {
        guard file != scope.path, !scope.above.contains(file) else {
          throw bad("Include", "\(PeerText.escaped(file, limit: 1024)) includes itself", location)
        }
        guard scope.above.count < Self.includeDepth else {
          throw bad("Include", "more than \(Self.includeDepth) files deep", location)
        }
        guard filesRead < Self.fileLimit else {
          throw bad("Include", "more than \(Self.fileLimit) files", location)
        }
        _ = try read(scope.included(file, forOthers: forOthers), isChecked: true)
      }
    }
  }

  private mutating func apply(
    _ keyword: ConfigKeyword, _ line: ConfigLine, _ location: ConfigLocation
  ) throws(AppError) {
    let words: [String]
    switch keyword.arity {
    case .one:
      words = try self.words(of: line, location)
      guard words.count == 1 else { throw bad(line.name, "more than one value", location) }
    case .several:
      words = try self.words(of: line, location)
    case .line:
      let text = String(decoding: line.rest, as: UTF8.self)
      guard !text.isEmpty else { throw bad(line.name, "the value is missing", location) }
      guard !text.utf8.contains(0) else { throw bad(line.name, "it has a zero byte", location) }
      words = [text]
    }
    let entry = ConfigEntry(
      keyword: keyword.name, name: line.name, words: words, location: location)
    if let warning = try settings.set(keyword, entry) { warn(warning) }
  }

  private func words(of line: ConfigLine, _ location: ConfigLocation) throws(AppError) -> [String] {
    guard let words = line.words else { throw bad(line.name, "a quote is not closed", location) }
    guard !words.isEmpty, !words.contains("") else {
      throw bad(line.name, "the value is missing", location)
    }
    return words
  }

  /// The first line with IgnoreUnknown counts.
  private mutating func ignoreUnknown(
    _ line: ConfigLine, _ location: ConfigLocation
  ) throws(AppError) {
    let words = try words(of: line, location)
    ignorable =
      ignorable
      ?? words.flatMap { $0.split(separator: ",") }.map {
        HostPattern($0.lowercased())
      }
  }

  private func isIgnorable(_ name: String) -> Bool { ignorable?.match(name.lowercased()) == true }

  private mutating func refuseUnknown(
    _ name: String, _ location: ConfigLocation
  ) throws(AppError) {
    guard !isIgnorable(name) else { return addNote("\(location): \(shown(name)) was ignored") }
    let near = NearNames.of(name, among: ConfigDirective.names)
    let hint = near.isEmpty ? "" : ". Did you mean \(near.joined(separator: ", "))?"
    // By the first words tools find out what a client does not know.
    let reason = "Bad configuration option: it is not a keyword of ssh_config\(hint)"
    throw bad(name.isEmpty ? "=" : name, reason, location)
  }

  /// A keyword that sets nothing here. What a distribution wrote into the machine's file is no
  /// wish of the user's, and IgnoreUnknown waives what it names.
  private mutating func leaveOut(
    _ keyword: UnusedKeyword, _ line: ConfigLine, _ location: ConfigLocation, isSystem: Bool = false
  ) throws(AppError) {
    let entry = ConfigEntry(
      keyword: keyword.name, name: line.name, words: line.words ?? [], location: location)
    guard settings.leaveOut(entry) else { return }
    let values = entry.words.map { $0.lowercased() }
    let isNeutral = !values.isEmpty && values.allSatisfy(keyword.isNeutral)
    let isWaived = isSystem || isIgnorable(line.name) || isNeutral
    switch keyword.meaning {
    case .restricts where !isWaived:
      throw .featureUnavailable(
        feature: "\(shown(line.name)), which forbids what would be done without it (\(location))")
    case .changes where !isWaived:
      warn("\(location): \(shown(line.name)) is not supported and was ignored")
    case .harmless, .changes, .restricts:
      addNote("\(location): \(shown(line.name)) has no effect here")
    }
  }

  private func shown(_ name: String) -> String { PeerText.escaped(name, limit: 64) }

  private mutating func addNote(_ text: String) {
    if notes.count < Self.warningLimit, !notes.contains(text) { notes.append(text) }
  }

  private mutating func warn(_ warning: String) {
    if known.count < 10_000, known.insert(warning).inserted { collected.append(warning) }
  }

  private func bad(_ name: String, _ reason: String, _ location: ConfigLocation) -> AppError {
    location.refusal(of: name, reason)
  }
}
