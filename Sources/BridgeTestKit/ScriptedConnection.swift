public import BridgeErrors
public import BridgeTransport

/// A connection to a `ScriptedHost`: it takes the time, fails in the ways and leaves the traces
/// that a real one does, on a manual clock.
public actor ScriptedConnection: Connection {
  /// How long a dial may take.
  public static let dialDeadline = Duration.seconds(10)

  /// Like sshd.
  public nonisolated static let limitsUnauthenticated = true

  /// Its name.
  public nonisolated let id: ConnectionID
  /// Which generation it is.
  public nonisolated let generation: Int
  /// Steps of this connection.
  public nonisolated let events: AsyncStream<ConnectionEvent>
  /// What ended it.
  public var lastFailure: FailureContext? { machine.failure?.context }
  /// When the last byte came.
  public private(set) var lastHeard: ContinuousClock.Instant?

  private nonisolated let host: ScriptedHost
  private nonisolated let continuation: AsyncStream<ConnectionEvent>.Continuation
  private var machine = ConnectionStateMachine()
  private var isOpen = false
  private var upSince: ContinuousClock.Instant?
  private var isFrozen = false
  private var isUnauthenticated = false
  private var question: (since: ContinuousClock.Instant, answered: ContinuousClock.Instant?)?
  private var isPaused = false
  private var acknowledged: UInt64 = 0
  private var upload: (bytesPerSecond: Int, since: ContinuousClock.Instant)?
  private let teardown: Duration

  init(
    id: ConnectionID, generation: Int, host: ScriptedHost, teardown: Duration
  ) {
    self.id = id
    self.generation = generation
    self.host = host
    self.teardown = teardown
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(64))
  }

  /// Where it leads.
  public nonisolated var endpoint: Endpoint { host.endpoint }

  /// Whether it is connected.
  public var isConnected: Bool { machine.state == .connected }

  /// How long it has been connected; nil while it is not.
  public var age: Duration? {
    isConnected ? upSince.map { host.clock.now - $0 } : nil
  }

  /// Dials; the host decides how that ends.
  ///
  /// - Throws: what the host's answer is in the vocabulary; `cancelled`.
  public nonisolated func open() async throws(ConnectionError) {
    try await dial()
  }

  /// `sshTimeout`, as of an SSH connection.
  public nonisolated func timeout(
    in phase: ConnectionPhase, after limit: Duration
  ) -> ConnectionError {
    let seconds = limit.wholeSeconds
    return SSHFailure(
      code: 0, message: "", phase: phase, host: endpoint.host, port: endpoint.port,
      observation: phase == .stream ? .silent(seconds: seconds) : .deadline, timeout: seconds
    ).typed
  }

  private func dial() async throws(ConnectionError) {
    guard machine.state == .idle else { throw .cancelled }
    step(.connect)
    guard case .connecting = machine.state else { throw .cancelled }
    isOpen = true
    isUnauthenticated = true
    host.began(id, generation)
    defer { settle() }
    step(.enter(.dial))
    try await pause(host.latency / 2)
    step(.enter(.keyExchange))
    try await pause(host.latency / 2)
    if host.questionTime > .zero {
      question = (host.clock.now, nil)
      try await pause(host.questionTime)
      question?.answered = host.clock.now
    }
    var answer = host.takeAnswer()
    if host.isFrozen || answer == .hang {
      answer = .hang
      try await pause(Self.dialDeadline - host.latency)
    }
    guard case .connecting = machine.state else { throw .cancelled }
    if let failure = host.failure(for: answer) {
      step(.fail(failure))
      throw failure
    }
    lastHeard = host.clock.now
    upSince = host.clock.now
    step(.ready)
  }

  /// One round trip of a tenth of the dial's latency, unless the host is frozen.
  ///
  /// - Throws: `sshTimeout` at the deadline; `cancelled`.
  public nonisolated func probe(within deadline: Duration) async throws(AppError) -> Duration {
    try await roundTrip(within: deadline)
  }

  private func roundTrip(within deadline: Duration) async throws(AppError) -> Duration {
    guard machine.state == .connected else { throw machine.failure?.error ?? .cancelled }
    let latency = host.latency / 10
    let wasMute = isMute
    do throws(ConnectionError) {
      try await pause(wasMute ? deadline : latency)
    } catch {
      throw error.error
    }
    guard !wasMute, !isMute, machine.state == .connected else {
      throw timeout(in: .stream, after: deadline).error
    }
    hear()
    return latency
  }

  /// Whether no answer of the peer arrives here now.
  private var isMute: Bool { isFrozen || host.isFrozen || isPaused || upload != nil }

  /// A byte came.
  public func hear() {
    if machine.state == .connected, !isFrozen, !isPaused { lastHeard = host.clock.now }
  }

  /// How long its person has taken.
  public var timeAsked: Duration {
    question.map { ($0.answered ?? host.clock.now) - $0.since } ?? .zero
  }

  /// The state of the traffic, as a transport would report it.
  public var traffic: TrafficState {
    TrafficState(isPaused: isPaused, acknowledged: acknowledged + uploaded)
  }

  /// The application is slow: the connection stops reading, and the peer is not heard any more.
  public func stopReading() {
    isPaused = true
  }

  /// The application has caught up: what arrived meanwhile is read.
  public func resumeReading() {
    isPaused = false
    hear()
  }

  /// A long message is on its way, `bytesPerSecond` of it are acknowledged, and a probe has to wait
  /// behind it, until `endUpload`. A frozen peer acknowledges nothing more.
  public func beginUpload(bytesPerSecond: Int) {
    upload = (bytesPerSecond, host.clock.now)
  }

  /// The message has arrived as a whole, and the peer acknowledges it.
  public func endUpload() {
    acknowledged += uploaded
    upload = nil
    hear()
  }

  private var uploaded: UInt64 {
    guard let upload, !isFrozen else { return 0 }
    let milliseconds = (host.clock.now - upload.since) / .milliseconds(1)
    return UInt64(milliseconds * Double(upload.bytesPerSecond) / 1_000)
  }

  /// No byte comes from the peer any more, and no end is reported.
  public func freeze() {
    guard machine.state == .connected else { return }
    acknowledged += uploaded
    isFrozen = true
  }

  /// The link ends, if it is connected.
  public func lose() {
    guard machine.state == .connected else { return }
    let reason = "The connection was lost."
    step(
      .fail(
        ConnectionError(
          .sshConnectionFailed(host: endpoint.host, reason: reason),
          context: FailureContext(
            kind: .linkLost, phase: .stream, host: endpoint.host, port: endpoint.port))))
  }

  /// Ends the connection after its teardown time.
  public nonisolated func close() async {
    await tearDown()
  }

  private func tearDown() async {
    guard machine.state != .closed else { return }
    step(.close)
    settle()
    // Not cut short by cancellation: a descriptor is not closed sooner without a waiting caller.
    let clock = host.clock
    let deadline = clock.now + teardown
    while clock.now < deadline, !Task.isCancelled {
      try? await clock.sleep(until: deadline)
    }
    guard machine.state != .closed else { return }
    step(.tornDown)
    host.closed(self, wasOpen: isOpen)
    isOpen = false
  }

  private func settle() {
    guard isUnauthenticated else { return }
    isUnauthenticated = false
    host.settled()
  }

  private func pause(_ duration: Duration) async throws(ConnectionError) {
    do {
      try await host.clock.sleep(until: host.clock.now + duration)
    } catch {
      throw .cancelled
    }
  }

  private func step(_ input: ConnectionStateMachine.Input) {
    for effect in machine.step(input) {
      guard case .yield(let event) = effect else { continue }
      continuation.yield(event)
      if event == .closed { continuation.finish() }
    }
  }
}
