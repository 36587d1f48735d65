import BridgeErrors

/// The first value of each keyword, checked, with the place it came from where tokens are still to
/// be replaced.
struct ConfigSettings {
  private typealias Text = (text: String, place: ConfigReader.Place)

  private var hostName: Text?
  private var user: String?
  private var port: Int?
  private var identityFiles: [Text]?
  private var identitiesOnly: Bool?
  private var userKnownHostsFiles: [Text]?
  private var hostKeyChecking: ClientConfig.HostKeyChecking?
  private var connectTimeout: Duration?
  private var serverAliveInterval: Duration?
  private var serverAliveCountMax: Int?
  private var hostKeyAlias: String?
  private var requestTTY: ClientConfig.TTY?
  private var logLevel: ClientConfig.LogLevel?
  private var hasProxySetting = false

  /// As many as OpenSSH reads (SSH_MAX_IDENTITY_FILES).
  private static let identityLimit = 100

  static func bad(_ name: String, _ reason: String, _ place: ConfigReader.Place) -> AppError {
    .validationError(field: PeerText.escaped(name, limit: 64), message: "\(reason) (\(place))")
  }

  /// Checks `values`, and keeps them unless an earlier place has set `keyword`. Answers a note
  /// where a value is not taken as it is meant.
  mutating func set(
    _ keyword: ConfigKeyword, _ values: [String], name: String, place: ConfigReader.Place
  ) throws(AppError) -> String? {
    let value = values[0]
    let refuse = { (reason: String) in Self.bad(name, reason, place) }
    switch keyword {
    case .host, .match, .include: break
    case .hostName:
      if let reason = ConfigValue.hostProblem(value) { throw refuse(reason) }
      keep((value, place), in: \.hostName)
    case .user: keep(try ConfigValue.plain(value, refuse), in: \.user)
    case .port: keep(try ConfigValue.port(value, refuse), in: \.port)
    case .identityFile: try addIdentity((value, place), refuse)
    case .identitiesOnly: keep(try ConfigValue.flag(value, refuse), in: \.identitiesOnly)
    case .userKnownHostsFile:
      let files = values.map { (text: $0, place: place) }
      keep(value.lowercased() == "none" ? [] : files, in: \.userKnownHostsFiles)
    case .strictHostKeyChecking:
      keep(try ConfigValue.checking(value, refuse), in: \.hostKeyChecking)
      return ConfigValue.checkingNote(value, place)
    case .connectTimeout: keep(try ConfigValue.time(value, refuse), in: \.connectTimeout)
    case .serverAliveInterval: keep(try ConfigValue.time(value, refuse), in: \.serverAliveInterval)
    case .serverAliveCountMax: keep(try ConfigValue.count(value, refuse), in: \.serverAliveCountMax)
    case .hostKeyAlias: keep(try ConfigValue.plain(value, refuse), in: \.hostKeyAlias)
    case .requestTTY: keep(try ConfigValue.terminal(value, refuse), in: \.requestTTY)
    case .logLevel: keep(try ConfigValue.level(value, refuse), in: \.logLevel)
    case .proxyJump, .proxyCommand: try setProxy(values, keyword: name, place: place)
    }
    return nil
  }

  /// The first proxy setting decides; anything but `none` cannot be honoured, and connecting past
  /// a proxy that was asked for would be wrong.
  mutating func setProxy(
    _ words: [String], keyword: String, place: ConfigReader.Place
  ) throws(AppError) {
    guard !hasProxySetting else { return }
    hasProxySetting = true
    guard words.count == 1, words[0].lowercased() == "none" else {
      throw .featureUnavailable(feature: "\(PeerText.escaped(keyword, limit: 64)) (\(place))")
    }
  }

  /// The settings with defaults filled in and tokens replaced.
  func resolved(
    for question: ClientConfig.Question, warnings: [String]
  ) throws(AppError) -> ClientConfig {
    var host = question.host
    if let hostName {
      let refuse = { (reason: String) in Self.bad("HostName", reason, hostName.place) }
      host = try ConfigPath.replaced(hostName.text, tokens: ["h": question.host], refuse)
      if let reason = ConfigValue.hostProblem(host) { throw refuse(reason) }
    }
    let port = question.port ?? port ?? 22
    let user = question.user ?? user ?? question.localUser
    let tokens: [Character: String] = [
      "h": host, "p": String(port), "r": user, "u": question.localUser, "d": question.home,
    ]
    return ClientConfig(
      hostName: host, port: port, user: user,
      identityFiles: try paths(identityFiles, "IdentityFile", tokens, question),
      identitiesOnly: identitiesOnly,
      userKnownHostsFiles: try paths(
        userKnownHostsFiles, "UserKnownHostsFile", tokens, question),
      hostKeyChecking: hostKeyChecking,
      connectTimeout: connectTimeout == .zero ? nil : connectTimeout,
      serverAliveInterval: serverAliveInterval, serverAliveCountMax: serverAliveCountMax,
      hostKeyAlias: hostKeyAlias, requestTTY: requestTTY, logLevel: logLevel, warnings: warnings)
  }

  private func paths(
    _ files: [Text]?, _ name: String, _ tokens: [Character: String],
    _ question: ClientConfig.Question
  ) throws(AppError) -> [String]? {
    guard let files else { return nil }
    var paths: [String] = []
    for file in files {
      let refuse = { (reason: String) in Self.bad(name, reason, file.place) }
      let expanded = try ConfigPath.expanded(file.text, question: question, refuse)
      let path = try ConfigPath.replaced(expanded, tokens: tokens, refuse)
      if !paths.contains(path) { paths.append(path) }
    }
    return paths
  }

  private mutating func addIdentity(
    _ file: Text, _ refuse: (String) -> AppError
  ) throws(AppError) {
    var files = identityFiles ?? []
    guard files.count < Self.identityLimit else {
      throw refuse("more than \(Self.identityLimit) files")
    }
    if file.text.lowercased() != "none" { files.append(file) }
    identityFiles = files
  }

  private mutating func keep<Value>(
    _ value: Value, in slot: WritableKeyPath<ConfigSettings, Value?>
  ) {
    if self[keyPath: slot] == nil { self[keyPath: slot] = value }
  }
}
