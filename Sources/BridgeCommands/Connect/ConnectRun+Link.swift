import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWebSocket

// What keeps the link up, and what is made of the supervisor's events.
extension ConnectRun {
  /// How often a password may be typed, as OpenSSH has it (NumberOfPasswordPrompts).
  private static let passwordPrompts = 3

  /// The configuration of the connection: credentials, trust, prompts.
  ///
  /// - Throws: `validationError` of `--password-fd`.
  private func configuration() async throws(AppError) -> SSHConfiguration {
    guard let descriptor = request.passwordDescriptor else {
      return configuration(of: settings, prompter.interaction)
    }
    let secret = try await SecretLine.read(descriptor, option: "--password-fd")
    prompter.give(secret)
    return configuration(of: settings, prompter.interaction, password: secret)
  }

  /// The configuration of the connection to the host of `settings`.
  func configuration(
    of settings: ConnectSettings, _ interaction: SSHInteraction, password: Secret? = nil
  ) -> SSHConfiguration {
    var credentials = settings.identities.map { identity -> SSHCredential in
      switch identity {
      case .keyFile(let path): .keyFile(path)
      case .agent(let path, let files, let isLimited):
        .agent(socketPath: path, preferring: files, isLimited: isLimited)
      }
    }
    if let password {
      credentials.append(.passwordByAnyMethod(password))
    } else {
      // A conversation that is begun and not answered is a failed login to the server.
      if prompter.route.canAsk { credentials.append(.keyboardInteractive) }
      credentials += (0..<Self.passwordPrompts).map { _ in .password(nil) }
    }
    return SSHConfiguration(
      user: settings.user, credentials: credentials, hostKeys: settings.hostKeys,
      algorithms: settings.algorithms, timeouts: settings.timeouts, interaction: interaction)
  }

  /// The plan for the supervisor.
  ///
  /// - Throws: `validationError` of a descriptor that was to give a secret.
  func supervised() async throws(AppError) -> SupervisedConnection {
    if let request = request.messages { return try await supervised(request) }
    var supervised = plan(to: settings, try await configuration(), through: hops.last)
    supervised.onConnected = { connection, generation in await use(connection, generation) }
    return supervised
  }

  /// The plan of a connection to the host of `settings` through `hop`, as that is then.
  func plan(
    to settings: ConnectSettings, _ configuration: SSHConfiguration, through hop: Hop?
  ) -> SupervisedConnection {
    guard let hop else {
      let proxy = proxyCommand(of: settings)
      return supervised {
        guard let proxy else {
          return SSHConnection(to: settings.endpoint, configuration: configuration, on: reactor)
        }
        return SSHConnection(
          to: settings.endpoint, configuration: configuration, by: proxy, on: reactor)
      }
    }
    var plan = supervised { () throws(AppError) -> any Connection in
      guard let bastion = try await supervisor.connection(hop.id) as? SSHConnection else {
        throw .internalError(detail: "\(hop.id) is no SSH connection")
      }
      return SSHConnection(
        to: settings.endpoint, configuration: configuration, through: bastion)
    }
    plan.parents = [hop.id]
    return plan
  }

  private func supervised(
    _ request: MessageRequest
  ) async throws(AppError) -> SupervisedConnection {
    let configuration = try await MessageWork.configuration(request, settings)
    var supervised = supervised {
      WebSocketConnection(to: request.url, configuration: configuration, on: reactor)
    }
    supervised.onConnected = { connection, generation in await use(connection, generation) }
    return supervised
  }

  private func supervised(
    _ make: @escaping @Sendable () async throws(AppError) -> any Connection
  ) -> SupervisedConnection {
    var policy = RetryPolicy.persistent
    if case .upTo(let count) = request.recovery.retries { policy.retries = count }
    let liveness = LivenessPolicy(
      keepalive: settings.keepalive, switching: work.losesNothing ? .free : .costly,
      deadAfter: settings.deadAfter)
    return SupervisedConnection(
      id: id, endpoint: settings.endpoint, policy: policy,
      retriesFirstDial: request.recovery.wait != nil,
      liveness: settings.keepalive == .zero ? nil : liveness,
      attemptLimit: settings.attemptTimeout,
      make: { (_: Int) async throws(AppError) -> any Connection in try await make() })
  }

  /// Follows the link until the supervisor is done.
  func watch(_ events: some AsyncSequence<RecoveryEvent, Never> & Sendable) async {
    for await event in events {
      if await sawHop(event) { continue }
      reporter.event(.link(event))
      await count(event)
      switch event.step {
      case .entered(let phase): if !facts.withLock({ $0.wasUp }) { show(phase, of: settings) }
      case .recovered(let time, let attempts, let isFirst):
        facts.withLock { facts in
          facts.wasUp = true
          facts.back = isFirst ? nil : LinkStatus.back(after: time, attempts)
        }
        prompter.keepAnswers()
        reporter.progress(nil)
      case .failed(let failure):
        facts.withLock {
          $0.record(CommandFailure(error: failure.error, context: failure.context))
        }
      case .suspected: work.hold(true)
      case .cleared:
        work.hold(false)
        redraw()
      case .gaveUp(let failure, _):
        await work.giveUp(CommandFailure(error: failure.error, context: failure.context))
      case .attempted, .becameHealthy, .classified, .waiting, .suspended, .resumed, .switched,
        .surfaced, .withdrawn, .lingered, .changed, .closed, .missed:
        break
      }
      view.see(event)
      work.see(event)
      await seeForwards(event)
    }
  }

