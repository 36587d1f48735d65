import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTerminal
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket

/// The links of a run: to the host that its work goes over, and to the hosts on the way, which that
/// one depends on.
struct RunLinks: Sendable {
  /// A host on the way.
  struct Hop {
    let id: ConnectionID
    let settings: ConnectSettings
    /// Its number, from 0.
    let index: Int
  }

  private enum Target {
    case ssh(SSHConfiguration)
    case webSocket(WebSocketEndpoint, WebSocketConfiguration)
  }

  let context: RunContext
  let supervisor: Supervisor<ContinuousClock>
  /// The link to the host.
  let id: ConnectionID
  private let prompter: Prompter
  private let target: Target
  /// Open when `add` has returned.
  private let isAdded = Latch()
  private let hasSides = Mutex(false)

  private var settings: ConnectSettings { context.settings }

  /// The links of a run; none is made yet.
  ///
  /// - Throws: `validationError` of a descriptor that was to give a secret.
  init(
    _ context: RunContext, _ prompter: Prompter, _ supervisor: Supervisor<ContinuousClock>,
    id: ConnectionID
  ) async throws(AppError) {
    self.context = context
    self.prompter = prompter
    self.supervisor = supervisor
    self.id = id
    let (request, settings) = (context.request, context.settings)
    if let messages = request.messages {
      target = .webSocket(
        messages.url, try await WebSocketConfiguration(messages, proxy: settings.proxy))
    } else if let descriptor = request.passwordDescriptor {
      let secret = try await SecretLine.read(descriptor, option: "--password-fd")
      prompter.give(secret)
      target = .ssh(Self.configuration(of: settings, prompter, password: secret))
    } else {
      target = .ssh(Self.configuration(of: settings, prompter))
    }
  }

  /// The hosts on the way, the first one dialed first.
  static func hops(of settings: ConnectSettings) -> [Hop] {
    settings.jumps.enumerated().map { index, settings in
      Hop(
        id: ConnectionID("ssh:\(settings.endpoint)#jump\(index + 1)"), settings: settings,
        index: index)
    }
  }

  /// Keeps all of them up from now on. `use` gets each generation of the link to the host.
  func add(
    losesNothing: Bool, use: @escaping @Sendable (any Connection, Int) async -> Void
  ) async throws(AppError) {
    defer { isAdded.open() }
    var before: Hop?
    for hop in Self.hops(of: settings) {
      let configuration = Self.configuration(of: hop.settings, prompter)
      try await supervisor.add(
        hop.id, to: hop.settings.endpoint, options(after: before, losesNothing: losesNothing),
        onConnected: { (connection: SSHConnection) in
          await context.reportProblems(of: connection, hop.settings)
        }, make: maker(of: hop.settings, configuration, through: before, hop: hop.index))
      before = hop
    }
    let options = options(after: before, losesNothing: losesNothing)
    switch target {
    case .ssh(let configuration):
      try await supervisor.add(
        id, to: settings.endpoint, options,
        onGeneration: { (connection: SSHConnection, generation) in
          await use(connection, generation)
        }, make: maker(of: settings, configuration, through: before))
    case .webSocket(let url, let configuration):
      try await supervisor.add(
        id, to: settings.endpoint, options,
        onGeneration: { (connection: WebSocketConnection, generation) in
          await use(connection, generation)
        },
        make: { (_: Endpoint) async throws(AppError) -> WebSocketConnection in
          WebSocketConnection(to: url, configuration: configuration, on: context.reactor)
        })
    }
  }

  /// The links beside that to the host.
  static func sides(of id: ConnectionID, count: Int) -> [ConnectionID] {
    (0..<count).map { ConnectionID("\(id)-stream\($0 + 2)") }
  }

  /// Keeps so many more links to the host up from the first call on, each on a thread of its own
  /// unless a host is on the way. `use` gets their generations, and their numbers from 1 on.
  func addSides(
    _ count: Int, use: @escaping @Sendable (SSHConnection, Int, Int) async -> Void
  ) async throws(AppError) {
    guard count > 0, case .ssh(let configuration) = target,
      hasSides.withLock({ hasSides in
        defer { hasSides = true }
        return !hasSides
      })
    else { return }
    let hop = Self.hops(of: settings).last
    for (index, side) in Self.sides(of: id, count: count).enumerated() {
      let reactor = Reactor(name: "bridge-stream-\(index + 2)")
      try await supervisor.add(
        side, to: settings.endpoint, options(after: hop, losesNothing: true),
        onGeneration: { (connection: SSHConnection, generation) in
          await use(connection, index + 1, generation)
        }, make: maker(of: settings, configuration, through: hop, on: reactor))
    }
  }

  /// Returns when the link to the host is up; to be called before `add` as well.
  ///
  /// - Throws: what the link gave up with; `cancelled` when it is closed.
  func untilUp() async throws(AppError) {
    await isAdded.wait()
    _ = try await supervisor.connection(id)
  }

  /// A connection to the host beside its link, not opened. Its login asks no person while what is
  /// typed belongs to a shell.
  func anotherConnection() async throws(AppError) -> SSHConnection {
    guard case .ssh(let configuration) = target else {
      throw .internalError(detail: "a session for forwards is not an SSH connection")
    }
    let hop = Self.hops(of: settings).last
    let make = maker(of: settings, configuration, through: hop, mayAsk: mayAskBeside)
    return try await make(settings.endpoint)
  }

  /// Whether a login beside the link may ask a person.
  var mayAskBeside: @Sendable () -> Bool {
    { [keyboard = context.keyboard] in keyboard?.isLive != true }
  }

