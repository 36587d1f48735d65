import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

// One forwarded connection: where it leads, the channel to there, and the bytes.
extension Forwarder {
  /// How long a client may take for its SOCKS request.
  private static let requestLimit = Duration.seconds(10)
  /// How long a session is kept that carries nothing.
  private static let idleLimit = Duration.seconds(60)

  func serve(_ id: Int, _ rule: ForwardRule) async {
    var request = SOCKSRequest()
    guard let target = await target(of: id, rule, &request) else { return }
    let isDynamic = rule.destination == .dynamic
    do throws(AppError) {
      let (remote, session) = try await open(target)
      guard let local = entries[id]?.near else { return drop(remote, session) }
      if isDynamic { send(request.answer(.opened), to: local) }
      tell(.opened(id: id, target: target.description))
      let splice = Splice(
        local, remote, up: request.rest, on: reactor, whenOver: ending(id, on: session.number))
      carry(id, splice)
    } catch {
      guard let local = entries[id]?.near else { return }
      if isDynamic { send(request.answer(Self.result(of: error)), to: local) }
      refuse(id, target.description, error, hasReply: isDynamic)
    }
  }

  /// Where a connection leads: to the target of its rule, or to the one that its client names; nil
  /// when that names none.
  func target(
    of id: Int, _ rule: ForwardRule, _ request: inout SOCKSRequest
  ) async -> TunnelTarget? {
    let target: TunnelTarget
    switch rule.destination {
    case .fixed(let fixed): target = fixed
    case .dynamic:
      guard let asked = await readRequest(&request, of: id) else { return nil }
      target = .port(asked)
    }
    entries[id]?.target = target.description
    return target
  }

  static func result(of error: AppError) -> SOCKSRequest.Result {
    guard case .sshConnectionFailed(_, let reason) = error else { return .failed }
    if reason.contains("prohibited") { return .forbidden }
    return reason.contains("refused") ? .refused : .failed
  }

  private func drop(_ remote: ChannelCarrier, _ session: ForwardSession) {
    remote.close()
    session.carried -= 1
    watchIdle(session)
  }

  func carry(_ id: Int, _ splice: Splice) {
    splice.whenDelivering = { [weak self] in self?.assumeIsolated { $0.resumeIfIdle() } }
    entries[id]?.splice = splice
    if !splice.start() { splice.end() }
  }

  func ending(_ id: Int, on number: Int) -> (Splice.Summary) -> Void {
    { [weak self] summary in
      self?.assumeIsolated { $0.ended(id, summary, on: number) }
    }
  }

  private func ended(_ id: Int, _ summary: Splice.Summary, on number: Int) {
    if let session = sessions.first(where: { $0.number == number }) {
      session.carried -= 1
      watchIdle(session)
    }
    guard entries.removeValue(forKey: id) != nil else { return }
    carriedBefore &+= summary.sent &+ summary.received
    if let damage = summary.damage { tell(.damaged(id: id, damage)) }
    tell(
      .closed(
        id: id, sent: summary.sent, received: summary.received, isWhole: summary.isWhole))
  }

  /// A reply of a few bytes, which an empty socket takes.
  func send(_ bytes: [UInt8], to local: any Carrier) { local.sendAll(bytes) }

  // SOCKS.

  func readRequest(_ request: inout SOCKSRequest, of id: Int) async -> Endpoint? {
    let timer = LoopTimer(deadline: Self.requestLimit, on: reactor) { [weak self] in
      self?.assumeIsolated {
        $0.refuse(id, nil, .validationError(field: "SOCKS", message: "No request came in time."))
      }
    }
    defer { timer.cancel() }
    while let local = entries[id]?.near {
      switch local.read(through: reactor.scratch) {
      case .bytes(let bytes):
        switch request.feed(bytes) {
        case .needMore(let reply): send(reply, to: local)
        case .connect(let target): return target
        case .refuse(let reply, let reason):
          send(reply, to: local)
          let error = AppError.validationError(field: "SOCKS", message: reason.words)
          refuse(id, nil, error, hasReply: !reply.isEmpty)
        }
      case .nothing: await readable(id, local)
      case .ended: refuse(id, nil, .cancelled)
      }
    }
    return nil
  }

