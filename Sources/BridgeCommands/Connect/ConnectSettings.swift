import BridgeErrors
package import BridgeSSH
import BridgeTransport
package import BridgeWebSocket

/// All that one `connect` needs to know: command line, configuration file and defaults together.
@dynamicMemberLookup
package struct ConnectSettings: Sendable, Equatable {
  /// How the host is reached, verified and logged in to. Its members are members of the settings.
  package var host: HostSettings
  /// How long the whole attempt may take.
  package var attemptTimeout: Duration?
  /// Whether a terminal is requested.
  package var terminal: ConnectRequest.TerminalWish
  /// How much is said.
  package var loudness: ConnectRequest.Loudness
  /// The HTTP proxy that a WebSocket goes through.
  package var proxy: WebSocketProxy?
  /// What is forwarded.
  package var forwards: [ForwardRule] = []
  /// Those of them that were typed.
  package var typedForwards: [ForwardRule] = []
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
  /// How the connection is shared with other runs.
  package var sharing = ConnectionSharing()
  /// Whether a forward's unix socket takes the place of one that is there.
  package var replacesSockets = false

  /// A member of `host`.
  package subscript<Value>(dynamicMember path: WritableKeyPath<HostSettings, Value>) -> Value {
    get { host[keyPath: path] }
    set { host[keyPath: path] = newValue }
  }
}

extension ConnectSettings {
  /// For a WebSocket, of which ssh_config says nothing, and `variables` name the proxy.
  ///
  /// - Throws: `validationError` of a variable, as a fault of the configuration.
  package init(
    _ request: ConnectRequest, _ messages: MessageRequest, _ variables: [String: String]
  ) throws(CommandFailure) {
    do throws(AppError) {
      proxy = try ProxyEnvironment(variables).proxy(for: messages.url)
    } catch {
      throw CommandFailure(error: error, isInFile: true)
    }
    host = HostSettings(
      name: request.host.host, endpoint: messages.url.endpoint, user: "",
      hostKeys: SSHConfiguration.HostKeys(files: []))
    host.keepalive = request.recovery.keepalive ?? LivenessPolicy.defaultKeepalive
    host.deadAfter = request.recovery.deadAfter ?? LivenessPolicy.defaultDeadAfter
    (attemptTimeout, terminal, loudness) = (request.timeout, .unwanted, request.loudness)
  }

  /// `-o` over flags over the user's configuration file over the machine's over defaults; what HOST
  /// says is not overruled.
  ///
  /// - Throws: what `HostSettings.resolve` throws, with the exit code of the cause: the command
  ///   line, or a file.
  package static func resolve(
    _ request: ConnectRequest, in environment: HostEnvironment
  ) throws(CommandFailure) -> ConnectSettings {
    do throws(ConfigFailure) {
      let layers = try HostLayers(request.lookup, environment)
      var settings = try ConnectSettings(request, layers, environment)
      try settings.host.add(layers.all.proxy, of: request.lookup, in: environment)
      return settings
    } catch {
      throw CommandFailure(error)
    }
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

  /// The settings without the way to the host.
  ///
  /// - Throws: `validationError` for a forward that was typed.
  init(
    _ request: ConnectRequest, _ layers: HostLayers, _ environment: HostEnvironment
  ) throws(ConfigFailure) {
    let config = layers.all
    host = layers.settings
    attemptTimeout = request.timeout
    terminal = layers.terminal(request)
    loudness = layers.loudness(request)
    forwardedAgent = Self.forwardedAgent(request, config)
    let variables = RemoteEnvironment(config, of: environment.environment)
    self.environment = variables.variables
    host.warnings += variables.warnings + Self.missingFiles(request, environment)
    escape = config.escape
    remoteCommand = config.remoteCommand
    sessionType = config.sessionType
    readsNothing = config.readsNothing
    localCommand = config.permitsLocalCommand ? config.localCommand : nil
    remoteTargets = config.remoteTargets
    replacesSockets = config.replacesSockets
    sharing = config.sharing
    if let typed = try layers.forwards(request, files: environment.files) {
      let isOpen = request.isGateway || config.opensForwards
      typedForwards = typed.map { isOpen ? $0.opened : $0 }
      // As OpenSSH, each once.
      if config.clearsForwards { typedForwards = [] }
      for rule in typedForwards + config.forwards.map({ isOpen ? $0.opened : $0 })
      where !forwards.contains(rule) { forwards.append(rule) }
      exitsOnForwardFailure = config.exitsOnForwardFailure
    }
  }

  /// As with ssh, a key file that was typed and is not there is a warning: another may do.
  private static func missingFiles(
    _ request: ConnectRequest, _ environment: HostEnvironment
  ) -> [String] {
    request.identities.filter { !environment.isThere($0) }.map {
      "the key file \(PeerText.escaped($0, limit: 1024)) of -i cannot be found"
    }
  }
}

extension CommandFailure {
  /// The failure of a lookup.
  init(_ failure: ConfigFailure) {
    self.init(error: failure.error, isInFile: failure.isInFile)
  }
}

extension ConnectRequest {
  /// What is asked about the host.
  var lookup: HostRequest {
    var lookup = HostRequest(host.host)
    (lookup.user, lookup.port) = (host.user, host.port)
    (lookup.userOption, lookup.portOption) = (user, port)
    lookup.identities = identities
    if let config { lookup.files = config.lowercased() == "none" ? .nothing : .file(config) }
    lookup.options = options
    lookup.jump = jump
    lookup.loginTimeout = loginTimeout
    lookup.hostKeyChecking =
      switch hostKeyPolicy {
      case .ask: .ask
      case .acceptNew: .acceptNew
      case .strict: .strict
      case nil: nil
      }
    lookup.knownHosts = knownHosts
    lookup.addressFamily = addressFamily
    (lookup.keepalive, lookup.deadAfter) = (recovery.keepalive, recovery.deadAfter)
    if isSSH { lookup.usualKeepalive = .zero }
    (lookup.command, lookup.sessionWord) = (command, sessionWord)
    return lookup
  }
}

// What the layers say to a run of bridgectl.
extension HostLayers {
  /// The rules that were typed, their paths expanded; nil where nothing may be forwarded.
  fileprivate func forwards(
    _ request: ConnectRequest, files: ClientConfig.Files
  ) throws(ConfigFailure) -> [ForwardRule]? {
    guard let typed = request.forwards else { return nil }
    do throws(AppError) {
      var forwards: [ForwardRule] = []
      for rule in typed { forwards.append(try all.expanding(rule, for: query, files: files)) }
      return forwards
    } catch {
      throw ConfigFailure(error: error)
    }
  }

  fileprivate func terminal(_ request: ConnectRequest) -> ConnectRequest.TerminalWish {
    if let value = options.requestTTY { return Self.wish(value) }
    if request.terminal != .automatic { return request.terminal }
    return all.requestTTY.map(Self.wish) ?? .automatic
  }

  fileprivate func loudness(_ request: ConnectRequest) -> ConnectRequest.Loudness {
    if let level = options.logLevel { return Self.loudness(level) }
    if request.loudness != .normal { return request.loudness }
    return all.logLevel.map(Self.loudness) ?? .normal
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