  /// The link to the host depends on that of the last hop, and that on the one before it: a lost
  /// hop is one failure, at that hop.
  private func options(
    after hop: Hop?, losesNothing: Bool
  ) -> BridgeSupervision.LinkOptions {
    let recovery = context.request.recovery
    var policy = RetryPolicy.persistent
    if case .upTo(let count) = recovery.retries { policy.retries = count }
    let liveness = LivenessPolicy(
      keepalive: settings.keepalive, switching: losesNothing ? .free : .costly,
      deadAfter: settings.deadAfter)
    return BridgeSupervision.LinkOptions(
      parents: hop.map { [$0.id] } ?? [], policy: policy,
      retriesFirstDial: recovery.wait != nil,
      liveness: settings.keepalive == .zero ? nil : liveness,
      attemptLimit: settings.attemptTimeout)
  }

  /// Makes connections to the host of `settings`: through `hop`, as that is then, by a program, or
  /// over TCP.
  private func maker(
    of settings: ConnectSettings, _ configuration: SSHConfiguration, through before: Hop?,
    hop: Int? = nil, on reactor: Reactor? = nil,
    mayAsk: @escaping @Sendable () -> Bool = { true }
  ) -> @Sendable (Endpoint) async throws(AppError) -> SSHConnection {
    let asker = Asker(user: settings.user, endpoint: settings.endpoint, hop: hop)
    let isBatch = hop != nil && settings.login.isBatch
    if let before {
      return { [supervisor, prompter] (endpoint) async throws(AppError) -> SSHConnection in
        guard let bastion = try await supervisor.connection(before.id) as? SSHConnection else {
          throw .internalError(detail: "\(before.id) is not an SSH connection")
        }
        let configuration = prompter.login(to: asker, isBatch: isBatch, mayAsk: mayAsk)
          .added(to: configuration)
        return SSHConnection(to: endpoint, configuration: configuration, through: bastion)
      }
    }
    let proxy = Self.proxyCommand(
      of: settings, context.local, context.reporter, keyboard: context.keyboard)
    return { [prompter, reactor = reactor ?? context.reactor] (endpoint) async throws(AppError) in
      let configuration = prompter.login(to: asker, isBatch: isBatch, mayAsk: mayAsk)
        .added(to: configuration)
      guard let proxy else {
        return SSHConnection(to: endpoint, configuration: configuration, on: reactor)
      }
      return SSHConnection(to: endpoint, configuration: configuration, by: proxy, on: reactor)
    }
  }

  /// The program that leads to the host of `settings` in place of a TCP connection. What it writes
  /// is for the terminal until a shell has it; after that its last line is in the cause of the
  /// failure.
  static func proxyCommand(
    of settings: ConnectSettings, _ local: LocalEnvironment, _ reporter: Reporter,
    keyboard: Keyboard? = nil
  ) -> ProxyCommand? {
    settings.proxyCommand.map { line in
      let shell = local.variables["SHELL"].flatMap { $0.isEmpty ? nil : $0 }
      return ProxyCommand(line: line, shell: shell ?? "/bin/sh") {
        if keyboard?.wasOpened != true { reporter.log(PeerText.escaped($0, limit: 2048)) }
      }
    }
  }

  /// The configuration of the connection to the host of `settings`: credentials and trust. Each
  /// connection gets the prompts of its own login.
  static func configuration(
    of settings: ConnectSettings, _ prompter: Prompter, password: Secret? = nil,
    passwordPrompts: Int? = nil
  ) -> SSHConfiguration {
    var credentials = settings.identities.map { identity -> SSHCredential in
      switch identity {
      case .keyFile(let path): .keyFile(path)
      case .certificateFile(let path): .certificateFile(path)
      case .agent(let path, let files, let isLimited):
        .agent(socketPath: path, preferring: files, isLimited: isLimited)
      }
    }
    credentials += secrets(of: settings.login, prompter, password, prompts: passwordPrompts)
    var configuration = SSHConfiguration(
      user: settings.user, credentials: credentials, hostKeys: settings.hostKeys,
      algorithms: settings.algorithms, timeouts: settings.timeouts)
    configuration.addressFamily = settings.addressFamily
    configuration.source = settings.source
    configuration.name = settings.givenHost
    configuration.keyRules = settings.login.keys
    if password == nil { configuration.conversations = prompts(settings.login, passwordPrompts) }
    return configuration
  }

  /// How often a person is asked for a password.
  private static func prompts(_ login: ClientConfig.Login, _ wish: Int?) -> Int {
    min(wish ?? login.passwordPrompts, AuthenticationPlan.mostSecrets)
  }

  /// What a person knows, by the methods that may be used: each is a secret that goes to the host.
  private static func secrets(
    of login: ClientConfig.Login, _ prompter: Prompter, _ password: Secret?, prompts: Int?
  ) -> [SSHCredential] {
    let allows = (
      password: login.allows("password"), questions: login.allows("keyboard-interactive")
    )
    if let password {
      switch allows {
      case (true, true): return [.passwordByAnyMethod(password)]
      case (true, false): return [.password(password)]
      // The prompter has it for one hidden question.
      case (false, true): return [.keyboardInteractive]
      case (false, false): return []
      }
    }
    // A conversation that is begun and not answered is a failed login to the server.
    let questions: [SSHCredential] =
      allows.questions && prompter.route.canAsk && !login.isBatch ? [.keyboardInteractive] : []
    let count = Self.prompts(login, prompts)
    let passwords: [SSHCredential] =
      allows.password && !login.isBatch ? (0..<max(0, count)).map { _ in .password(nil) } : []
    let isPasswordFirst =
      login.methods?.first { ["password", "keyboard-interactive"].contains($0) } == "password"
    return isPasswordFirst ? passwords + questions : questions + passwords
  }
}
