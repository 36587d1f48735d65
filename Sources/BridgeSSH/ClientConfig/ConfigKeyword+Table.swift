import BridgeErrors

// A new keyword is a row here, with the field of ClientConfig that it sets and what reads that.
extension ConfigKeyword {
  /// Every keyword that sets something, in the order in which the effects are applied: a line may
  /// change what the rows above it have set.
  package static let table = address + others

  /// Those that make the tokens of the others.
  static let address = [
    ConfigKeyword("HostName", check: ConfigEffect.checkHost, effect: ConfigEffect.hostName),
    ConfigKeyword("User", ConfigValue.plain) { $0.user = $1 },
    ConfigKeyword("Port", ConfigValue.port) { $0.port = $1 },
    ConfigKeyword("HostKeyAlias", ConfigValue.plain, isRestriction: true, field: \.hostKeyAlias),
    ConfigKeyword("Tag", ConfigValue.plain, field: \.tag),
  ]

  static let others = [
    // As many files as OpenSSH reads (SSH_MAX_IDENTITY_FILES).
    ConfigKeyword(
      "IdentityFile", .one, .all(limit: 100), slot: "files", effect: ConfigEffect.identityFile),
    ConfigKeyword(
      "IdentitiesOnly", ConfigValue.flag, isRestriction: true, field: \.identitiesOnly),
    ConfigKeyword("IdentityAgent", isRestriction: true, effect: ConfigEffect.identityAgent),
    ConfigKeyword("ForwardAgent", effect: ConfigEffect.forwardAgent),
    ConfigKeyword("PubkeyAuthentication", ConfigValue.publicKeys, isRestriction: true) {
      $0.allowsPublicKeys = $1
    },
    ConfigKeyword("BatchMode", ConfigValue.flag, isRestriction: true) { $0.login.isBatch = $1 },
    ConfigKeyword("PasswordAuthentication", ConfigValue.flag, isRestriction: true) {
      $0.login.allowsPasswords = $1
    },
    ConfigKeyword("KbdInteractiveAuthentication", ConfigValue.flag, isRestriction: true) {
      $0.login.allowsQuestions = $1
    },
    ConfigKeyword("PreferredAuthentications", ConfigValue.methods, isRestriction: true) {
      $0.login.methods = $1
    },
    ConfigKeyword("NumberOfPasswordPrompts", ConfigValue.count, isRestriction: true) {
      $0.login.passwordPrompts = $1
    },
    ConfigKeyword(
      "PubkeyAcceptedAlgorithms", isRestriction: true, check: ConfigEffect.checkAlgorithms,
      effect: ConfigEffect.acceptedKeys),
    ConfigKeyword("RequiredRSASize", ConfigValue.count, isRestriction: true) {
      $0.login.keys.smallestRSA = $1
    },
    ConfigKeyword("CertificateFile", .one, .all(limit: 100), effect: ConfigEffect.certificateFile),
    ConfigKeyword(
      "UserKnownHostsFile", .several, isRestriction: true,
      effect: ConfigEffect.paths(\.userKnownHostsFiles)),
    ConfigKeyword(
      "GlobalKnownHostsFile", .several, isRestriction: true,
      effect: ConfigEffect.paths(\.globalKnownHostsFiles)),
    ConfigKeyword("KnownHostsCommand", .several, effect: ConfigEffect.knownHostsCommand),
    ConfigKeyword("HashKnownHosts", ConfigValue.flag) { $0.hidesHostNames = $1 },
    ConfigKeyword("RevokedHostKeys", isRestriction: true, effect: ConfigEffect.revokedHostKeys),
    ConfigKeyword(
      "StrictHostKeyChecking", ConfigValue.checking, isRestriction: true,
      warning: ConfigValue.checkingWarning, field: \.hostKeyChecking),
    algorithms("HostKeyAlgorithms", [.hostKey]),
    algorithms("KexAlgorithms", [.keyExchange]),
    algorithms("Ciphers", [.cipherToServer, .cipherToClient]),
    algorithms("MACs", [.macToServer, .macToClient]),
    ConfigKeyword("AddressFamily", ConfigValue.family) { $0.addressFamily = $1 },
    ConfigKeyword("BindAddress", ConfigValue.source, isRestriction: true) { $0.bindAddress = $1 },
    ConfigKeyword("BindInterface", ConfigValue.source, isRestriction: true) {
      $0.bindInterface = $1
    },
    ConfigKeyword("ConnectTimeout", ConfigValue.time) {
      $0.connectTimeout = $1 == .zero ? nil : $1
    },
    ConfigKeyword("ServerAliveInterval", ConfigValue.time, field: \.serverAliveInterval),
    ConfigKeyword("ServerAliveCountMax", ConfigValue.count, field: \.serverAliveCountMax),
    ConfigKeyword(
      "SendEnv", .several, .every(limit: 256), check: ConfigEffect.checkSendEnv,
      effect: ConfigEffect.sendEnv),
    ConfigKeyword(
      "SetEnv", .several, check: ConfigEffect.checkSetEnv, effect: ConfigEffect.setEnv),
    ConfigKeyword("RequestTTY", ConfigValue.terminal, field: \.requestTTY),
    ConfigKeyword("SessionType", ConfigValue.session, field: \.sessionType),
    ConfigKeyword("StdinNull", ConfigValue.flag) { $0.readsNothing = $1 },
    ConfigKeyword("EscapeChar", ConfigValue.escape) { $0.escape = $1 },
    ConfigKeyword("RemoteCommand", .line, effect: ConfigEffect.remoteCommand),
    ConfigKeyword("LocalCommand", .line, effect: ConfigEffect.localCommand),
    ConfigKeyword("PermitLocalCommand", ConfigValue.flag, isRestriction: true) {
      $0.permitsLocalCommand = $1
    },
    ConfigKeyword(
      "PermitRemoteOpen", .several, isRestriction: true, check: ConfigEffect.checkRemoteOpen,
      effect: ConfigEffect.remoteOpen),
    ConfigKeyword("ControlMaster", ConfigValue.master) { $0.sharing.master = $1 },
    ConfigKeyword("ControlPath", effect: ConfigEffect.controlPath),
    ConfigKeyword("ControlPersist", ConfigValue.persistence) { $0.sharing.persistence = $1 },
    ConfigKeyword("LogLevel", ConfigValue.level, field: \.logLevel),
    ConfigKeyword(
      "ProxyJump", slot: "proxy", isRestriction: true, check: ConfigEffect.checkJump,
      effect: ConfigEffect.proxyJump),
    ConfigKeyword(
      "ProxyCommand", .line, slot: "proxy", isRestriction: true,
      effect: ConfigEffect.proxyCommand),
    forward("LocalForward", .several) { (text) throws(AppError) in
      try ForwardRule(local: text, field: "")
    },
    forward("DynamicForward", .one) { (text) throws(AppError) in
      try ForwardRule(dynamic: text, field: "")
    },
    forward("RemoteForward", .several) { (text) throws(AppError) in
      try ForwardRule(remote: text, field: "")
    },
    ConfigKeyword("GatewayPorts", ConfigValue.flag, effect: ConfigEffect.gatewayPorts),
    ConfigKeyword("StreamLocalBindUnlink", ConfigValue.flag) { $0.replacesSockets = $1 },
    ConfigKeyword("ExitOnForwardFailure", ConfigValue.flag, isRestriction: true) {
      $0.exitsOnForwardFailure = $1
    },
    ConfigKeyword("ClearAllForwardings", ConfigValue.flag, isRestriction: true) {
      $0.clearsForwards = $1
      if $1 { $0.forwards = [] }
    },
  ]

