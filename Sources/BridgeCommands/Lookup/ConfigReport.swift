import BridgeErrors
package import BridgeSSH
import BridgeTransport

/// All that is known of a host before it is dialed, keyword by keyword, as `ssh -G` prints it, with
/// the place that each value comes from.
package struct ConfigReport: Sendable, Equatable {
  /// One keyword, in small letters, and its value.
  package struct Line: Sendable, Equatable {
    package var keyword: String
    package var value: String
    /// `FILE:LINE` or the option; nil for a default.
    package var source: String?
  }

  /// The lines, in the order of `ssh -G` as far as that has them.
  package private(set) var lines: [Line] = []
  /// What was ignored or changed, a sentence each.
  package private(set) var warnings: [String] = []
  /// What has no effect and needs none, a sentence each.
  package private(set) var notes: [String] = []
  private var entries: [String: [ConfigEntry]] = [:]
  private let request: ConnectRequest

  /// What `request` leads to.
  ///
  /// - Throws: what `ConnectSettings.resolve` throws.
  package init(
    _ request: ConnectRequest, in environment: HostEnvironment
  ) throws(CommandFailure) {
    self.request = request
    let layers: HostLayers
    var settings: ConnectSettings
    do throws(ConfigFailure) {
      layers = try HostLayers(request.lookup, environment)
      settings = try ConnectSettings(request, layers, environment)
    } catch {
      throw CommandFailure(error)
    }
    let config = layers.all
    do throws(ConfigFailure) {
      try settings.host.add(config.proxy, of: request.lookup, in: environment)
    } catch {
      // What is asked about the host itself has its answer all the same.
      settings.warnings.append(PeerText.escaped(error.error.shownMessage()))
    }
    warnings = settings.warnings
    notes = settings.notes
    entries = Dictionary(grouping: config.entries) { $0.keyword.lowercased() }
    addPlace(settings)
    add("bindaddress", config.bindAddress)
    add("bindinterface", config.bindInterface)
    addIdentities(layers.identityFiles ?? settings.keyFiles, config)
    let files = layers.knownHostsFiles
    addTrust(settings, config, user: files.user, system: files.system)
    addAlgorithms(settings)
    addTimes(settings, config)
    addForwards(settings, config)
    for entry in config.unused where !entry.words.isEmpty {
      lines.append(
        Line(
          keyword: entry.keyword.lowercased(), value: entry.words.joined(separator: " "),
          source: "\(entry.location)"))
    }
    for hop in settings.jumps { add("through", "\(hop.user)@\(hop.endpoint)") }
  }

  /// As text; the places stand behind their lines.
  package func text(withSources: Bool) -> String {
    lines.map { line in
      let value = PeerText.escaped(line.value, limit: 16 << 10)
      guard withSources else { return "\(line.keyword) \(value)\n" }
      return "\(line.keyword) \(value)  # \(line.source ?? "default")\n"
    }.joined()
  }

  /// As lines of JSON.
  package var json: String {
    lines.map { line in
      var json = JSONLine()
      json.add("v", 1)
      json.add("keyword", line.keyword)
      json.add("value", PeerText.escaped(line.value, limit: 16 << 10))
      json.add("source", line.source)
      return json.text + "\n"
    }.joined()
  }

  private mutating func add(_ keyword: String, _ value: String?, typed: String? = nil) {
    guard let value else { return }
    let source = typed ?? entries[keyword]?.first.map { "\($0.location)" }
    lines.append(Line(keyword: keyword, value: value, source: source))
  }

  private mutating func addPlace(_ settings: ConnectSettings) {
    let host = request.host
    add("host", host.host, typed: "HOST")
    add("user", settings.user, typed: host.user.map { _ in "HOST" })
    add("hostname", settings.endpoint.host)
    add("port", "\(settings.endpoint.port)", typed: host.port.map { _ in "HOST" })
    let family =
      switch settings.addressFamily {
      case .any: "any"
      case .ipv4: "inet"
      case .ipv6: "inet6"
      }
    add("addressfamily", family, typed: request.addressFamily.map { $0 == .ipv4 ? "-4" : "-6" })
    let proxy = entries["proxyjump"]?.first ?? entries["proxycommand"]?.first
    if let proxy, proxy.words[0].lowercased() != "none" {
      add(proxy.keyword.lowercased(), proxy.words.joined(separator: " "))
    }
  }

  private mutating func addIdentities(_ paths: [String], _ config: ClientConfig) {
    for path in paths {
      let source =
        request.identities.contains(path)
        ? "-i" : config.identityLocations[path].map { "\($0)" }
      lines.append(Line(keyword: "identityfile", value: path, source: source))
    }
    for path in config.certificateFiles { add("certificatefile", path) }
    add("identitiesonly", Self.word(config.identitiesOnly == true))
    add("identityagent", config.agentSocket ?? "none")
    let wish = request.forwardsAgent
    let forwarded =
      switch config.forwardedAgent {
      case .none: "no"
      case .own: "yes"
      case .socket(let path): path
      }
    add(
      "forwardagent", wish.map(Self.word) ?? forwarded, typed: wish.map { $0 ? "-A" : "-a" })
    add("pubkeyauthentication", config.allowsPublicKeys ? "true" : "false")
    let isBatch = request.isBatch || config.login.isBatch
    add("batchmode", Self.word(isBatch), typed: request.isBatch ? "--batch" : nil)
    add("passwordauthentication", Self.word(config.login.allowsPasswords))
    add("kbdinteractiveauthentication", Self.word(config.login.allowsQuestions))
    add("preferredauthentications", config.login.methods?.joined(separator: ","))
    add("numberofpasswordprompts", "\(config.login.passwordPrompts)")
    add("pubkeyacceptedalgorithms", config.login.keys.algorithms.joined(separator: ","))
    add("requiredrsasize", "\(config.login.keys.smallestRSA)")
  }

  private mutating func addTrust(
    _ settings: ConnectSettings, _ config: ClientConfig, user: [String], system: [String]
  ) {
    add(
      "userknownhostsfile", user.joined(separator: " "),
      typed: request.knownHosts.map { _ in "--known-hosts" })
    add("globalknownhostsfile", system.joined(separator: " "))
    add("knownhostscommand", config.knownHostsCommand?.words.joined(separator: " "))
    add("hashknownhosts", Self.word(config.hidesHostNames == true))
    add("revokedhostkeys", config.revokedHostKeys)
    add("hostkeyalias", config.hostKeyAlias)
    let policy =
      switch settings.hostKeys.unknown {
      case .ask: "ask"
      case .acceptNew: "accept-new"
      case .refuse: "true"
      }
    add("stricthostkeychecking", policy, typed: request.hostKeyPolicy.map { _ in "--host-key" })
  }

  private mutating func addAlgorithms(_ settings: ConnectSettings) {
    for (keyword, kind) in [
      ("hostkeyalgorithms", AlgorithmKind.hostKey), ("kexalgorithms", .keyExchange),
      ("ciphers", .cipherToServer), ("macs", .macToServer),
    ] { add(keyword, settings.algorithms[kind].joined(separator: ",")) }
  }

  private mutating func addTimes(_ settings: ConnectSettings, _ config: ClientConfig) {
    add("connecttimeout", config.connectTimeout.map(Self.seconds) ?? "none")
    add(
      "serveraliveinterval", Self.seconds(settings.keepalive),
      typed: request.recovery.keepalive.map { _ in "--keepalive" })
    add("serveralivecountmax", config.serverAliveCountMax.map { "\($0)" })
    let terminal =
      switch settings.terminal {
      case .automatic: "auto"
      case .wanted: "true"
      case .forced: "force"
      case .unwanted: "false"
      }
    add("requesttty", terminal)
    add("sessiontype", (config.sessionType ?? .default).rawValue)
    add("stdinnull", Self.word(config.readsNothing))
    let isControl = if case .byte(0..<32) = config.escape { true } else { false }
    add("escapechar", (isControl ? "\\" : "") + config.escape.text)
    add("remotecommand", config.remoteCommand)
    add("localcommand", config.localCommand)
    add("permitlocalcommand", Self.word(config.permitsLocalCommand))
    add("tag", config.tag)
    addSharing(config.sharing)
    for (keyword, words) in [
      ("sendenv", config.sentEnvironment), ("setenv", config.setEnvironment),
    ] {
      for word in words {
        lines.append(Line(keyword: keyword, value: word.text, source: "\(word.location)"))
      }
    }
    add("loglevel", (config.logLevel ?? .info).rawValue.uppercased())
  }

  private mutating func addSharing(_ sharing: ConnectionSharing) {
    let master =
      switch sharing.master {
      case .no: "false"
      case .yes: "true"
      case let other: other.rawValue
      }
    add("controlmaster", master)
    add("controlpath", sharing.path)
    let persistence =
      switch sharing.persistence {
      case .none: "no"
      case .forever: "yes"
      case .limited(let time): Self.seconds(time)
      }
    add("controlpersist", persistence)
  }

  private mutating func addForwards(_ settings: ConnectSettings, _ config: ClientConfig) {
    add("gatewayports", Self.word(request.isGateway || config.opensForwards))
    add("streamlocalbindunlink", Self.word(config.replacesSockets))
    add("exitonforwardfailure", Self.word(config.exitsOnForwardFailure))
    let cleared = entries["clearallforwardings"]?.first?.words[0].lowercased()
    add("clearallforwardings", Self.word(["yes", "true"].contains(cleared)))
    let targets = config.remoteTargets.map { $0.map(\.description).joined(separator: " ") }
    add("permitremoteopen", targets.map { $0.isEmpty ? "none" : $0 } ?? "any")
    let typed = Set(settings.typedForwards)
    for rule in settings.forwards {
      let source: String?
      if typed.contains(rule) {
        source = String(rule.name.prefix(2))
      } else {
        source = config.forwardLocations[rule].map { "\($0)" }
      }
      lines.append(Line(keyword: rule.keyword, value: rule.words, source: source))
    }
  }

  private static func word(_ flag: Bool) -> String { flag ? "yes" : "no" }

  private static func seconds(_ time: Duration) -> String { "\(Int(time / .seconds(1)))" }
}

extension ConnectSettings {
  fileprivate var keyFiles: [String] {
    host.identities.compactMap { if case .keyFile(let path) = $0 { path } else { nil } }
  }
}

extension ForwardRule {
  fileprivate var keyword: String {
    switch (side, destination) {
    case (.remote, _): "remoteforward"
    case (.local, .fixed): "localforward"
    case (.local, .dynamic): "dynamicforward"
    }
  }

  /// As `ssh -G` writes it.
  fileprivate var words: String {
    let from =
      switch source {
      case .port(let address?, let port): "[\(address)]:\(port)"
      case .port(nil, let port): "\(port)"
      case .socket(let path): path
      }
    switch destination {
    case .fixed(.port(let target)): return "\(from) [\(target.host)]:\(target.port)"
    case .fixed(.socket(let path)): return "\(from) \(path)"
    case .dynamic: return side == .remote ? "\(from) [socks]:0" : from
    }
  }
}
