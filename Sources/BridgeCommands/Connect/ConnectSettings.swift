import BridgeErrors
package import BridgeSSH
package import BridgeTransport
package import BridgeWebSocket

/// All that one `connect` needs to know: command line, configuration file and defaults together.
package struct ConnectSettings: Sendable, Equatable {
  /// The credentials that are tried before any prompt.
  package enum Identity: Sendable, Equatable {
    case keyFile(String)
    case certificateFile(String)
    /// The keys of an agent, those of `preferring` first, only those where `isLimited`.
    case agent(socketPath: String, preferring: [String], isLimited: Bool)
  }

  /// The remote endpoint.
  package var endpoint: Endpoint
  /// As whom.
  package var user: String
  /// The credentials to offer, in order.
  package var identities: [Identity]
  /// The known_hosts files and the policy.
  package var hostKeys: SSHConfiguration.HostKeys
  /// The offered algorithms.
  package var algorithms: AlgorithmOffer
  /// How long the phases may take.
  package var timeouts: SSHTimeouts
  /// How long the whole attempt may take.
  package var attemptTimeout: Duration?
  /// Whether a terminal is requested.
  package var terminal: ConnectRequest.TerminalWish
  /// How much is said.
  package var loudness: ConnectRequest.Loudness
  /// Silence before a probe; zero never probes.
  package var keepalive: Duration
  /// How long an unresponsive link is kept before it is declared dead.
  package var deadAfter: Duration
  /// Settings that were ignored or changed, a sentence each.
  package var warnings: [String]
  /// Lines of ssh_config that have no effect and need none, a sentence each.
  package var notes: [String] = []
  /// What may be offered in the login, and what may be asked for.
  package var login = ClientConfig.Login()
  /// The host as it was named, by the user or by a ProxyJump.
  package var givenHost = ""
  /// The hosts to go through, the first one dialed first.
  package var jumps: [ConnectSettings] = []
  /// The line for the user's shell that leads to the first of `jumps`, or else to the host.
  package var proxyCommand: String?
  /// The HTTP proxy that a WebSocket goes through.
  package var proxy: WebSocketProxy?
  /// What is forwarded.
  package var forwards: [ForwardRule] = []
  /// Those of them that were typed.
  package var typedForwards: [ForwardRule] = []
  /// The addresses to dial.
  package var addressFamily = SSHConfiguration.AddressFamily.any
  /// Where they are dialed from.
  package var source = SSHConfiguration.Source.any
  /// Whether a forward that cannot be had ends the run.
  package var exitsOnForwardFailure = false
  /// The variables for what runs on the host.
  package var environment: [EnvironmentVariable] = []
  /// The socket of the agent that programs of the host may ask; nil for none.
  package var forwardedAgent: String?
  /// The key that begins an escape.
  package var escape = ClientConfig.Escape.byte(UInt8(ascii: "~"))
  /// What runs on the host, by RemoteCommand and SessionType.
  package var remoteCommand: String?
  package var sessionType: ClientConfig.SessionType?
  /// Whether standard input is not read (StdinNull).
  package var readsNothing = false
  /// The line for the user's shell that runs here once logged in.
  package var localCommand: String?
  /// The targets that a client of a SOCKS port of the host may name; nil for any.
  package var remoteTargets: [PermittedTarget]?
  /// Whether a forward's unix socket takes the place of one that is there.
  package var replacesSockets = false
  /// The lines of ssh_config and the options that decided.
  package var entries: [ConfigEntry] = []
  /// Where each key file of them is written, by its path.
  package var identityLocations: [String: ConfigLocation] = [:]
}

extension ConnectSettings {
  /// For a WebSocket, of which ssh_config says nothing, and `variables` name the proxy.
  ///
  /// - Throws: `validationError` of a variable, as a fault of the configuration.
  package init(
    _ request: ConnectRequest, _ messages: MessageRequest, _ variables: [String: String]
  ) throws(CommandFailure) {
    let proxy: WebSocketProxy?
    do throws(AppError) {
      proxy = try ProxyEnvironment(variables).proxy(for: messages.url)
    } catch {
      throw CommandFailure(error: error, isInFile: true)
    }
    self.init(
      endpoint: messages.url.endpoint, user: "", identities: [],
      hostKeys: SSHConfiguration.HostKeys(files: []), algorithms: .standard,
      timeouts: SSHTimeouts(),
      attemptTimeout: request.timeout, terminal: .unwanted, loudness: request.loudness,
      keepalive: request.recovery.keepalive ?? LivenessPolicy.defaultKeepalive,
      deadAfter: request.recovery.deadAfter ?? LivenessPolicy.defaultDeadAfter, warnings: [])
    self.proxy = proxy
    givenHost = request.host.host
  }