  private func readable(_ id: Int, _ local: any Carrier) async {
    let reader = Promise<Void>()
    entries[id]?.reader = reader
    _ = local.start { [weak self] _ in
      self?.assumeIsolated {
        $0.entries[id]?.near.stopWatching()
        $0.entries[id]?.reader.take()?.fulfill()
      }
    }
    local.watch(for: .readable)
    await reader.value()
  }

  // Sessions.

  private func open(
    _ target: TunnelTarget
  ) async throws(AppError) -> (ChannelCarrier, ForwardSession) {
    guard waiting < limits.waiting else {
      throw .sshConnectionFailed(
        host: host, reason: "\(limits.waiting) forwarded connections are waiting already.")
    }
    waiting += 1
    defer { waiting -= 1 }
    var deadline = ContinuousClock.now + limits.wait
    var hasLost = false
    while true {
      try await untilUp(deadline)
      let session = try await takeSession(deadline)
      let limit = session.connection.configuration.timeouts.channel
      let late = probeIfLate(session.connection)
      let opened = await session.connection.openTunnel(to: target, within: limit)
      late.cancel()
      session.isOpening = false
      resumeNext()
      switch opened {
      case .success(let carrier):
        session.carried += 1
        watch(session)
        return (carrier, session)
      case .failure(let failure):
        watchIdle(session)
        // The session went, and not the target: once more, with time for another session.
        guard session.isOver, !hasLost || .now < deadline, !Task.isCancelled else {
          throw AppError(sshError: failure)
        }
        if !hasLost { deadline = max(deadline, .now + limits.wait / 2) }
        hasLost = true
      }
    }
  }

  /// Returns when the link is up.
  private func untilUp(_ deadline: ContinuousClock.Instant) async throws(AppError) {
    let link = link
    let waiting = Task(executorPreference: reactor) { () async -> Result<Void, AppError> in
      do throws(AppError) {
        return .success(try await link())
      } catch {
        return .failure(error)
      }
    }
    let timer = LoopTimer(
      after: max(.milliseconds(1), deadline - .now), on: reactor, { waiting.cancel() })
    let result = await waiting.value
    timer.cancel()
    guard case .failure(.cancelled) = result, !Task.isCancelled else { return try result.get() }
    throw .sshConnectionFailed(
      host: host, reason: "The link did not come back while the forwarded connection waited.")
  }

  /// A session whose next open is ours. Another is made when none was free for a while.
  private func takeSession(
    _ deadline: ContinuousClock.Instant
  ) async throws(AppError) -> ForwardSession {
    while true {
      guard !isClosed, !Task.isCancelled else { throw .cancelled }
      forgetEnded()
      if let session = sessions.first(where: { $0.isFree && !$0.isSuspected }) {
        session.isOpening = true
        session.idle?.cancel()
        session.idle = nil
        return session
      }
      if making != nil || sessions.allSatisfy(\.isSuspected) && sessions.count < limits.sessions {
        try await makeOne(by: deadline)
      } else if await isFreed() {
        continue
      } else if sessions.count < limits.sessions, making == nil {
        try await makeOne(by: deadline)
      } else if ContinuousClock.now >= deadline || Task.isCancelled {
        throw .sshConnectionFailed(
          host: host, reason: "The targets of earlier forwarded connections did not answer.")
      }
    }
  }

  /// How long an open waits for a session before another is made.
  private static let freeLimit = Duration.milliseconds(250)

