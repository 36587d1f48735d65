import BridgeErrors
import BridgeReactor
import BridgeWaiting

/// The ports of the host: one session for all of them.
struct RemoteForwards {
  /// Which ports, and when each is asked for.
  var attempts = ForwardAttempts()
  /// Callers that wait for the first answer.
  var callers: [ForwardRule: Promise<Result<Int, AppError>>] = [:]
  var session: ForwardSession?
  /// When another session may be made.
  var pace = SessionPace(longest: ForwardAttempts.waits.longest)
  /// Asks, for as long as there is anything to ask for.
  var keeper: Task<Void, Never>?
  /// The keeper while it has nothing to do.
  var sleeper: Promise<Void>?
  /// The keeper has something to do.
  var isWoken = false
}

// Ports of the host that lead here.
extension Forwarder {
  func listenThere(_ rule: ForwardRule) async throws(AppError) -> Int {
    guard !isClosed else { throw .cancelled }
    if case .socket = rule.source {
      throw .featureUnavailable(feature: "\(rule.name) (a unix socket of the host)")
    }
    guard remote.callers[rule] == nil else {
      throw .validationError(field: "-R", message: "\(rule) is already requested.")
    }
    if let port = remote.attempts.port(of: rule) { return port }
    if Task.isCancelled { throw .cancelled }
    let caller = Promise<Result<Int, AppError>>()
    remote.callers[rule] = caller
    keepAsking(for: rule)
    let result = await caller.value { [weak self, reactor] in
      reactor.execute { [weak self] in
        self?.assumeIsolated { $0.answer(rule, .failure(.cancelled)) }
      }
    }
    return try result.get()
  }

  /// libssh2 cannot end the listening at one port alone without ending what came to it.
  func cancelThere(_ rule: ForwardRule) async -> Bool {
    guard remote.attempts.has(rule) else { return false }
    answer(rule, .failure(.cancelled))
    remote.attempts.remove(rule)
    let session = remote.session
    session?.stopWatching()
    await session?.connection.close()
    wakeKeeper()
    return true
  }

  /// Asks for it from now on, whenever it is not there.
  func keepAsking(for rule: ForwardRule) {
    if case .socket = rule.source {
      let error = AppError.featureUnavailable(feature: "\(rule.name) (a unix socket of the host)")
      return tell(.unavailable(rule, error, retry: .zero))
    }
    remote.attempts.add(rule, at: .now)
    startKeeper()
  }

  /// A caller is answered once; without its port, that is not asked for again.
  private func answer(_ rule: ForwardRule, _ result: Result<Int, AppError>) {
    guard let caller = remote.callers.removeValue(forKey: rule) else { return }
    if case .failure = result { remote.attempts.remove(rule) }
    caller.fulfill(result)
  }

  func retryRemoteNow() {
    remote.pace.reset(at: .now)
    remote.attempts.retryNow(at: .now)
    startKeeper()
  }

  /// Wakes the keeper, or starts another where the link had given up.
  private func startKeeper() {
    if remote.keeper == nil, !isClosed, !remote.attempts.isEmpty {
      remote.keeper = Task(executorPreference: reactor) { await self.keepRemote() }
    }
    wakeKeeper()
  }

  private func wakeKeeper() {
    guard let sleeper = remote.sleeper.take() else { return remote.isWoken = true }
    sleeper.fulfill()
  }

  /// Returns at `due`, or when there is something to do.
  private func sleepKeeper(until due: ContinuousClock.Instant?) async {
    guard !remote.isWoken else { return remote.isWoken = false }
    let timer = due.map { due in
      LoopTimer(after: max(.milliseconds(1), due - .now), on: reactor) { [weak self] in
        self?.assumeIsolated { $0.wakeKeeper() }
      }
    }
    let sleeper = Promise<Void>()
    remote.sleeper = sleeper
    await sleeper.value()
    timer?.cancel()
  }

  private func keepRemote() async {
    defer { remote.keeper = nil }
    var wait = ForwardAttempts.waits.first
    while !isClosed, !remote.attempts.isEmpty {
      do throws(AppError) {
        try await link()
      } catch {
        // The link has given up, or all is being closed.
        for rule in Array(remote.callers.keys) { answer(rule, .failure(error)) }
        return
      }
      let connection: SSHConnection
      do throws(AppError) {
        connection = try await makeSession()
      } catch {
        guard !isClosed else { break }
        for rule in remote.attempts.waiting { tell(.unavailable(rule, error, retry: wait)) }
        await sleepKeeper(until: .now + wait)
        wait = min(wait * 2, ForwardAttempts.waits.longest)
        continue
      }
      let begin = ContinuousClock.now
      var wasOfUse = false
      if !isClosed, connection.reactor === reactor {
        wasOfUse = await serveRemote(over: connection)
      }
      await connection.close()
      remote.session?.stopWatching()
      remote.session = nil
      remote.attempts.lost(at: .now)
      wait = ForwardAttempts.waits.first
      let now = ContinuousClock.now
      remote.pace.ended(from: begin, wasOfUse: wasOfUse, at: now)
      let pause = remote.pace.pause(at: now)
      // What woke it before was about this session.
      remote.isWoken = false
      if pause > .zero, !isClosed { await sleepKeeper(until: now + pause) }
    }
  }