  /// A program that has the screen to itself does not know what was shown over it.
  private func redraw() {
    guard let keyboard, keyboard.isFullScreen, reporter.style.loudness != .quiet,
      let size = TerminalModes.size(of: 0)
    else { return }
    context.resizes.yield(.init(size: size, isRedraw: true))
  }

  func show(_ phase: ConnectionPhase, of settings: ConnectSettings) {
    let words = phase.words(settings)
    reporter.detail("bridgectl: \(words)")
    if reporter.style.loudness != .verbose {
      reporter.progress("\(words) \(local.isUnicode ? "…" : "...")")
    }
  }

  /// `--wait=DURATION`.
  func giveUp(after limit: Duration) async -> Step {
    do {
      try await context.clock.sleep(for: limit)
    } catch {
      return .over
    }
    let facts = facts.withLock { $0 }
    guard !facts.wasUp else { return .over }
    let seconds = max(1, Int((limit / .seconds(1)).rounded(.up)))
    let timeout =
      request.messages == nil ? AppError.sshTimeout(seconds: seconds) : .timeout(seconds: seconds)
    context.finish(.failure(facts.failures.last ?? CommandFailure(error: timeout)))
    return .over
  }

  /// Executes a typed escape or key.
  func obey(_ command: Keyboard.Command) async {
    switch command {
    case .escape(.disconnect), .key(.disconnect): disconnect()
    case .key(.retry): await supervisor.reconnectNow(id)
    case .escape(.reconnect):
      reporter.show("\r\nProbing the host; reconnecting if it does not answer.\r\n")
      await supervisor.reconnectNow(id)
    case .escape(.detach): work.detach()
    case .escape(.help): reporter.show("\r\n" + (keyboard?.help ?? ""))
    case .escape(.status): requestStatus.yield()
    case .escape(.bytes): break
    case .sendsHeld(let sends): work.answer(sendsHeld: sends)
    case .key(.explain): view.change { $0.isExplained.toggle() }
    case .key(.confirmDisconnect): view.change { $0.isDisconnecting = true }
    }
  }

  private func disconnect() {
    view.end()
    reporter.show("\r\n")
    context.logDisconnect()
    context.finish(.success(.interrupted))
  }

  /// `~s`. It waits for the host, and the keyboard does not wait for it.
  func showStatus() async {
    var lines = ["\(settings.user) at \(settings.endpoint)"]
    if let connection = try? await supervisor.connection(id) {
      lines += await status(of: connection)
    }
    guard !Task.isCancelled, !facts.withLock({ $0.isOver }) else { return }
    let shown = lines.map { PeerText.escaped($0, limit: 512) + "\r\n" }
    reporter.show("\r\n" + shown.joined())
  }

  private func status(of connection: any Connection) async -> [String] {
    var lines: [String] = []
    if let agreement = await (connection as? SSHConnection)?.agreement {
      lines.append("  \(agreement.words)")
    }
    if let heard = await connection.lastHeard {
      lines.append("  last heard \((ContinuousClock.now - heard).milliseconds) ms ago")
    }
    do throws(AppError) {
      let time = try await connection.probe(within: .seconds(3))
      let tenths = Int(time / .microseconds(100))
      lines.append("  round trip \(tenths / 10).\(tenths % 10) ms")
    } catch {
      lines.append("  no answer within 3 s")
    }
    return lines
  }
}

extension Agreement {
  /// The algorithms in one line.
  var words: String { [keyExchange, hostKey, cipher, mac].joined(separator: ", ") }
}

extension ConnectionPhase {
  /// A description of the current phase, for display.
  func words(_ settings: ConnectSettings) -> String {
    let host = PeerText.escaped(settings.endpoint.host, limit: 128)
    switch self {
    case .resolve: return "resolving \(host)"
    case .dial: return "dialing \(PeerText.escaped(settings.endpoint.description, limit: 160))"
    case .banner: return "waiting for the server's banner"
    case .keyExchange: return "exchanging keys"
    case .hostKey: return "verifying the host key"
    case .authenticate:
      return "logging in as \(PeerText.escaped(settings.user, limit: 128))"
    case .openChannel, .execute: return "starting"
    case .stream: return "connected"
    case .upgrade: return "upgrading"
    case .close: return "closing"
    }
  }
}
