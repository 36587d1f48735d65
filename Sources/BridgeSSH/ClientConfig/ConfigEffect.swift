import BridgeErrors

/// The effects that are more than one value in one field, and what is checked before.
enum ConfigEffect {
  typealias Effect =
    @Sendable (ConfigEntry, ConfigNames, inout ClientConfig) throws(AppError)
    -> Void

  static let nothing: Effect = { _, _, _ in }

  static func checkHost(_ entry: ConfigEntry) throws(AppError) {
    if let reason = ConfigValue.hostProblem(entry.text) { throw entry.refusal(reason) }
  }

  static func hostName(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    let refuse = { (reason: String) in entry.location.refusal(of: entry.keyword, reason) }
    let host = try TextTokens.replaced(entry.text, tokens: names.tokens, refuse)
    if let reason = ConfigValue.hostProblem(host) { throw refuse(reason) }
    config.hostName = host
  }

  static func identityFile(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    var files = config.identityFiles ?? []
    if !entry.isNone {
      let path = try names.path(entry)
      if !files.contains(path) { files.append(path) }
      config.identityLocations[path] = config.identityLocations[path] ?? entry.location
    }
    config.identityFiles = files
  }

  static func identityAgent(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    let text = entry.text
    if entry.isNone {
      config.agentSocket = nil
    } else if text.hasPrefix("$"), !text.hasPrefix("${") {
      config.agentSocket = names.query.agentSocket(in: String(text.dropFirst()))
    } else if text != ClientConfig.Query.agentVariable {
      config.agentSocket = try names.path(entry)
    }
  }

  /// `yes` forwards the agent that keys are asked of; a path or `$VARIABLE` another one.
  static func forwardAgent(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    let text = entry.text
    switch text.lowercased() {
    case "yes", "true": config.forwardedAgent = .own
    case "no", "false": config.forwardedAgent = ClientConfig.ForwardedAgent.none
    case _ where text.hasPrefix("$") && !text.hasPrefix("${"):
      let socket = names.query.agentSocket(in: String(text.dropFirst()))
      config.forwardedAgent = socket.map { .socket($0) } ?? ClientConfig.ForwardedAgent.none
    case _: config.forwardedAgent = .socket(try names.path(entry))
    }
  }

  static func certificateFile(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    guard !entry.isNone else { return }
    let path = try names.path(entry)
    if !config.certificateFiles.contains(path) { config.certificateFiles.append(path) }
  }

  static func paths(_ field: any WritableKeyPath<ClientConfig, [String]?> & Sendable) -> Effect {
    { (entry, names, config) throws(AppError) in
      config[keyPath: field] = entry.isNone ? [] : try names.paths(entry)
    }
  }

  static func controlPath(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    config.sharing.path = entry.isNone ? nil : try names.path(entry)
  }

  static func knownHostsCommand(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    guard !entry.isNone else { return }
    config.knownHostsCommand = try KnownHostsCommand(
      entry.words, tokens: names.tokens, entry.refusal)
  }

  /// A list that cannot be read would revoke nothing, so it ends the run.
  static func revokedHostKeys(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    guard !entry.isNone else { return }
    let path = try names.path(entry)
    let shown = PeerText.escaped(path, limit: 1024)
    guard let text = try names.files.read(path, false) else {
      throw entry.location.refusal(of: entry.keyword, "there is no file \(shown)")
    }
    guard !text.hasPrefix("SSHKRL\n") else {
      throw .featureUnavailable(
        feature: "RevokedHostKeys \(shown) as a binary list (\(entry.location))")
    }
    config.revokedHostKeys = path
  }

  static func checkAlgorithms(_ entry: ConfigEntry) throws(AppError) {
    _ = try ConfigValue.algorithms(entry.text, entry.refusal)
  }

  static func algorithms(_ kinds: [AlgorithmKind]) -> Effect {
    { (entry, _, config) throws(AppError) in
      let request = try ConfigValue.algorithms(entry.text, entry.refusal)
      guard let changed = config.algorithms.applying(request, to: kinds) else {
        throw nothingLeft(by: entry)
      }
      config.algorithms = changed
    }
  }

  static func acceptedKeys(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    let request = try ConfigValue.algorithms(entry.text, entry.refusal)
    guard let rules = config.login.keys.accepting(request) else { throw nothingLeft(by: entry) }
    config.login.keys = rules
  }

  /// The error of a list that has none of the algorithms that there are.
  private static func nothingLeft(by entry: ConfigEntry) -> AppError {
    let name = PeerText.escaped(entry.name, limit: 64)
    let value = PeerText.escaped(entry.text, limit: 256)
    return .featureUnavailable(feature: "\(name) \(value) (\(entry.location))")
  }