  /// Asks for the ports and takes what comes to them, until the session ends; returns whether the
  /// host has listened on any.
  private func serveRemote(over connection: SSHConnection) async -> Bool {
    var hasListened = false
    let session = ForwardSession(connection, number: ForwardSession.remoteNumber)
    remote.session = session
    watch(session)
    let watching = Task(executorPreference: reactor) {
      for await _ in connection.events {}
      if !Task.isCancelled { await self.wakeKeeper() }
    }
    while !isClosed, !session.isOver, !remote.attempts.isEmpty {
      // The answer would have to wait for an upload, and so can a port that was refused.
      let isBusy = session.hasBacklog
      guard let (rule, port) = remote.attempts.next(at: .now, retries: !isBusy) else {
        let soonest = isBusy ? ContinuousClock.now + ForwardAttempts.waits.first : nil
        await sleepKeeper(until: [remote.attempts.due, soonest].compactMap(\.self).max())
        continue
      }
      let outcome = await connection.listen(on: rule.remoteAddress, port: port) {
        [weak self] carrier, originator in
        guard let self else { return carrier.close() }
        assumeIsolated { $0.arrived(carrier, from: originator, rule) }
      }
      switch outcome {
      case .success(let port):
        hasListened = true
        remote.attempts.granted(rule, port: port)
        tell(.listening(rule, port: port))
        answer(rule, .success(port))
      case .failure(let failure):
        // Where the session went, the next one asks.
        guard !session.isOver else { break }
        refused(rule, failure)
      }
    }
    watching.cancel()
    await watching.value
    return hasListened
  }

  private func refused(_ rule: ForwardRule, _ failure: SSHFailure) {
    let wait = remote.attempts.refused(rule, at: .now)
    guard wait > .zero else { return }
    let cause =
      remote.attempts.wasLost(rule)
      ? "the connection that was lost still has the port there, or another program has it."
      : "another program has the port, or AllowTcpForwarding or PermitListen there forbids it."
    let error =
      failure.code == .requestDenied
      ? AppError.sshConnectionFailed(
        host: host,
        reason: "The server does not listen for \(PeerText.escaped(rule.name, limit: 256)): "
          + cause) : AppError(sshError: failure)
    guard remote.callers[rule] == nil else { return answer(rule, .failure(error)) }
    tell(.unavailable(rule, error, retry: wait))
  }

  func closeRemote() async {
    for rule in Array(remote.callers.keys) { answer(rule, .failure(.cancelled)) }
    remote.keeper?.cancel()
    wakeKeeper()
    await remote.session?.connection.close()
    _ = await remote.keeper?.value
  }

  // A connection to a port of the host.

  private func arrived(_ carrier: ChannelCarrier, from originator: String, _ rule: ForwardRule) {
    guard let id = enter(carrier) else { return }
    entries[id]?.task = Task(executorPreference: reactor) {
      await self.serveRemote(id, carrier, rule)
    }
  }

  private func serveRemote(_ id: Int, _ carrier: ChannelCarrier, _ rule: ForwardRule) async {
    var request = SOCKSRequest()
    guard let target = await target(of: id, rule, &request) else { return }
    let isDynamic = rule.destination == .dynamic
    do throws(AppError) {
      if isDynamic { try check(target) }
      let socket = try await dial(target)
      guard entries[id] != nil else { return socket.reset() }
      // One that its server has damaged ends as a connection does, and says so.
      guard !carrier.isLost || carrier.damage != nil else {
        socket.reset()
        throw .sshConnectionFailed(
          host: host, reason: "The link was lost before the target was reached.")
      }
      if isDynamic { send(request.answer(.opened), to: carrier) }
      tell(.opened(id: id, target: target.description))
      let local = SocketCarrier(socket, on: reactor)
      carry(
        id,
        Splice(
          local, carrier, down: request.rest, on: reactor,
          whenOver: ending(id, on: ForwardSession.remoteNumber)))
    } catch {
      if isDynamic, entries[id] != nil { send(request.answer(Self.result(of: error)), to: carrier) }
      refuse(id, target.description, error, hasReply: isDynamic)
    }
  }

  private func check(_ target: TunnelTarget) throws(AppError) {
    guard let permitted = limits.remoteTargets, !permitted.contains(where: { $0.fits(target) })
    else { return }
    throw .sshConnectionFailed(
      host: host, reason: "PermitRemoteOpen prohibited \(PeerText.escaped(target.description)).")
  }

  /// A connection of this machine to `target`.
  private func dial(_ target: TunnelTarget) async throws(AppError) -> Socket {
    let problem: String
    switch target {
    case .socket(let path):
      do throws(ListeningSocket.Failure) {
        return try Socket.connected(toPath: path)
      } catch {
        problem = error.words
      }
    case .port(let endpoint):
      do throws(DialFailure) {
        return try await Dialer.dial(endpoint, on: reactor)
      } catch {
        problem = error.words
      }
    }
    throw .sshConnectionFailed(
      host: PeerText.escaped(target.description, limit: 256), reason: "\(problem).")
  }
}