  /// The facts about the local machine.
  package struct Environment: Sendable {
    /// The home directory.
    package var home: String
    /// The local user.
    package var user: String
    /// The local user's number.
    package var userID: UInt32
    /// This machine's name.
    package var hostName: String
    /// The environment.
    package var environment: [String: String]
    /// Whether a file is there and can be read.
    package var isReadable: @Sendable (String) -> Bool
    /// How configuration files are reached.
    package var files: ClientConfig.Files
    /// The machine's configuration file.
    package var systemConfig: String

    /// Creates an environment from these values.
    package init(
      home: String, user: String, userID: UInt32, hostName: String,
      environment: [String: String] = [:],
      isReadable: @escaping @Sendable (String) -> Bool, files: ClientConfig.Files,
      systemConfig: String = ClientConfig.Source.systemPath
    ) {
      self.home = home
      self.user = user
      self.userID = userID
      self.hostName = hostName
      self.environment = environment
      self.isReadable = isReadable
      self.files = files
      self.systemConfig = systemConfig
    }
  }

  /// `-o` over flags over the user's configuration file over the machine's over defaults; what HOST
  /// says is not overruled.
  ///
  /// - Throws: what `ClientConfig.resolve` throws, with the exit code of the cause: the
  ///   command line, or a file.
  package static func resolve(
    _ request: ConnectRequest, in environment: Environment
  ) throws(CommandFailure) -> ConnectSettings {
    var (settings, proxy) = try resolveAlone(request, in: environment)
    try settings.add(proxy, of: request, in: environment)
    return settings
  }

  /// What was typed decides; without an agent here there is none to forward.
  private static func forwardedAgent(_ request: ConnectRequest, _ config: ClientConfig) -> String? {
    if let wish = request.forwardsAgent { return wish ? config.agentSocket : nil }
    return switch config.forwardedAgent {
    case .none: nil
    case .own: config.agentSocket
    case .socket(let path): path
    }
  }

  /// The settings of one host, and what stands before it.
  static func resolveAlone(
    _ request: ConnectRequest, in environment: Environment
  ) throws(CommandFailure) -> (ConnectSettings, ClientConfig.Proxy?) {
    let layers = try Layers(request, environment)
    let config = layers.all
    var timeouts = SSHTimeouts()
    if let limit = config.connectTimeout {
      timeouts.dial = limit
      timeouts.handshake = limit
    }
    if let limit = request.loginTimeout { timeouts.authenticate = limit }
    var settings = ConnectSettings(
      endpoint: Endpoint(host: config.hostName, port: config.port), user: config.user,
      identities: [], hostKeys: layers.hostKeys(request, environment),
      algorithms: config.algorithms, timeouts: timeouts,
      attemptTimeout: request.timeout, terminal: layers.terminal(request),
      loudness: layers.loudness(request), keepalive: layers.keepalive(request),
      deadAfter: request.recovery.deadAfter ?? layers.deadAfter ?? LivenessPolicy.defaultDeadAfter,
      warnings: config.warnings)
    settings.addIdentities(layers.identityFiles(request), config, environment)
    settings.forwardedAgent = Self.forwardedAgent(request, config)
    settings.addressFamily = request.addressFamily ?? config.addressFamily
    settings.source = config.source
    let variables = RemoteEnvironment(config, of: environment.environment)
    settings.environment = variables.variables
    settings.warnings += variables.warnings
    settings.warnings += Self.missingFiles(request, environment)
    settings.notes = config.notes
    settings.login = config.login
    settings.escape = config.escape
    settings.remoteCommand = config.remoteCommand
    settings.sessionType = config.sessionType
    settings.readsNothing = config.readsNothing
    settings.localCommand = config.permitsLocalCommand ? config.localCommand : nil
    settings.remoteTargets = config.remoteTargets
    settings.replacesSockets = config.replacesSockets
    settings.entries = config.entries
    settings.identityLocations = config.identityLocations
    if request.forwards != nil {
      let isOpen = request.isGateway || config.opensForwards
      settings.typedForwards = layers.forwards.map { isOpen ? $0.opened : $0 }
      // As OpenSSH, each once.
      if config.clearsForwards { settings.typedForwards = [] }
      for rule in settings.typedForwards + config.forwards.map({ isOpen ? $0.opened : $0 })
      where !settings.forwards.contains(rule) { settings.forwards.append(rule) }
      settings.exitsOnForwardFailure = config.exitsOnForwardFailure
    }
    return (settings, config.proxy)
  }