  /// Malformed hops are an error also where an earlier line has decided, as with OpenSSH.
  static func checkJump(_ entry: ConfigEntry) throws(AppError) {
    if !entry.isNone { _ = try JumpHost.list(entry.text, entry.refusal) }
  }

  static func proxyJump(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    guard !entry.isNone else { return }
    let text = try TextTokens.replaced(entry.text, tokens: names.tokens, entry.refusal)
    config.proxy = .jump(try JumpHost.list(text, entry.refusal))
  }

  static func proxyCommand(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    guard !entry.isNone else { return }
    config.proxy = .command(try shellLine(entry.text, names.tokens, entry.refusal))
  }

  /// `text` with its tokens replaced, for a shell: a name may come from a stranger.
  static func shellLine(
    _ text: String, _ tokens: [Character: String], _ refuse: (String) -> AppError
  ) throws(AppError) -> String {
    let mentioned = tokens.filter { text.contains("%\($0.key)") }.values
    for name in [tokens["h"], tokens["n"], tokens["r"], tokens["k"]].compactMap(\.self)
    where mentioned.contains(name) && name.contains(where: isForShell) {
      let shown = PeerText.escaped(name, limit: 128)
      throw refuse("\"\(shown)\" has characters that a shell acts on")
    }
    return try TextTokens.replaced(text, tokens: tokens, refuse)
  }

  private static func isForShell(_ character: Character) -> Bool {
    "'`\"$\\;&<>|(){}*?~#!".contains(character) || character.isWhitespace
  }

  static func remoteCommand(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    guard !entry.isNone else { return }
    config.remoteCommand = try TextTokens.replaced(entry.text, tokens: names.tokens, entry.refusal)
  }

  static func localCommand(
    _ entry: ConfigEntry, _ names: ConfigNames, _ config: inout ClientConfig
  ) throws(AppError) {
    guard !entry.isNone else { return }
    config.localCommand = try shellLine(entry.text, names.tokens, entry.refusal)
  }

  static func checkRemoteOpen(_ entry: ConfigEntry) throws(AppError) {
    guard entry.words.count > 1 || !["any", "none"].contains(entry.text.lowercased()) else {
      return
    }
    for word in entry.words where PermittedTarget(word) == nil {
      throw entry.refusal("\"\(PeerText.escaped(word, limit: 128))\" is not HOST:PORT")
    }
  }

  static func remoteOpen(_ entry: ConfigEntry, _: ConfigNames, _ config: inout ClientConfig) {
    let isAny = entry.words.count == 1 && entry.text.lowercased() == "any"
    config.remoteTargets = isAny ? nil : entry.words.compactMap { PermittedTarget($0) }
  }

  static func checkSendEnv(_ entry: ConfigEntry) throws(AppError) {
    for word in entry.words where word.contains("=") || word.utf8.contains(0) {
      throw entry.refusal("\"\(PeerText.escaped(word, limit: 128))\" is not a variable's name")
    }
  }

  static func sendEnv(_ entry: ConfigEntry, _: ConfigNames, _ config: inout ClientConfig) {
    for word in entry.words {
      if word.hasPrefix("-") {
        config.sentEnvironment.removeAll { HostPattern.fits($0.text, String(word.dropFirst())) }
      } else {
        config.sentEnvironment.append(ConfigWord(text: word, location: entry.location))
      }
    }
  }

  static func checkSetEnv(_ entry: ConfigEntry) throws(AppError) {
    for word in entry.words
    where EnvironmentVariable(assignment: word) == nil || word.utf8.contains(0) {
      throw entry.refusal("\"\(PeerText.escaped(word, limit: 128))\" is not NAME=VALUE")
    }
  }

  static func setEnv(_ entry: ConfigEntry, _: ConfigNames, _ config: inout ClientConfig) {
    for word in entry.words {
      let name = word.prefix { $0 != "=" }
      let isNew = !config.setEnvironment.contains { $0.text.prefix { $0 != "=" } == name }
      guard isNew else { continue }
      config.setEnvironment.append(ConfigWord(text: word, location: entry.location))
    }
  }

  static func add(
    _ rule: ForwardRule, at location: ConfigLocation, to config: inout ClientConfig
  ) {
    guard !config.forwards.contains(rule) else { return }
    config.forwards.append(rule)
    config.forwardLocations[rule] = location
  }

  static func gatewayPorts(_ config: inout ClientConfig, isOpen: Bool) {
    guard isOpen else { return }
    config.opensForwards = true
    for (rule, location) in config.forwardLocations {
      config.forwardLocations[rule.opened] = location
    }
    config.forwards = config.forwards.map(\.opened)
  }
}
