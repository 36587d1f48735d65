import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

extension SSHConnection {
  /// How an operation ends for its caller.
  typealias Outcome<Value> = Result<Value, SSHFailure>

  /// Carries `attempt` on until it is done, in its turn in `group`.
  ///
  /// - Parameters:
  ///   - deadline: counted from its turn; after it the connection is given up.
  ///   - isHelped: `attempt` may block and runs on a helper thread.
  ///   - abandoned: what to do with a value whose caller no longer waits.
  func perform<Value: Sendable>(
    in group: OperationQueue.Group, channel: UInt32? = nil, phase: ConnectionPhase,
    within deadline: Duration,
    isHelped: Bool = false,
    abandoned: @escaping @Sendable (isolated SSHConnection, Value) -> Void = { _, _ in },
    _ attempt: @escaping @Sendable (SSHSession) -> Attempt<Value>
  ) async -> Outcome<Value> {
    await perform(
      in: group, channel: channel, phase: phase, within: deadline, isHelped: isHelped,
      abandoned: abandoned, attempt
    ) { _, value in value }
  }

  /// As that; `answer` makes of the value what the caller gets, in the turn in which it is done:
  /// the caller goes on in a later one. It is not called where no caller waits any more.
  func perform<Value: Sendable, Answer: Sendable>(
    in group: OperationQueue.Group, channel: UInt32? = nil, phase: ConnectionPhase,
    within deadline: Duration,
    isHelped: Bool = false,
    abandoned: @escaping @Sendable (isolated SSHConnection, Value) -> Void = { _, _ in },
    _ attempt: @escaping @Sendable (SSHSession) -> Attempt<Value>,
    answer: @escaping @Sendable (isolated SSHConnection, Value) -> Answer
  ) async -> Outcome<Answer> {
    let make = answer
    return await wait(phase: phase, within: nil) { connection, id, answer in
      guard let session = connection.owner.held else { return }
      let complete: @Sendable (isolated SSHConnection, Attempt<Value>) -> Bool = {
        connection, result in
        switch result {
        case .again:
          return false
        case .done(let value):
          if connection.callers.take(id) == nil {
            abandoned(connection, value)
          } else {
            answer(.success(make(connection, value)))
          }
          return true
        case .failed(let code, let text):
          connection.fail(id, with: connection.failure(code: code, text: text, phase: phase))
          return true
        }
      }
      let step: OperationQueue.Step
      if isHelped {
        let result = Mutex(Attempt<Value>.again)
        step = .helped(work: { result.withLock { $0 = attempt(session) } }) { connection in
          complete(connection, result.withLock { $0 })
        }
      } else {
        step = .onLoop { connection in complete(connection, attempt(session)) }
      }
      connection.operations.append(
        .init(id: id, channel: channel, phase: phase, timeout: deadline, step: step), to: group)
      connection.pump()
    }
  }

  /// Waits until the caller is removed from the table and resumed: a success through the
  /// closure given to `start`, a failure by `fail`.
  func wait<Value: Sendable>(
    phase: ConnectionPhase, within deadline: Duration?,
    start: (isolated SSHConnection, Int, @escaping @Sendable (Outcome<Value>) -> Void) -> Void
  ) async -> Outcome<Value> {
    if let ending { return .failure(ending) }
    let id = callers.nextID()
    if Task.isCancelled { return .failure(failure(observation: .cancelled, phase: phase)) }
    let outcome = Promise<Outcome<Value>>()
    let timer = deadline.map { deadline in
      LoopTimer(deadline: deadline, on: reactor) { [weak self] in
        self?.assumeIsolated {
          $0.callers.take(id)?.fail($0.failure(observation: .deadline, phase: phase))
        }
      }
    }
    callers.insert(.init(deadline: timer) { outcome.fulfill(.failure($0)) }, as: id)
    start(self, id) { outcome.fulfill($0) }
    return await outcome.value { [weak self, reactor] in
      reactor.execute { [weak self] in self?.assumeIsolated { $0.cancel(id, phase: phase) } }
    }
  }