  /// As with ssh, a key file that was typed and is not there is a warning: another may do.
  private static func missingFiles(
    _ request: ConnectRequest, _ environment: Environment
  ) -> [String] {
    request.identities.filter { !environment.isReadable($0) }.map {
      "the key file \(PeerText.escaped($0, limit: 1024)) of -i cannot be read"
    }
  }

  /// As OpenSSH does, an agent is asked for the keys of the files first, and for its others unless
  /// IdentitiesOnly says no. Those come behind files that are named, before the usual ones.
  private mutating func addIdentities(
    _ named: [String]?, _ config: ClientConfig, _ environment: Environment
  ) {
    guard config.allowsPublicKeys, config.login.allows("publickey") else { return }
    let usual = ["id_ed25519", "id_ecdsa", "id_rsa"].map { "\(environment.home)/.ssh/\($0)" }
    let files = named ?? usual.filter(environment.isReadable)
    identities = files.map(Identity.keyFile)
    let isLimited = config.identitiesOnly == true
    if let agent = config.agentSocket, !(isLimited && files.isEmpty) {
      identities.insert(
        .agent(socketPath: agent, preferring: files, isLimited: isLimited),
        at: named == nil ? 0 : files.count)
    }
    identities += config.certificateFiles.map(Identity.certificateFile)
  }
}

/// The values of `-o` alone, and of `-o`, flags and the file together.
struct Layers {
  let options: ClientConfig
  let all: ClientConfig
  /// The rules that were typed, their paths expanded.
  let forwards: [ForwardRule]

  init(
    _ request: ConnectRequest, _ environment: ConnectSettings.Environment
  ) throws(CommandFailure) {
    var query = ClientConfig.Query(
      host: request.host.host, user: request.host.user, port: request.host.port,
      home: environment.home, localUser: environment.user,
      localUserID: environment.userID, localHost: environment.hostName,
      environment: environment.environment)
    query.command = request.command
    query.session = request.sessionWord
    let files = environment.files
    let sources: [ClientConfig.Source] =
      if let named = request.config {
        named.lowercased() == "none" ? [] : [.named(named)]
      } else {
        [.user("\(environment.home)/.ssh/config"), .system(environment.systemConfig)]
      }
    // The first value wins: flags stand behind -o and before the file.
    var flags: [String] = []
    if let port = request.port { flags.append("Port=\(port)") }
    if let user = request.user { flags.append("User=\"\(user)\"") }
    // Before -o: a bastion that is asked for is not left out.
    let jump = request.jump.map { ["ProxyJump=\"\($0)\""] } ?? []
    do throws(AppError) {
      options = try ClientConfig.resolve(
        query, options: request.options, files: files)
      _ = try ClientConfig.resolve(query, options: jump + flags, files: files)
    } catch {
      throw CommandFailure(error: error)
    }
    if let jump = request.jump, jump.lowercased() != "none", case .command = options.proxy {
      throw CommandFailure(
        error: .validationError(
          field: "-J", message: "It cannot be given together with a ProxyCommand."))
    }
    do throws(AppError) {
      all = try ClientConfig.resolve(
        query, options: jump + request.options + flags, sources: sources, files: files)
    } catch {
      throw CommandFailure(error: error, isInFile: true)
    }
    do throws(AppError) {
      var forwards: [ForwardRule] = []
      for rule in request.forwards ?? [] {
        forwards.append(try all.expanding(rule, for: query, files: files))
      }
      self.forwards = forwards
    } catch {
      throw CommandFailure(error: error)
    }
  }

