package import BridgeErrors

/// What is needed to make names of what is written: tokens, the environment, home directories.
struct ConfigNames {
  /// ssh_config(5), TOKENS, as far as they have a value before the connection is made.
  var tokens: [Character: String]
  let query: ClientConfig.Query
  let files: ClientConfig.Files

  /// The names that HostName may use.
  init(beforeHostNameOf query: ClientConfig.Query, files: ClientConfig.Files) {
    tokens = ["h": query.host]
    self.query = query
    self.files = files
  }

  /// The names that all others may use. `jump` is the text of ProxyJump.
  init(
    for config: ClientConfig, jump: String, query: ClientConfig.Query, files: ClientConfig.Files
  ) {
    let (host, port) = (config.hostName.lowercased(), config.port)
    let hash = Digest.sha1(Array("\(query.localHost)\(host)\(port)\(config.user)".utf8))
    tokens = [
      "C": hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(),
      "d": query.home, "h": host,
      "i": String(query.localUserID),
      "j": jump,
      "k": config.hostKeyAlias?.lowercased() ?? query.host,
      "L": String(query.localHost.prefix { $0 != "." }), "l": query.localHost,
      "n": query.host, "p": String(port), "r": config.user, "u": query.localUser,
    ]
    self.query = query
    self.files = files
  }

  /// The names that a command of `Match exec` may use, as far as they are known then.
  init(
    whileReading config: ClientConfig, jump: String, query: ClientConfig.Query,
    files: ClientConfig.Files
  ) {
    self.init(for: config, jump: jump, query: query, files: files)
    tokens["h"] = config.hostName
  }

  /// The file that `entry` names.
  func path(_ entry: ConfigEntry) throws(AppError) -> String {
    try path(entry.text, of: entry)
  }

  /// The files that `entry` names, each once.
  func paths(_ entry: ConfigEntry) throws(AppError) -> [String] {
    var paths: [String] = []
    for word in entry.words {
      let path = try path(word, of: entry)
      if !paths.contains(path) { paths.append(path) }
    }
    return paths
  }

  private func path(_ text: String, of entry: ConfigEntry) throws(AppError) -> String {
    try path(text) { entry.location.refusal(of: entry.keyword, $0) }
  }

  /// `text` with all that stands for something replaced.
  func path(_ text: String, _ refuse: (String) -> AppError) throws(AppError) -> String {
    let expanded = try ConfigPath.expanded(text, query: query, files: files, refuse)
    return try TextTokens.replaced(expanded, tokens: tokens, refuse)
  }
}

extension ClientConfig {
  /// A rule of the command line with `~`, variables and tokens in the paths of its unix sockets
  /// replaced, as OpenSSH does.
  ///
  /// - Throws: `validationError` of the option.
  package func expanding(
    _ rule: ForwardRule, for query: Query, files: Files
  ) throws(AppError) -> ForwardRule {
    let names = ConfigNames(for: self, jump: "", query: query, files: files)
    return try rule.mapPaths { (path) throws(AppError) in
      try names.path(path) {
        .validationError(
          field: String(rule.name.prefix(2)),
          message: "\(PeerText.escaped(path, limit: 256)): \($0).")
      }
    }
  }
}

extension ClientConfig.Query {
  /// Where the socket of the ssh-agent stands.
  static let agentVariable = "SSH_AUTH_SOCK"

  /// The socket that `variable` names; nil where it is not set, or empty.
  func agentSocket(in variable: String = agentVariable) -> String? {
    environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }
}