  /// Waits for `work`, which needs nothing of libssh2, for as long as the connection lives and the
  /// caller waits; then it is canceled, and its result is dropped.
  func elsewhere<Value: Sendable>(
    phase: ConnectionPhase, within deadline: Duration? = nil,
    on executor: any TaskExecutor = globalConcurrentExecutor,
    _ work: @escaping @Sendable () async -> Value
  ) async -> Outcome<Value> {
    var working: Task<Void, Never>?
    let outcome: Outcome<Value> = await wait(phase: phase, within: deadline) {
      connection, id, answer in
      working = Task(executorPreference: executor) { [weak connection, reactor] in
        let value = await work()
        reactor.execute { [weak connection] in
          connection?.assumeIsolated {
            if $0.callers.take(id) != nil { answer(.success(value)) }
          }
        }
      }
    }
    working?.cancel()
    return outcome
  }

  /// Asks a person; the time of the answer is not the peer's.
  func ask<Value: Sendable>(
    phase: ConnectionPhase, _ question: @escaping @Sendable () async -> Value
  ) async throws(SSHFailure) -> Value {
    questionTime.begin(in: phase, at: .now)
    defer { questionTime.end(at: .now) }
    return try await elsewhere(phase: phase, question).get()
  }

  /// How long people took to answer its questions, the present one included.
  public var timeAsked: Duration {
    questionTime.total(at: .now) + (promptExchange?.timeAsked ?? .zero)
  }

  private func cancel(_ id: Int, phase: ConnectionPhase) {
    guard let caller = callers.take(id) else { return }
    caller.fail(failure(observation: .cancelled, phase: phase))
    guard phase == .stream else { return }
    for channel in channels.values { channel.outgoing.cancel(id) }
    pump()
  }

  /// Starts the clock of an operation whose turn it is. libssh2 cannot leave one half way, so the
  /// connection ends with it, whether or not a caller still waits.
  func startDeadline(of operation: OperationQueue.Operation, in group: OperationQueue.Group) {
    operations.begin(group) { deadline(of: operation.id, operation.phase, in: group, after: $0) }
  }

  private func deadline(
    of id: Int, _ phase: ConnectionPhase, in group: OperationQueue.Group, after timeout: Duration
  ) -> LoopTimer {
    let begin = ContinuousClock.now
    return LoopTimer(deadline: timeout, on: reactor) { [weak self] in
      self?.assumeIsolated { $0.deadlinePassed(of: id, phase, in: group, timeout, since: begin) }
    }
  }

  private func deadlinePassed(
    of id: Int, _ phase: ConnectionPhase, in group: OperationQueue.Group, _ timeout: Duration,
    since begin: ContinuousClock.Instant
  ) {
    // The time that people take to answer is not counted.
    if let more = promptExchange?.takeTimeAsked(), more > .zero {
      return operations.extend(group, deadline(of: id, phase, in: group, after: more))
    }
    if mayAnswerLate(in: phase), callers.isWaiting(id), let heard = lastHeard, heard > begin {
      return operations.extend(group, deadline(of: id, phase, in: group, after: timeout))
    }
    let failure = failure(observation: .deadline, phase: phase)
    callers.take(id)?.fail(failure)
    end(now: failure)
  }

  /// Whether a server that is alive may take as long as it likes, as with ssh: what is asked of it
  /// in this phase depends on what runs there.
  private func mayAnswerLate(in phase: ConnectionPhase) -> Bool {
    switch phase {
    case .openChannel, .execute, .stream: true
    case .resolve, .dial, .banner, .keyExchange, .hostKey, .authenticate, .upgrade, .close: false
    }
  }

  /// Answers one caller with `failure`, and ends the connection when that is what it means.
  func fail(_ id: Int, with failure: SSHFailure) {
    callers.take(id)?.fail(failure)
    if isFatal(failure) { return end(now: failure.ofTheLink) }
    if [.openChannel, .execute].contains(failure.phase) {
      lastRefusal = FailureContext(sshFailure: failure)
    }
  }