  /// Waits until an open has ended; false when that took too long.
  private func isFreed() async -> Bool {
    lastWaiter += 1
    let id = lastWaiter
    let timer = LoopTimer(after: Self.freeLimit, on: reactor) { [weak self] in
      self?.assumeIsolated { _ = $0.queue.removeValue(forKey: id)?.fulfill(false) }
    }
    defer { timer.cancel() }
    let caller = Promise<Bool>()
    queue[id] = caller
    return await caller.value()
  }

  /// The oldest that waits for a session looks again.
  private func resumeNext() {
    guard let first = queue.keys.min() else { return }
    queue.removeValue(forKey: first)?.fulfill(true)
  }

  /// Waits until a session was made, which others may wait for as well. Its dial goes on after
  /// `deadline`: a host on the way may be down for long.
  private func makeOne(by deadline: ContinuousClock.Instant) async throws(AppError) {
    if making == nil { making = Task(executorPreference: reactor) { await self.dialOne() } }
    lastWaiter += 1
    let id = lastWaiter
    let timer = LoopTimer(after: max(.milliseconds(1), deadline - .now), on: reactor) {
      [weak self] in
      self?.assumeIsolated { _ = $0.makers.removeValue(forKey: id)?.fulfill(nil) }
    }
    let caller = Promise<Result<Void, AppError>?>()
    makers[id] = caller
    let result = await caller.value()
    timer.cancel()
    guard let result else {
      throw .sshConnectionFailed(
        host: host,
        reason: "No session for it could be opened while the forwarded connection waited.")
    }
    try result.get()
  }

  private func dialOne() async {
    let result = await dialed()
    making = nil
    for caller in makers.values { caller.fulfill(result) }
    makers = [:]
  }

  private func dialed() async -> Result<Void, AppError> {
    await waitForDial()
    guard !isClosed else { return .failure(.cancelled) }
    do throws(AppError) {
      let connection = try await makeSession()
      guard connection.reactor === reactor else {
        await connection.close()
        throw .internalError(detail: "a session is on another reactor than its forwarder")
      }
      guard !isClosed else {
        await connection.close()
        throw .cancelled
      }
      lastSession += 1
      sessions.append(ForwardSession(connection, number: lastSession))
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// Returns when the host may be logged in to again, or when it is over.
  private func waitForDial() async {
    while !isClosed, case let pause = pace.pause(at: .now), pause > .zero {
      let timer = LoopTimer(after: pause, on: reactor) { [weak self] in
        self?.assumeIsolated { $0.dialNow() }
      }
      let caller = Promise<Void>()
      dialer = caller
      await caller.value()
      timer.cancel()
    }
  }

  /// Ends the pause before a login.
  func dialNow() { dialer.take()?.fulfill() }

  /// Forgets sessions that have ended.
  func forgetEnded() {
    let ended = sessions.filter(\.isOver)
    // Those of a link that was cut end together.
    guard let youngest = ended.map(\.begin).max() else { return }
    pace.ended(from: youngest, wasOfUse: true, at: .now)
    for session in ended {
      session.idle?.cancel()
      session.stopWatching()
    }
    sessions.removeAll(where: \.isOver)
  }

  func watchIdle(_ session: ForwardSession) {
    guard session.isUnused, session.idle == nil, !session.isOver else { return forgetEnded() }
    let number = session.number
    session.idle = LoopTimer(after: Self.idleLimit, on: reactor) { [weak self] in
      self?.assumeIsolated { $0.retire(number) }
    }
  }

  private func retire(_ number: Int) {
    guard let session = sessions.first(where: { $0.number == number }) else { return }
    session.idle = nil
    guard session.isUnused else { return }
    sessions.removeAll { $0 === session }
    let connection = session.connection
    _ = Task(executorPreference: reactor) { await connection.close() }
  }
}

extension SOCKSRequest.Refusal {
  /// As a sentence.
  fileprivate var words: String {
    switch self {
    case .notSOCKS: "The request is not a SOCKS request."
    case .authentication: "The client does not connect without authentication."
    case .command: "Only CONNECT is available."
    case .address: "The target has no usable address or port."
    }
  }
}
