import BridgeErrors

// What comes of the first values once all of them are known.
extension ConfigSettings {
  /// HostName as far as it is known, else the host as it was typed.
  func host(for query: ClientConfig.Query) throws(AppError) -> String {
    guard let hostName else { return query.host }
    let refuse = { (reason: String) in Self.bad("HostName", reason, hostName.location) }
    let host = try ConfigPath.replaced(hostName.text, tokens: ["h": query.host], refuse)
    if let reason = ConfigValue.hostProblem(host) { throw refuse(reason) }
    return host
  }

  /// The settings with defaults filled in and tokens replaced.
  func resolved(
    for query: ClientConfig.Query, files: ClientConfig.Files, warnings: [String]
  ) throws(AppError) -> ClientConfig {
    let host = try host(for: query)
    let port = query.port ?? port ?? 22
    let user = query.user ?? user ?? query.localUser
    let tokens = tokens(for: query, host: host, port: port, user: user)
    let names = Names(tokens: tokens, query: query, files: files)
    return ClientConfig(
      hostName: host, port: port, user: user,
      identityFiles: try names.paths(identityFiles, "IdentityFile"),
      identitiesOnly: identitiesOnly, agentSocket: try agentSocket(names),
      allowsPublicKeys: allowsPublicKeys ?? true,
      userKnownHostsFiles: try names.paths(userKnownHostsFiles, "UserKnownHostsFile"),
      globalKnownHostsFiles: try names.paths(globalKnownHostsFiles, "GlobalKnownHostsFile"),
      revokedHostKeys: try revokedFile(names), algorithms: try offer(),
      hostKeyChecking: hostKeyChecking,
      connectTimeout: connectTimeout == .zero ? nil : connectTimeout,
      serverAliveInterval: serverAliveInterval, serverAliveCountMax: serverAliveCountMax,
      hostKeyAlias: hostKeyAlias, requestTTY: requestTTY, logLevel: logLevel,
      proxy: try proxy(tokens), forwards: openForwards,
      exitsOnForwardFailure: exitOnForwardFailure ?? false, warnings: warnings)
  }

  private var openForwards: [ForwardRule] {
    guard clearsForwards != true else { return [] }
    return forwards.map { rule in
      guard gatewayPorts == true, case .port(address: nil, let port) = rule.source else {
        return rule
      }
      return ForwardRule(from: .port(address: "*", port), to: rule.destination)
    }
  }

  private func proxy(_ tokens: [Character: String]) throws(AppError) -> ClientConfig.Proxy? {
    guard let proxy, !proxy.value.text.isEmpty else { return nil }
    let refuse = { (reason: String) in Self.bad(proxy.name, reason, proxy.value.location) }
    guard proxy.setting == .proxyCommand else {
      let text = try ConfigPath.replaced(proxy.value.text, tokens: tokens, refuse)
      return .jump(try JumpHost.list(text, refuse))
    }
    // A shell reads the line, and a name may come from a stranger.
    let mentioned = tokens.filter { proxy.value.text.contains("%\($0.key)") }
    for name in [tokens["h"], tokens["n"], tokens["r"], tokens["k"]].compactMap(\.self)
    where mentioned.values.contains(name) && name.contains(where: Self.isForShell) {
      throw refuse("\"\(PeerText.escaped(name, limit: 128))\" has characters that a shell acts on")
    }
    return .command(try ConfigPath.replaced(proxy.value.text, tokens: tokens, refuse))
  }

  private static func isForShell(_ character: Character) -> Bool {
    "'`\"$\\;&<>|(){}*?~#!".contains(character) || character.isWhitespace
  }

  /// ssh_config(5), TOKENS, as far as they have a value before the connection is made.
  private func tokens(
    for query: ClientConfig.Query, host: String, port: Int, user: String
  ) -> [Character: String] {
    let host = host.lowercased()
    let hash = Digest.sha1(Array("\(query.localHost)\(host)\(port)\(user)".utf8))
    return [
      "C": hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(),
      "d": query.home, "h": host,
      "i": String(query.localUserID),
      "j": proxy?.setting == .proxyJump ? proxy?.value.text ?? "" : "",
      "k": hostKeyAlias?.lowercased() ?? query.host,
      "L": String(query.localHost.prefix { $0 != "." }), "l": query.localHost,
      "n": query.host, "p": String(port), "r": user, "u": query.localUser,
    ]
  }

  private func agentSocket(_ names: Names) throws(AppError) -> String? {
    let environment = names.query.environment
    var variable = "SSH_AUTH_SOCK"
    if let identityAgent {
      let text = identityAgent.text
      if text.lowercased() == "none" { return nil }
      if text.hasPrefix("$"), !text.hasPrefix("${") {
        variable = String(text.dropFirst())
      } else if text != variable {
        return try names.path(identityAgent, "IdentityAgent")
      }
    }
    return environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A list that cannot be read would revoke nothing, so it ends the run.
  private func revokedFile(_ names: Names) throws(AppError) -> String? {
    guard let revokedHostKeys, revokedHostKeys.text.lowercased() != "none" else { return nil }
    let location = revokedHostKeys.location
    let path = try names.path(revokedHostKeys, "RevokedHostKeys")
    let shown = PeerText.escaped(path, limit: 1024)
    guard let text = try names.files.read(path, false) else {
      throw Self.bad("RevokedHostKeys", "there is no file \(shown)", location)
    }
    guard !text.hasPrefix("SSHKRL\n") else {
      throw .featureUnavailable(feature: "RevokedHostKeys \(shown) as a binary list (\(location))")
    }
    return path
  }

  private func offer() throws(AppError) -> AlgorithmOffer {
    var offer = AlgorithmOffer.standard
    for (setting, kinds) in Self.algorithmKinds {
      guard let list = algorithms[setting] else { continue }
      guard let changed = offer.applying(list.request, to: kinds) else {
        let name = PeerText.escaped(list.name, limit: 64)
        let value = PeerText.escaped(list.value.text, limit: 256)
        throw .featureUnavailable(feature: "\(name) \(value) (\(list.value.location))")
      }
      offer = changed
    }
    return offer
  }

  private static let algorithmKinds: [(ConfigSetting, [AlgorithmKind])] = [
    (.hostKeyAlgorithms, [.hostKey]), (.kexAlgorithms, [.keyExchange]),
    (.ciphers, [.cipherToServer, .cipherToClient]), (.macs, [.macToServer, .macToClient]),
  ]

  /// What is needed to make file names of what is written.
  private struct Names {
    let tokens: [Character: String]
    let query: ClientConfig.Query
    let files: ClientConfig.Files

    func path(_ file: Text, _ name: String) throws(AppError) -> String {
      let refuse = { (reason: String) in ConfigSettings.bad(name, reason, file.location) }
      let expanded = try ConfigPath.expanded(file.text, query: query, files: files, refuse)
      return try ConfigPath.replaced(expanded, tokens: tokens, refuse)
    }

    func paths(_ files: [Text]?, _ name: String) throws(AppError) -> [String]? {
      guard let files else { return nil }
      var paths: [String] = []
      for file in files {
        let path = try path(file, name)
        if !paths.contains(path) { paths.append(path) }
      }
      return paths
    }
  }
}