  /// Whether nothing more can come of this session.
  private func isFatal(_ failure: SSHFailure) -> Bool {
    if failure.socket != .open || failure.disconnectReason != nil { return true }
    switch failure.phase {
    case .resolve, .dial, .banner, .keyExchange, .hostKey, .upgrade, .close: return true
    // Refused keys, channels and requests leave the session as it was; what breaks the protocol
    // does not.
    case .authenticate, .openChannel, .execute, .stream:
      return Self.fatalCodes.contains(failure.code)
    }
  }

  /// The codes after which nothing that the peer sends can be read any more.
  private static let fatalCodes: Set<SSHFailure.Code> = [
    .invalidMAC, .socketSend, .timeout, .decrypt, .socketDisconnect, .protocolError,
    .windowExceeded, .packetExceeded, .bufferTooSmall, .outOfBoundary, .socketReceive,
  ]

  /// A failure with all that this connection knows.
  func failure(
    code: SSHFailure.Code = .none, text: String = "", observation: SSHFailure.Observation? = nil,
    phase: ConnectionPhase
  ) -> SSHFailure {
    // A handshake is one operation; the server's version line divides its phases.
    let phase = phase == .banner && identification.hasVersion ? .keyExchange : phase
    let observation = observation ?? self.observation(code: code, phase: phase)
    // "No common algorithm" is also what libssh2 makes of an offer that it cannot read.
    let code = observation == nil ? exactCode(code, phase) : code
    let seen = owner.evidence ?? session?.evidence
    if observation == nil, seen?.socket != .open, var loss = lossOfBastion {
      loss.phase = phase
      return loss
    }
    let isLate = observation == .deadline
    let proxyEnding =
      seen?.disconnect != nil ? nil : isLate ? silence(in: phase) : endingOfProxy(seen?.socket)
    var failure = SSHFailure(
      code: code, message: seen?.disconnect?.message ?? proxyEnding ?? text,
      phase: phase, host: hostName, address: dialedName, port: endpoint.port,
      observation: observation, socket: seen?.socket ?? .open,
      disconnectReason: seen?.disconnect?.reason, preBanner: identification.preBanner,
      method: login.method, timeout: timeout(of: phase).wholeSeconds, user: configuration.user,
      proxyEnding: proxyEnding)
    if isLate { failure.limit = timeout(of: phase) }
    failure.acceptedMethods = login.acceptedMethods
    if failure.socket.isTimedOut, let heard = seen?.lastHeard {
      failure.timeout = max(1, Int((ContinuousClock.now - heard) / .seconds(1)))
    }
    return failure
  }

  /// What libssh2 hides behind one code: once the host's key is read and nothing is wrong with the
  /// bytes, it is the key's signature that does not prove it.
  private func exactCode(_ code: SSHFailure.Code, _ phase: ConnectionPhase) -> SSHFailure.Code {
    guard code == .kexFailure || code == .keyExchangeFailure else { return code }
    if phase == .keyExchange, let session, session.isLinkOpen, session.brokenBy == nil,
      !session.hostKey().isEmpty
    {
      return .hostKeySign
    }
    return code == .kexFailure ? .protocolError : code
  }

  private func observation(code: SSHFailure.Code, phase: ConnectionPhase) -> SSHFailure.Observation?
  {
    guard code != .none, let session else { return nil }
    switch phase {
    case .banner, .keyExchange:
      return identification.observation(
        code: code, transcript: session.wire.transcript, offer: offer, library: library)
    case .openChannel, .stream:
      guard code == .channelFailure, let reason = session.tap.openRefusal else { return nil }
      return .channelRefused(reason: reason, hasTarget: false)
    case .resolve, .dial, .hostKey, .authenticate, .execute, .upgrade, .close:
      return nil
    }
  }

  private func timeout(of phase: ConnectionPhase) -> Duration {
    let timeouts = configuration.timeouts
    return switch phase {
    case .resolve: timeouts.resolve
    case .dial: timeouts.dial
    case .banner, .keyExchange, .hostKey, .upgrade: timeouts.handshake
    case .authenticate: timeouts.authenticate
    case .openChannel: openLimit
    case .execute, .stream: timeouts.channel
    case .close: timeouts.close
    }
  }
}
