public import BridgeErrors
public import BridgeReactor
public import BridgeTransport
import BridgeWaiting

// Channels that lead on from the server to another machine.
extension SSHConnection {
  /// A stream of bytes to `target`, which the server dials.
  ///
  /// - Throws: `sshConnectionFailed` that names the target when the server refuses or cannot reach
  ///   it; `sshServerBusy` when it is short of resources; `sshTimeout` when it does not answer
  ///   within `SSHTimeouts.channel`; what ended the connection; `cancelled`.
  public nonisolated func tunnel(
    to target: TunnelTarget
  ) async throws(AppError) -> any ByteChannel {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) -> any ByteChannel in
      let deadline = configuration.timeouts.channel
      return TunnelChannel(carrier: try await value(of: openTunnel(to: target, within: deadline)))
    }
  }

  /// A socket whose other end is `target`, which the server dials: for what takes no stream but a
  /// socket. To close it ends the channel, behind what was written.
  ///
  /// - Throws: as `tunnel`, with what is known beside it; `sshConnectionFailed` where descriptors
  ///   have run out.
  public nonisolated func socket(
    to target: TunnelTarget
  ) async throws(ConnectionError) -> Socket {
    try await withTaskExecutorPreference(reactor) { () async throws(ConnectionError) in
      try await self.socketHere(to: target)
    }
  }

  private func socketHere(to target: TunnelTarget) async throws(ConnectionError) -> Socket {
    let deadline = configuration.timeouts.channel
    let carrier: ChannelCarrier
    switch await openTunnel(to: target, within: deadline) {
    case .success(let opened): carrier = opened
    case .failure(let failure): throw failure.typed
    }
    let ends: (near: Socket, far: Socket)
    do throws(ListeningSocket.Failure) {
      ends = try Socket.pair()
    } catch {
      carrier.close()
      throw (localShortage(error.errno, phase: .openChannel) ?? failure(phase: .openChannel)).typed
    }
    let number = carrier.number
    let splice = Splice(
      SocketCarrier(ends.near, on: reactor), carrier, endsWithLocal: true, on: reactor
    ) { [weak self] _ in
      self?.assumeIsolated { $0.splices[number] = nil }
    }
    splices[number] = splice
    if !splice.start() { splice.end() }
    return ends.far
  }

  /// The sockets to `target`, each a channel of this connection.
  public nonisolated func sockets(to target: TunnelTarget) -> any SocketSource {
    TunnelSockets(connection: self, target: target)
  }

  /// Opens a channel that leads on to `target`.
  ///
  /// The server answers when it has dialed the target, which can take it minutes, and libssh2 can
  /// neither abandon the question nor put another one meanwhile. So the deadline is the caller's
  /// alone: the question stays, and a channel that comes of it later is closed.
  func openTunnel(
    to target: TunnelTarget, within deadline: Duration
  ) async -> Outcome<ChannelCarrier> {
    guard life.state == .connected || ending != nil else {
      return .failure(
        failure(
          code: .badUse, text: "a tunnel was requested before the connection was up",
          phase: .openChannel))
    }
    let window = WindowPolicy.window(for: roundTrip)
    return await wait(phase: .openChannel, within: deadline) { connection, id, answer in
      connection.queueOpen(of: target, window, id, answer)
      connection.pump()
    }
  }

  private func queueOpen(
    of target: TunnelTarget, _ window: Int, _ id: Int,
    _ answer: @escaping @Sendable (Outcome<ChannelCarrier>) -> Void
  ) {
    queueQuestion(id) {
      $0.openTunnel(to: target, window: window)
    } answered: { connection, native in
      guard connection.callers.take(id) != nil else { return connection.closing.append(native) }
      answer(.success(connection.makeCarrier(native, window)))
    } failed: { connection, code, text in
      connection.openFailed(id, target, code, text)
    }
  }

  /// Queues a question whose answer may be far away. Nothing is asked for a caller that has gone;
  /// what was asked must be answered before the next may ask.
  ///
  /// As with `queueRoundTrip`, the library is not called before there is something to read: it
  /// would give up after a minute, and the session with it.
  func queueQuestion<Value>(
    _ id: Int, _ ask: @escaping @Sendable (SSHSession) -> Attempt<Value>,
    answered: @escaping @Sendable (isolated SSHConnection, Value) -> Void,
    failed: @escaping @Sendable (isolated SSHConnection, SSHFailure.Code, String) -> Void
  ) {
    guard let session else { return fail(id, with: failure(phase: .openChannel)) }
    var isBegun = false
    var seen = 0
    let step = OperationQueue.Step.onLoop { connection in
      let wire = session.wire
      if !isBegun, !connection.callers.isWaiting(id) { return true }
      guard !isBegun || wire.generation != seen || wire.mayGive else { return false }
      isBegun = true
      let result = ask(session)
      seen = wire.generation
      switch result {
      case .again: return false
      case .done(let value): answered(connection, value)
      case .failed(let code, let text): failed(connection, code, text)
      }
      return true
    }
    operations.append(
      .init(id: id, channel: nil, phase: .openChannel, timeout: nil, isFar: true, step: step),
      to: .session)
  }

  /// The carrier of a channel to another machine.
  func makeCarrier(_ native: NativeChannel, _ window: Int) -> ChannelCarrier {
    hasHadChannel = true
    let state = makeState(native, command: nil, window: window)
    state.error.discard()
    let ending = ChannelEnding()
    register(state, ending)
    return ChannelCarrier(state, ending, of: self)
  }

  private func openFailed(
    _ id: Int, _ target: TunnelTarget, _ code: SSHFailure.Code, _ text: String
  ) {
    var failure = failure(code: code, text: text, phase: .openChannel)
    if case .channelRefused(let reason, _) = failure.observation {
      failure.observation = .channelRefused(reason: reason, hasTarget: true)
      let words = [Self.words(ofRefusal: reason), session?.tap.openRefusalText ?? ""]
      failure.message = "\(target): " + words.filter { !$0.isEmpty }.joined(separator: ": ")
    }
    fail(id, with: failure)
  }

  /// RFC 4254, 5.1. Of a target that was not reached the server's text says why.
  private static func words(ofRefusal reason: Int) -> String {
    switch reason {
    case 1: "administratively prohibited"
    case 3: "unknown channel type"
    case 4: "resource shortage"
    default: ""
    }
  }

  /// Nothing is wanted of the channel any more.
  func letGo(of native: NativeChannel) {
    guard let channel = channels[native.number], channel.native === native else { return }
    channel.isLetGo = true
    channel.output.discard()
    queueTurn()
  }
}

