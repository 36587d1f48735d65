public import BridgeErrors
public import BridgeReactor
public import BridgeTransport
import BridgeWaiting

/// Takes connections on local ports and carries each to its target through a host, and those that
/// come to ports of the host to targets of this machine, over SSH connections of its own.
///
/// libssh2 opens one channel at a time in a session, and a target that swallows the dial holds that
/// for minutes: so forwarded connections never go over the session that runs commands. Sessions are
/// made when they are needed. The local ports stay open while the link is down; what connects then
/// waits for it, bounded in number and time. The ports of the host have one session of their own,
/// over which no tunnel is opened, and are requested again over each new one.
public actor Forwarder {
  /// The bounds.
  public struct Limits: Sendable, Equatable {
    /// Connections that are carried or wait.
    public var connections = 1024
    /// Those of them that wait for the link or their target.
    public var waiting = 1024
    /// How long a connection waits for the link; zero refuses it at once.
    public var wait = Duration.seconds(10)
    /// SSH connections that are made for all of them, beside the one for ports of the host.
    public var sessions = 4
    /// The silence after which an SSH connection is probed that carries something or listens; zero
    /// never probes.
    public var keepalive = Duration.seconds(15)
    /// How long such a connection is kept after a probe while its host neither answers nor takes
    /// bytes.
    public var deadAfter = LivenessPolicy.defaultDeadAfter
    /// Whether a local unix socket takes the place of one that is there (StreamLocalBindUnlink).
    public var replacesSockets = false
    /// The targets that a client of a SOCKS port of the host may name; nil for any.
    package var remoteTargets: [PermittedTarget]?

    /// The defaults.
    public init() {}
  }

  /// A step of a forwarded connection.
  public enum Event: Sendable, Equatable {
    /// It is carried to its target.
    case opened(id: Int, target: String)
    /// It is ended, because the host broke the rules for what it sends and some of that is lost.
    case damaged(id: Int, AppError)
    /// It is over, after so many bytes; `isWhole` where none that came from either side was lost.
    case closed(id: Int, sent: UInt64, received: UInt64, isWhole: Bool)
    /// It was refused or given up before it was carried.
    case refused(id: Int, target: String?, AppError)
    /// Connections are taken as `rule` says, at this port (0 for a unix socket): by the host, again
    /// after each reconnect, or by this machine where that was not possible at first.
    case listening(ForwardRule, port: Int)
    /// Nothing takes connections as `rule` says; it is tried again after `retry`.
    case unavailable(ForwardRule, AppError, retry: Duration)
    /// A reader that was too slow lost so many events that stood here.
    case missed(count: Int)
  }

  struct Entry {
    /// What asked for it: a local socket, or a channel that the host opened.
    let near: any Carrier
    /// Where it leads, once that is known.
    var target: String?
    var task: Task<Void, Never>?
    var splice: Splice?
    /// Resumed when the local side can be read, or when it is over.
    var reader: Promise<Void>?
  }

  /// The reactor that everything of it runs on: the sessions must be on it as well.
  public nonisolated let reactor: Reactor
  /// What happens, for one reader; one that is thousands behind finds `missed` in place of the
  /// oldest.
  public nonisolated let events: AsyncStream<Event>
  nonisolated let host: String
  nonisolated let limits: Limits
  nonisolated let link: @Sendable () async throws(AppError) -> Void
  nonisolated let makeSession: @Sendable () async throws(AppError) -> SSHConnection

  private let sink = ForwardEvents()
  private var listeners: [(rule: ForwardRule, socket: ListeningSocket)] = []
  var entries: [Int: Entry] = [:] { didSet { resumeIfIdle() } }
  var sessions: [ForwardSession] = []
  /// A session is being made.
  var making: Task<Void, Never>?
  /// When another one may be made: before a waiting connection has to be refused.
  var pace = SessionPace(longest: .seconds(4))
  /// The making of a session, while it waits for that.
  var dialer: Promise<Void>?
  /// Connections that wait for it; nil where their time is up.
  var makers: [Int: Promise<Result<Void, AppError>?>] = [:]
  var waiting = 0
  var lastSession = 0
  /// Connections that wait for a session, by age.
  var queue: [Int: Promise<Bool>] = [:]
  var lastWaiter = 0
  /// The bytes of connections that have ended.
  var carriedBefore: UInt64 = 0
  private var lastID = 0
  /// Callers that wait until nothing is carried.
  private var idleCallers: [Promise<Void>] = []
  var isClosed = false
  /// Local ports that are not to be had yet, and when they are tried.
  private var localAttempts = ForwardAttempts()
  private var localTimer: LoopTimer?
  /// Ports of the host.
  var remote = RemoteForwards()

  /// A forwarder without a port.
  ///
  /// - Parameters:
  ///   - host: the name of the host, for errors.
  ///   - link: returns when the link is up; throws what it gave up with.
  ///   - session: makes a connection to the host on `reactor`, and opens it.
  public init(
    through host: String, limits: Limits = Limits(), on reactor: Reactor,
    link: @escaping @Sendable () async throws(AppError) -> Void,
    session: @escaping @Sendable () async throws(AppError) -> SSHConnection
  ) {
    self.host = host
    self.limits = limits
    self.reactor = reactor
    self.link = link
    makeSession = session
    events = sink.stream
  }

  /// A forwarder without a port, through the host at `endpoint`, which is reached with
  /// `configuration`.
  ///
  /// - Parameter link: returns when the link is up; throws what it gave up with.
  public init(
    through endpoint: Endpoint, configuration: SSHConfiguration, limits: Limits = Limits(),
    link: @escaping @Sendable () async throws(AppError) -> Void
  ) {
    let reactor = ReactorGroup.shared.next()
    self.init(
      through: endpoint.host, limits: limits, on: reactor, link: link,
      session: { () async throws(AppError) -> SSHConnection in
        let connection = SSHConnection(to: endpoint, configuration: configuration, on: reactor)
        do throws(AppError) {
          try await connection.connect()
        } catch {
          await connection.close()
          throw error
        }
        return connection
      })
  }

  /// The reactor's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  /// A connection that is carried or waits.
  public struct Connection: Sendable, Equatable {
    /// Its number, as in the events.
    public var id: Int
    /// Where it leads; nil as long as that is not known.
    public var target: String?
    /// The bytes that went to the host.
    public var sent: UInt64 = 0
    /// The bytes that came from the host.
    public var received: UInt64 = 0
  }

  /// What is carried or waits, oldest first.
  public var connections: [Connection] {
    entries.sorted { $0.key < $1.key }.map { id, entry in
      let counts = entry.splice?.counts
      return Connection(
        id: id, target: entry.target, sent: counts?.sent ?? 0, received: counts?.received ?? 0)
    }
  }

  /// Returns when no connection is carried or waits any more, and at the latest after `close`. One
  /// whose local side has yet to take what came is not waited for.
  public nonisolated func untilIdle() async {
    await withTaskExecutorPreference(reactor) { await self.waitForIdle() }
  }

  private func waitForIdle() async {
    guard !isIdle else { return }
    let caller = Promise<Void>()
    idleCallers.append(caller)
    await caller.value()
  }

  /// What is only kept for slow readers is the kernel's with the end of the run.
  private var isIdle: Bool { entries.values.allSatisfy { $0.splice?.isDelivering ?? false } }

  func resumeIfIdle() {
    guard !idleCallers.isEmpty, isIdle else { return }
    let callers = idleCallers
    idleCallers = []
    for caller in callers { caller.fulfill() }
  }

  /// Whether it takes connections, or is asked to.
  public var isListening: Bool {
    !listeners.isEmpty || !localAttempts.isEmpty || !remote.attempts.isEmpty
  }

  /// How many connections are carried or wait.
  public var count: Int { entries.count }

  /// How many bytes it has carried, in both directions.
  public var carried: UInt64 {
    entries.values.compactMap { $0.splice?.counts }.reduce(carriedBefore) {
      $0 &+ $1.sent &+ $1.received
    }
  }

  /// How many SSH connections carry them.
  public var sessionCount: Int { sessions.count + (remote.session == nil ? 0 : 1) }

  /// Takes connections from now on as `rule` says; returns the TCP port, 0 for a unix socket.
  ///
  /// One that is taken so already stays as it is. A port of the host is requested when the link is
  /// up, and again whenever its session was lost.
  ///
  /// - Throws: `sshConnectionFailed` with the local address for one that is in use or cannot be
  ///   listened on, with the host where that refuses; `validationError` for an address that is
  ///   none; `featureUnavailable` for a unix socket of the host; what the link gave up with;
  ///   `cancelled` after `close`.
  public nonisolated func listen(_ rule: ForwardRule) async throws(AppError) -> Int {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) -> Int in
      guard rule.side == .remote else { return try await self.listenHere(rule) }
      return try await self.listenThere(rule)
    }
  }

  /// Takes connections as `rule` says as soon as that is possible: it is tried with a growing wait,
  /// and at once when the link is back. `events` reports it.
  public nonisolated func keepTrying(_ rule: ForwardRule) async {
    await withTaskExecutorPreference(reactor) { await self.keepTryingHere(rule) }
  }

  /// Takes no more connections as `rule` says; false where it was not asked to.
  ///
  /// What is carried goes on, but for a port of the host: the session of all of those is closed,
  /// and those that are left are asked for again.
  public nonisolated func cancel(_ rule: ForwardRule) async -> Bool {
    await withTaskExecutorPreference(reactor) { await self.cancelHere(rule) }
  }

  private func cancelHere(_ rule: ForwardRule) async -> Bool {
    guard rule.side == .local else { return await cancelThere(rule) }
    let ending = listeners.filter { $0.rule == rule }
    for listener in ending { listener.socket.close() }
    listeners.removeAll { $0.rule == rule }
    let wasWaiting = localAttempts.waiting.contains(rule)
    localAttempts.remove(rule)
    return wasWaiting || !ending.isEmpty
  }

  private func keepTryingHere(_ rule: ForwardRule) {
    guard !isClosed else { return }
    guard rule.side == .local else { return keepAsking(for: rule) }
    localAttempts.add(rule, at: .now)
    tryLocal()
  }

  private func tryLocal() {
    localTimer?.cancel()
    localTimer = nil
    guard !isClosed else { return }
    let now = ContinuousClock.now
    while let (rule, _) = localAttempts.next(at: now) {
      do throws(AppError) {
        tell(.listening(rule, port: try listenHere(rule)))
        localAttempts.remove(rule)
      } catch {
        tell(.unavailable(rule, error, retry: localAttempts.refused(rule, at: now)))
      }
    }
    localTimer = localAttempts.due.map { due in
      LoopTimer(after: due - now, on: reactor) { [weak self] in
        self?.assumeIsolated { $0.tryLocal() }
      }
    }
  }

  /// The link is back: ports that could not be opened before are tried at once. The way works, so
  /// that a session whose host does not answer now is dead.
  public func linkIsBack() {
    linkLost()
    pace.reset(at: .now)
    dialNow()
    localAttempts.retryNow(at: .now)
    tryLocal()
    retryRemoteNow()
  }

  private func listenHere(_ rule: ForwardRule) throws(AppError) -> Int {
    guard !isClosed else { throw .cancelled }
    if let open = listeners.first(where: { $0.rule == rule }) { return open.socket.port }
    var opened: [ListeningSocket] = []
    switch rule.source {
    case .socket(let path):
      do throws(ListeningSocket.Failure) {
        opened = [try ListeningSocket(path: path, replaces: limits.replacesSockets)]
      } catch {
        throw Self.error(error, at: path)
      }
    case .port(let name, let port): opened = try Self.sockets(name, port)
    }
    for listener in opened {
      let isStarted = listener.start(on: reactor) { [weak self] socket in
        self?.assumeIsolated { $0.accept(socket, rule) }
      }
      guard isStarted else { throw .internalError(detail: "\(rule) cannot be watched") }
    }
    listeners += opened.map { (rule, $0) }
    return opened.first?.port ?? 0
  }

  /// As OpenSSH: loopback is both of its addresses, `*` both families; one that is there is enough.
  private static func sockets(_ name: String?, _ port: Int) throws(AppError) -> [ListeningSocket] {
    // Of a port 0 the one that the system chose at the first address may be in use at the other:
    // it chooses another one as long as those are open.
    var inUse: [[ListeningSocket]] = []
    while true {
      var opened: [ListeningSocket] = []
      do throws(AppError) {
        try open(name, port, &opened)
        return opened
      } catch {
        guard port == 0, !opened.isEmpty, inUse.count < 16 else { throw error }
        inUse.append(opened)
      }
    }
  }

  private static func open(
    _ name: String?, _ port: Int, _ opened: inout [ListeningSocket]
  ) throws(AppError) {
    let numbers: [String] =
      switch name {
      case nil, "localhost": ["127.0.0.1", "::1"]
      case "*": ["0.0.0.0", "::"]
      case let name?: [name]
      }
    for number in numbers {
      guard let address = NetworkAddress(numeric: number) else {
        throw .validationError(
          field: "address",
          message: "\"\(PeerText.escaped(number, limit: 128))\" is not an address.")
      }
      do throws(ListeningSocket.Failure) {
        opened.append(try ListeningSocket(address, port: opened.first?.port ?? port))
      } catch {
        // A machine without IPv6 has the other one.
        guard opened.isEmpty || error.isInUse else { continue }
        throw Self.error(
          error, at: number.contains(":") ? "[\(number)]:\(port)" : "\(number):\(port)")
      }
    }
  }

  private static func error(_ failure: ListeningSocket.Failure, at address: String) -> AppError {
    let reason =
      if !failure.isInUse {
        "Nothing can listen there: \(failure.words)."
      } else if address.hasPrefix("/") {
        "A file of this name exists: another program listens there, or has left it; then remove it."
      } else {
        "Something listens there already."
      }
    return .sshConnectionFailed(host: PeerText.escaped(address, limit: 256), reason: reason)
  }

  private func accept(_ socket: Socket, _ rule: ForwardRule) {
    guard let id = enter(SocketCarrier(socket, on: reactor)) else { return }
    entries[id]?.task = Task(executorPreference: reactor) { await self.serve(id, rule) }
  }

  /// Takes a connection in, where there is space for one more.
  func enter(_ near: any Carrier) -> Int? {
    lastID += 1
    guard !isClosed, entries.count < limits.connections else {
      near.reset()
      let reason = "\(limits.connections) connections are forwarded already."
      tell(.refused(id: lastID, target: nil, .sshConnectionFailed(host: host, reason: reason)))
      return nil
    }
    entries[lastID] = Entry(near: near)
    return lastID
  }

  func tell(_ event: Event) { sink.add(event) }

  /// Ends an entry that was never carried; where it has its reply, that must arrive.
  func refuse(_ id: Int, _ target: String?, _ error: AppError, hasReply: Bool = false) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    entry.reader?.fulfill()
    if hasReply { entry.near.close() } else { entry.near.reset() }
    tell(.refused(id: id, target: target, error))
  }

  /// Closes the ports, every connection and every session. Safe to call again.
  public nonisolated func close() async {
    await withTaskExecutorPreference(reactor) { await self.closeHere() }
  }

  private func closeHere() async {
    isClosed = true
    for listener in listeners { listener.socket.close() }
    listeners = []
    localTimer?.cancel()
    for (id, entry) in entries {
      entry.task?.cancel()
      if let splice = entry.splice { splice.end() } else { refuse(id, nil, .cancelled) }
    }
    await closeRemote()
    dialNow()
    making?.cancel()
    _ = await making?.value
    let ending = sessions
    sessions = []
    for session in ending {
      session.idle?.cancel()
      session.stopWatching()
      await session.connection.close()
    }
    sink.finish()
  }
}