  func hostKeys(
    _ request: ConnectRequest, _ environment: ConnectSettings.Environment
  ) -> SSHConfiguration.HostKeys {
    let files = knownHostsFiles(request, environment)
    // New keys go to the first file, which must not be the machine's.
    let user = files.user.isEmpty ? ["/dev/null"] : files.user
    let policy =
      options.hostKeyChecking.map(Self.policy) ?? request.hostKeyPolicy
      ?? all.hostKeyChecking.map(Self.policy) ?? .ask
    let unknown: SSHConfiguration.UnknownHostKey =
      switch policy {
      case .ask: .ask
      case .acceptNew: .acceptNew
      case .strict: .refuse
      }
    var keys = SSHConfiguration.HostKeys(
      files: user + files.system, unknown: unknown, alias: all.hostKeyAlias,
      revoked: all.revokedHostKeys)
    keys.command = all.knownHostsCommand
    keys.hidesNames = all.hidesHostNames
    return keys
  }

  /// The key files that are named, as with ssh those of `-i` and those of each IdentityFile; nil
  /// where the usual ones are tried.
  func identityFiles(_ request: ConnectRequest) -> [String]? {
    guard !request.identities.isEmpty else { return all.identityFiles }
    var files: [String] = []
    for file in request.identities + (all.identityFiles ?? []) where !files.contains(file) {
      files.append(file)
    }
    return files
  }

  /// The known_hosts files of the user and of the machine.
  func knownHostsFiles(
    _ request: ConnectRequest, _ environment: ConnectSettings.Environment
  ) -> (user: [String], system: [String]) {
    let usual = KnownHostsFile.defaults(home: environment.home)
    let system = all.globalKnownHostsFiles ?? usual.filter { $0.hasPrefix("/etc/") }
    // The tokens are those of the host that all layers lead to.
    if let named = options.userKnownHostsFiles {
      return (all.userKnownHostsFiles ?? named, system)
    }
    if let named = request.knownHosts { return ([named], []) }
    return (all.userKnownHostsFiles ?? usual.filter { !$0.hasPrefix("/etc/") }, system)
  }

  func terminal(_ request: ConnectRequest) -> ConnectRequest.TerminalWish {
    if let value = options.requestTTY { return Self.wish(value) }
    if request.terminal != .automatic { return request.terminal }
    return all.requestTTY.map(Self.wish) ?? .automatic
  }

  func loudness(_ request: ConnectRequest) -> ConnectRequest.Loudness {
    if let level = options.logLevel { return Self.loudness(level) }
    if request.loudness != .normal { return request.loudness }
    return all.logLevel.map(Self.loudness) ?? .normal
  }

  func keepalive(_ request: ConnectRequest) -> Duration {
    options.serverAliveInterval ?? request.recovery.keepalive ?? all.serverAliveInterval
      ?? (request.isSSH ? .zero : LivenessPolicy.defaultKeepalive)
  }

  /// OpenSSH gives up after so many unanswered probes.
  var deadAfter: Duration? {
    guard let count = all.serverAliveCountMax, let interval = all.serverAliveInterval,
      count > 0, interval > .zero
    else { return nil }
    return interval * count
  }

  private static func policy(
    _ checking: ClientConfig.HostKeyChecking
  ) -> ConnectRequest.HostKeyPolicy {
    switch checking {
    case .ask: .ask
    case .acceptNew: .acceptNew
    case .strict: .strict
    }
  }

  private static func wish(_ value: ClientConfig.TTY) -> ConnectRequest.TerminalWish {
    switch value {
    case .no: .unwanted
    case .auto: .automatic
    case .yes: .wanted
    case .force: .forced
    }
  }

  private static func loudness(_ level: ClientConfig.LogLevel) -> ConnectRequest.Loudness {
    switch level {
    case .quiet, .fatal: .quiet
    case .error: .errors
    case .info: .normal
    case .verbose, .debug, .debug1, .debug2, .debug3: .verbose
    }
  }
}
