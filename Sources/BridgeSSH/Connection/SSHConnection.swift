public import BridgeErrors
public import BridgeReactor
public import BridgeTransport
import BridgeWaiting

/// One SSH connection: dialed once, authenticated once, carrying channels until it ends.
///
/// It is pinned to a reactor, where libssh2 is called from plain synchronous steps (`pump`);
/// callers wait in one table and are answered from there. It reports what ends it and never
/// retries.
public actor SSHConnection: Connection {
  /// sshd limits connections that are not authenticated yet (MaxStartups).
  public nonisolated static let limitsUnauthenticated = true

  /// The remote endpoint.
  public nonisolated let endpoint: Endpoint
  /// The configuration of the connection.
  public nonisolated let configuration: SSHConfiguration
  /// Steps of this connection, oldest first; ends with `.closed`. One reader.
  public nonisolated let events: AsyncStream<ConnectionEvent>
  /// The failure that ended the connection; nil while it has not ended.
  public internal(set) var lastFailure: FailureContext?
  /// Why a channel or what was to run in it was refused last, on a connection that went on.
  public internal(set) var lastRefusal: FailureContext?
  /// The algorithms that both sides agreed on, for display.
  public internal(set) var agreement: Agreement?
  /// Problems beside the connection: a known_hosts file that could not be written.
  public internal(set) var warnings: [AppError] = []

  /// The host key that this connection added to known_hosts; nil where it was known, or could not
  /// be written down.
  public internal(set) var addedHostKey: AddedHostKey?

  /// The key that the host has shown.
  private nonisolated let hostKey = Mutex(HostKey?.none)

  /// The fingerprint of the key that the host has shown; nil before that.
  package nonisolated var hostKeyFingerprint: String? { hostKey.withLock { $0?.fingerprint } }

  /// What the login was made with.
  private nonisolated let admitted = Mutex(String?.none)

  /// The fingerprint of the user's key that the login was made with, or of what its certificate
  /// grants, or the name of the method (RFC 4252); nil before a login.
  package nonisolated var admission: String? { admitted.withLock(\.self) }

  private nonisolated let lost = Mutex(ConnectionError?.none)

  /// What ended the connection, once for all that it carried; nil while it goes on, and where its
  /// owner closed it.
  package nonisolated var loss: ConnectionError? { lost.withLock(\.self) }

  func publishLoss() {
    let loss = lossOfLink?.typed
    lost.withLock { $0 = loss }
  }

  func admit(_ admission: String?) { admitted.withLock { $0 = admission } }

  func see(_ key: HostKey?) { hostKey.withLock { $0 = key } }

  nonisolated let reactor: Reactor
  /// The connection whose server leads on to this one's.
  let bastion: SSHConnection?
  /// The program that leads to the server.
  let proxy: ProxyCommand?

  var life = ConnectionLife()
  var phase = ConnectionPhase.resolve
  var dialing = Dialing.none
  var owner = SessionOwner<SSHSession, SSHSession.Evidence>.none
  var turns = TurnSchedule<LoopTimer>()
  /// Callers that wait for anything at all from the server.
  var hearers: [(id: Int, heard: () -> Void)] = []
  var operations = OperationQueue()
  var callers = CallerTable<SSHFailure>()
  var channels: [UInt32: ChannelState] = [:]
  var endings: [UInt32: ChannelEnding] = [:]
  /// Channels on which the server has not yet started what was asked for, by our number.
  var starting: [UInt32: NativeChannel] = [:]
  /// Whether a channel was ever open.
  var hasHadChannel = false
  /// Whether the server was asked to listen: no other global request may want an answer then.
  var asksForPorts = false
  /// Ports that the server listens on for us.
  var listeners: [RemoteListener] = []
  /// Channels that are sockets here, by our number.
  var splices: [UInt32: Splice] = [:]
  /// Channels that are closed for us and not yet for the server.
  var closing: [NativeChannel] = []
  /// A channel was closed, and none was opened after it: the server may still count it.
  var hasJustClosed = false
  var ending: SSHFailure?
  var identification = ServerIdentification()
  /// The algorithms offered in the key exchange.
  var offer: AlgorithmOffer
  let library = LibSSH2.parsedVersion
  var login = LoginProgress()
  var promptExchange: PromptExchange?
  var questionTime = QuestionTime()
  var whenReleased: [() -> Void] = []
  /// The fastest round trip seen.
  package internal(set) var roundTrip: Duration?

  /// A connection to `endpoint` on one of the process's reactors; nothing is dialed yet.
  public init(
    to endpoint: Endpoint, configuration: SSHConfiguration,
    on reactor: Reactor = ReactorGroup.shared.next()
  ) {
    self.endpoint = endpoint
    self.configuration = configuration
    self.reactor = reactor
    bastion = nil
    proxy = nil
    offer = configuration.algorithms
    events = life.events
  }

  /// A connection to `endpoint` as the server of `bastion` reaches it (ProxyJump); nothing is
  /// dialed yet.
  ///
  /// It is a connection of its own, end to end: keys, login and channels are between this side and
  /// `endpoint`. `bastion` must be connected when this one is; where that ends, this one ends too,
  /// with the failure of that one.
  public init(
    to endpoint: Endpoint, configuration: SSHConfiguration, through bastion: SSHConnection
  ) {
    self.endpoint = endpoint
    self.configuration = configuration
    reactor = bastion.reactor
    self.bastion = bastion
    proxy = nil
    offer = configuration.algorithms
    events = life.events
  }

  /// A connection to `endpoint` by way of a program (ProxyCommand); nothing is started yet.
  ///
  /// The program is ended with the connection.
  public init(
    to endpoint: Endpoint, configuration: SSHConfiguration, by proxy: ProxyCommand,
    on reactor: Reactor = ReactorGroup.shared.next()
  ) {
    self.endpoint = endpoint
    self.configuration = configuration
    self.reactor = reactor
    bastion = nil
    self.proxy = proxy
    offer = configuration.algorithms
    events = life.events
  }

  // Not `isolated deinit`: Swift 6.3 fails ("circular reference") to optimize modules that import
  // it.
  deinit {
    guard let session = owner.session else { return }
    reactor.execute { session.release() }
  }

  /// The reactor's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  /// When the last byte came from the server; nil before the first.
  public var lastHeard: ContinuousClock.Instant? {
    owner.evidence?.lastHeard ?? session?.wire.lastHeard
  }

  /// Resolves, dials, checks the host's key, authenticates.
  ///
  /// The host key is verified before any credential is sent.
  /// - Throws: `validationError` for a user, host, port or password that cannot be one;
  ///   `fileReadError` and `filePermissionDenied` of known_hosts; what `AppError.init(sshError:)`
  ///   makes of the failure; `cancelled`.
  public nonisolated func connect() async throws(AppError) {
    do throws(ConnectionError) {
      try await open()
    } catch {
      throw error.error
    }
  }

  /// `connect()` whose failure has its context with it.
  ///
  /// - Throws: what `connect()` throws.
  public nonisolated func open() async throws(ConnectionError) {
    do throws(AppError) {
      try SSHInput.check(endpoint, user: configuration.user)
      try SSHInput.check(configuration.credentials)
    } catch {
      throw ConnectionError(error)
    }
    try await withTaskExecutorPreference(reactor) { () async throws(ConnectionError) in
      try await self.openHere()
    }
  }

  private func openHere() async throws(ConnectionError) {
    do throws(AppError) {
      try await establish()
    } catch {
      throw ConnectionError(error, context: lastFailure)
    }
  }

  /// The host as errors name it.
  nonisolated var hostName: String { configuration.name ?? endpoint.host }

  /// The name or address that is dialed, where errors name the host otherwise.
  nonisolated var dialedName: String? { hostName == endpoint.host ? nil : endpoint.host }

  /// `sshTimeout` of a phase or of a silent server; a name that is not resolved is a `dnsError`.
  public nonisolated func timeout(
    in phase: ConnectionPhase, after limit: Duration
  ) -> ConnectionError {
    let seconds = limit.wholeSeconds
    var failure = SSHFailure(
      code: .none, message: "", phase: phase, host: hostName, address: dialedName,
      port: endpoint.port,
      observation: phase == .stream ? .silent(seconds: seconds) : .deadline, timeout: seconds,
      proxyEnding: silence(in: phase))
    failure.limit = limit
    return failure.typed
  }

  /// One round trip to the server: a request whose answer is consumed.
  ///
  /// - Throws: `sshTimeout` when the answer is not there after `deadline`; what ended the
  ///   connection.
  public nonisolated func probe(within deadline: Duration) async throws(AppError) -> Duration {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) -> Duration in
      try await self.measureRoundTrip(within: deadline)
    }
  }

  /// Ends the connection in at most a second, and everything on it. Safe in every state, and again.
  public nonisolated func close() async {
    await withTaskExecutorPreference(reactor) {
      await self.disconnect()
    }
  }
}
