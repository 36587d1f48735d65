public import BridgeErrors
public import BridgeSSH
public import BridgeSession
public import BridgeSupervision
public import BridgeTransport
import BridgeWaiting

/// One machine and any number of durable sessions on it, over as many SSH connections as its server
/// requires.
///
///     let machine = try await RemoteMachine(named: "build", supervisor)
///     let agent = machine.session(.init(host: "build", starting: spec, client: client))
///     for try await line in agent.lines() { … }
///
/// A server allows a number of channels on a connection (MaxSessions of sshd), and each attached
/// session has one. Where it refuses one more, another connection is made; all of them are links of
/// the same supervisor, take turns to dial, and share a retry budget. A refused channel ends no
/// session. Nor does a link that has given up: its error stays with the supervisor, and the
/// sessions go on when a person has it dialed again.
public actor RemoteMachine: ByteChannelSource {
  /// Makes a connection that has not been opened.
  public typealias Make = @Sendable (Endpoint) async throws(AppError) -> SSHConnection

  /// Opens a channel by the function that it is given.
  typealias Opening =
    @Sendable (
      @escaping @Sendable () async throws(AppError) -> any ByteChannel
    ) async throws(AppError) -> any ByteChannel

  /// What becomes of the `bridge-host` there.
  private enum HostProgram {
    /// It is used as it is.
    case taken
    /// The one at this path is installed where there is none.
    case wanted(String)
    /// One caller looks, and installs it.
    case looking
  }

  /// The machine, as errors name it.
  public nonisolated let name: String
  /// What the configuration asks for and the links of a program do not do, a sentence each, with
  /// file and line.
  public nonisolated let warnings: [String]
  /// Lines of the configuration that have no effect and need none, a sentence each.
  public nonisolated let notes: [String]
  private let route: MachineRoute
  private let supervisor: Supervisor<ContinuousClock>
  private let options: LinkOptions
  /// Not a part of the actor: a channel that is let go gives its place back at once.
  private let pool: Mutex<ChannelPool>
  private var connections: [PooledLink] = []
  private var isClosed = false
  private var hostProgram = HostProgram.taken
  /// The link of the newest channel; nil where none was opened since `install` began.
  private var newestLink: SSHConnection?
  private let changes = Changes()

  /// A machine that is not dialed before a channel is needed.
  ///
  /// - Parameters:
  ///   - name: the machine, as errors name it; its links are named after it.
  ///   - endpoint: where it is.
  ///   - supervisor: keeps its links up.
  ///   - options: how they are kept up.
  ///   - most: how many connections there may be, from 1; beyond that channels wait for others.
  ///   - make: makes a connection that has not been opened.
  public init(
    _ name: String, at endpoint: Endpoint, _ supervisor: Supervisor<ContinuousClock>,
    _ options: LinkOptions = .losesNothing, most: Int = 32, make: @escaping Make
  ) {
    (self.name, self.supervisor, self.options) = (name, supervisor, options)
    (route, warnings, notes) = (.made(endpoint, make), [], [])
    pool = Mutex(ChannelPool(most: max(1, most)))
  }

  /// A machine as ssh_config(5) describes it: HostName, User, Port, keys, known_hosts, timeouts,
  /// and the way to it by ProxyJump or ProxyCommand. It is not dialed before a channel is needed.
  ///
  /// The hosts of ProxyJump are links of `supervisor`, too, which the machine's depend on; machines
  /// behind the same hosts share them.
  ///
  /// - Parameters:
  ///   - name: the machine as ssh(1) takes it: an alias of `Host`, or a name or address, as
  ///     `[user@]host[:port]`. Errors and its links have this name.
  ///   - supervisor: keeps its links up, under names of their own: one machine of a name on each.
  ///   - options: how they are kept up. ServerAliveInterval and ServerAliveCountMax go before its
  ///     `liveness`.
  ///   - lookup: the configuration, and what answers the questions of a login.
  ///   - installation: whether `bridge-host` is installed before the first channel is opened.
  ///   - most: how many connections there may be, from 1; beyond that channels wait for others.
  /// - Throws: `validationError` with file and line for what cannot be read or used; `fileNotFound`
  ///   and `fileReadError` of a configuration file; `featureUnavailable` for a restriction that
  ///   cannot be kept, and where only keys of FIDO devices could be offered; `cancelled`.
  public init(
    named name: String, _ supervisor: Supervisor<ContinuousClock>,
    _ options: LinkOptions = .losesNothing, lookup: MachineOptions = MachineOptions(),
    installing installation: HostInstallation = .never, most: Int = 32
  ) async throws(AppError) {
    var request = try HostRequest(named: name)
    (request.files, request.options) = (lookup.files, lookup.options)
    request.usualKeepalive = options.liveness?.keepalive ?? .zero
    request.usualDeadAfter = options.liveness?.deadAfter
    let (settings, environment) = try await HostSettings.lookUp(
      request, home: lookup.home, canAsk: lookup.answers != nil)
    (self.name, self.supervisor, self.options) = (name, supervisor, options)
    route = .configured(
      ConfiguredRoute(
        settings: settings, variables: environment.environment, answers: lookup.answers))
    (warnings, notes) = (settings.warnings + settings.withoutEffect, settings.notes)
    if case .ifMissing(let path) = installation { hostProgram = .wanted(path) }
    pool = Mutex(ChannelPool(most: max(1, most)))
  }

  /// A session on this machine: attached over a connection that has a place for it, and again over
  /// another one whenever that is lost.
  public nonisolated func session(_ configuration: DurableSession.Configuration) -> DurableSession {
    session(configuration) { open throws(AppError) in try await open() }
  }

  /// Likewise.
  ///
  /// - Parameter opening: opens each channel by the function that it is given.
  nonisolated func session(
    _ configuration: DurableSession.Configuration, opening: @escaping Opening
  ) -> DurableSession {
    DurableSession(configuration) { command, last throws(AppError) in
      try await opening { () async throws(AppError) in
        try await self.provideHostProgram()
        return try await self.openChannel(running: command, isAgain: last != nil)
      }
    }
  }

  /// What `bridge-host` there answers without attaching.
  public nonisolated var host: SessionHost { SessionHost(self, host: name) }

  /// How many connections there are, or were to be made.
  public var connectionCount: Int { connections.count }

  /// A channel on a connection that has a place for it; waits for a link, and for a place. Where
  /// `bridge-host` is to be installed, that comes first.
  ///
  /// - Throws: what a link that goes on refused it with, where that was not for others that are
  ///   open; what kept `bridge-host` from being installed, after which the next call tries again;
  ///   `cancelled`, also when the machine is closed.
  public func channel(running command: String) async throws(AppError) -> any ByteChannel {
    try await provideHostProgram()
    return try await openChannel(running: command)
  }

  /// A channel, whatever the `bridge-host` there is.
  ///
  /// - Parameter isAgain: whether it is for a session that was attached before: that waits for a
  ///   host that refuses it.
  func openChannel(
    running command: String, isAgain: Bool = false
  ) async throws(AppError) -> any ByteChannel {
    while !isClosed {
      let version = changes.version
      switch pool.withLock({ $0.take() }) {
      case .full: try await changes.wait(after: version)
      case .another(let number):
        try await keeping(number) { () async throws(AppError) in try await add(number) }
        if let channel = try await open(command, on: number, isAgain) { return channel }
      case .connection(let number):
        if let channel = try await open(command, on: number, isAgain) { return channel }
      }
    }
    throw .cancelled
  }

  /// Dials the machine where it has no link yet, and returns when one is up, with `bridge-host`
  /// there where that is to be installed.
  ///
  /// - Throws: what the link, or one that it depends on, gave up with: a first dial is repeated,
  ///   and fails for good only where a person is needed, unless `LinkOptions.retriesFirstDial` is
  ///   false; what kept `bridge-host` from being installed; `cancelled`, also when the machine is
  ///   closed.
  public func connect() async throws(AppError) {
    guard !isClosed else { throw .cancelled }
    if connections.isEmpty, case .another(let number) = pool.withLock({ $0.take() }) {
      defer { give(back: number) }
      try await add(number)
    }
    let first = connections[0]
    await first.isAdded.wait()
    _ = try await supervisor.connection(first.id)
    try await provideHostProgram()
  }

  /// Installs `bridge-host` where that is wanted and there is none: one caller for all that wait.
  private func provideHostProgram() async throws(AppError) {
    while true {
      let version = changes.version
      switch hostProgram {
      case .taken: return
      case .looking: try await changes.wait(after: version)
      case .wanted(let path): try await look(orInstall: path)
      }
    }
  }

  /// Looks for `bridge-host`, and installs the program at `path` where there is none. After the
  /// loss of a link that is still wanted: when there is another one is the supervisor's matter.
  private func look(orInstall path: String) async throws(AppError) {
    hostProgram = .looking
    defer { changes.announce() }
    do throws(AppError) {
      try await install(path)
      hostProgram = .taken
    } catch {
      hostProgram = .wanted(path)
      guard await hasLostLink(by: error) else { throw error }
    }
  }

  private func install(_ path: String) async throws(AppError) {
    newestLink = nil
    let channels = MachineChannels(machine: self)
    let sessions = SessionHost(channels, host: name)
    do throws(AppError) {
      _ = try await sessions.version()
      return
    } catch {
      guard SessionFailure.isOfNoHostProgram(error) else { throw error }
    }
    _ = try await HostInstaller(channels, host: name).provide(try await Self.program(at: path))
    _ = try await sessions.version()
  }

  /// Whether `install` failed by the end of the link that it used.
  private func hasLostLink(by error: AppError) async -> Bool {
    guard !Task.isCancelled, !isClosed, let newestLink else { return false }
    let failure = await newestLink.lastFailure
    return error == .cancelled || failure != nil
  }

  /// Reads a program, not on this actor: it blocks.
  @concurrent private static func program(at path: String) async throws(AppError) -> HostBinary {
    try HostBinary(path: path)
  }

  /// Adds the link with this number.
  private func add(_ number: Int) async throws(AppError) {
    let link = PooledLink(id: ConnectionID("\(name)#\(number + 1)"))
    connections.append(link)
    defer { link.isAdded.open() }
    do throws(AppError) {
      let (options, make): (LinkOptions, Make)
      switch route {
      case .made(_, let own): (options, make) = (self.options, own)
      case .configured(let route):
        let hops = try await route.holdHops(on: supervisor, self.options)
        connections[number].hops = hops
        options = route.options(self.options, of: route.settings, behind: hops.last)
        make = route.maker(of: route.settings, behind: hops.last, supervisor)
      }
      try await supervisor.add(
        link.id, to: route.endpoint, options,
        onGeneration: { (connection: SSHConnection, generation) in
          await link.links.use(connection, generation: generation)
        }, make: make)
    } catch {
      await link.links.fail(error)
      throw error
    }
    if isClosed { await end(number) }
  }

  /// Ends the link with this number; hosts on the way stay up for others.
  private func end(_ number: Int) async {
    let link = connections[number]
    connections[number].hops = []
    await link.links.fail(.cancelled)
    await supervisor.close(link.id)
    for hop in link.hops.reversed() { await supervisor.release(hop) }
  }

  /// A channel on the connection with this number; nil where the server refused it for others that
  /// are open there.
  private func open(
    _ command: String, on number: Int, _ isAgain: Bool
  ) async throws(AppError) -> (any ByteChannel)? {
    let links = connections[number].links
    var last = 0
    var retry = RefusalRetry(isAgain ? RefusalRetry.usual : [])
    while true {
      let (link, generation) = try await keeping(number) { () async throws(AppError) in
        try await links.link(after: last)
      }
      do throws(AppError) {
        guard let channel = try await links.open(command, on: link) else {
          last = generation
          continue
        }
        newestLink = link
        return PooledChannel(channel) { [weak self] in self?.give(back: number) }
      } catch {
        // A program that is not run is not for others that are open: the account has no process
        // left, for instance.
        let refusal = await link.lastRefusal
        guard refusal?.kind == .channelDenied, refusal?.phase == .openChannel else {
          try await keeping(number) { () async throws(AppError) in
            try await retry.wait(after: error)
          }
          continue
        }
        let isForOthers = pool.withLock { $0.refuse(number) }
        changes.announce()
        guard isForOthers else { throw error }
        return nil
      }
    }
  }

  /// Gives the place back where `body` fails.
  private func keeping<Value>(
    _ number: Int, _ body: () async throws(AppError) -> Value
  ) async throws(AppError) -> Value {
    do throws(AppError) {
      return try await body()
    } catch {
      give(back: number)
      throw error
    }
  }

  private nonisolated func give(back number: Int) {
    pool.withLock { $0.release(number) }
    changes.announce()
  }

  /// Closes all connections; sessions on it are suspended for good.
  public func close() async {
    isClosed = true
    changes.announce()
    for number in connections.indices { await end(number) }
  }
}