  private static func algorithms(_ name: String, _ kinds: [AlgorithmKind]) -> ConfigKeyword {
    ConfigKeyword(
      name, isRestriction: true, check: ConfigEffect.checkAlgorithms,
      effect: ConfigEffect.algorithms(kinds))
  }

  private static func forward(
    _ name: String, _ arity: Arity,
    _ read: @escaping @Sendable (String) throws(AppError) -> ForwardRule
  ) -> ConfigKeyword {
    ConfigKeyword(
      name, arity, .all(limit: 256), slot: "forwards",
      check: { (entry) throws(AppError) in _ = try ConfigValue.forward(entry, read) },
      effect: { (entry, names, config) throws(AppError) in
        let rule = try ConfigValue.forward(entry, read)
        let expanded = try rule.mapPaths { (path) throws(AppError) in
          try names.path(path, entry.refusal)
        }
        ConfigEffect.add(expanded, at: entry.location, to: &config)
      })
  }

  private static let byName = Dictionary(
    uniqueKeysWithValues: table.map {
      ($0.name.lowercased(), $0)
    })

  /// Older names that OpenSSH takes too.
  private static let aliases = [
    "dsaauthentication": "pubkeyauthentication",
    "challengeresponseauthentication": "kbdinteractiveauthentication",
    "skeyauthentication": "kbdinteractiveauthentication",
    "tisauthentication": "kbdinteractiveauthentication",
    "pubkeyacceptedkeytypes": "pubkeyacceptedalgorithms", "rsaminsize": "requiredrsasize",
  ]

  /// The row of the keyword written as `name`; nil where there is none.
  static func row(of name: String) -> ConfigKeyword? {
    let name = name.lowercased()
    return byName[aliases[name] ?? name]
  }
}