// A connection through another one.
extension SSHConnection {
  /// The carrier of this connection: a channel of `bastion` to the endpoint.
  func tunnel(through bastion: SSHConnection) async throws(SSHFailure) -> any Carrier {
    enter(.dial)
    let (target, deadline) = (TunnelTarget.port(endpoint), configuration.timeouts.dial)
    let opened = try await elsewhere(phase: .dial, on: reactor) {
      await bastion.openTunnel(to: target, within: deadline)
    }.get()
    switch opened {
    case .success(let carrier):
      guard let ending else { return carrier }
      carrier.close()
      throw ending
    case .failure(let failure):
      throw self.failure(from: failure, of: bastion)
    }
  }

  /// What it means for this connection that `bastion` did not open the way.
  private func failure(from failure: SSHFailure, of bastion: SSHConnection) -> SSHFailure {
    var own = failure
    own.phase = .dial
    switch failure.observation {
    case .channelRefused(reason: 2, _):
      (own.host, own.address) = (hostName, dialedName)
      own.port = endpoint.port
      own.message = "\(bastion.endpoint) says: \(failure.message)"
    case .channelRefused: break
    case .deadline:
      own = self.failure(observation: .deadline, phase: .dial)
    case .cancelled:
      // Its owner closed it.
      own.observation = nil
      own.code = .socketDisconnect
      own.socket = .endOfFile
    case .nameUnknown, .nameTimeout, .offline, .silent, .notSSH, .algorithmMismatch,
      .hostKeyUnknown, .hostKeyChanged, .hostKeyRevoked, .hostKeyNewType, .keyUnusable,
      .agentUnavailable,
      .noExitStatus, .closedWithoutStatus, .outputCut, .outputLost, .versionLineTooLong, nil:
      own = failure
    }
    return own
  }

  /// What ended the bastion, and this connection with it; nil where its owner closed it.
  var lossOfBastion: SSHFailure? { bastion?.assumeIsolated { $0.lossOfLink } }

  /// The failure that ended this connection, as it is for all that it carried; nil while it goes
  /// on, and where its owner closed it.
  var lossOfLink: SSHFailure? {
    guard let ending, ending.observation != .cancelled else { return nil }
    return ending.ofTheLink
  }
}

// A connection by way of a program.
extension SSHConnection {
  /// Starts the program.
  func start(_ proxy: ProxyCommand) throws(SSHFailure) -> any Carrier {
    enter(.dial)
    do throws(ChildProgram.StartFailure) {
      return ProxyCarrier(try ProxyProcess(proxy, on: reactor), on: reactor)
    } catch {
      if let shortage = localShortage(error.errno, phase: .dial) { throw shortage }
      throw failure(
        code: .socketDisconnect,
        text: "the ProxyCommand cannot be started: \(error.words)", phase: .dial)
    }
  }

  /// How the program ended, where the connection has ended with it.
  func endingOfProxy(_ socket: SocketCondition?) -> String? {
    guard let socket, socket != .open else { return nil }
    return (session?.wire.carrier as? ProxyCarrier)?.process.ending
  }

  /// What is known of the program after a deadline of `phase`: it runs, or the connection would
  /// have ended with it. Before the first byte it may have reached nothing.
  nonisolated func silence(in phase: ConnectionPhase) -> String? {
    proxy == nil || phase != .banner ? nil : "the ProxyCommand runs"
  }
}
