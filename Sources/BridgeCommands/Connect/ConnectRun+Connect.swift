import BridgeErrors
import BridgeSSH
import BridgeTransport

extension ConnectRun {
  /// How often a password may be typed, as OpenSSH has it (NumberOfPasswordPrompts).
  private static let passwordPrompts = 3

  /// What the connection is to offer, trust and ask.
  func configuration() async -> SSHConfiguration {
    let route = PromptRoute.choose(
      isBatch: request.isBatch, hasTerminal: local.hasTerminal, environment: local.variables)
    let prompter = Prompter(
      route: route, hasTerminal: local.hasTerminal && !request.isBatch, reporter: reporter)
    var credentials = settings.identities.map { identity -> SSHCredential in
      switch identity {
      case .keyFile(let path): .keyFile(path)
      case .agent(let path): .agent(socketPath: path)
      }
    }
    if let descriptor = request.passwordDescriptor {
      // One byte at a time: what follows the line is the command's input.
      let reader = DescriptorReader(descriptor, size: 1)
      credentials.append(.password(await TerminalPrompt.line(from: reader).map { Secret($0) }))
      reader.stop()
    } else {
      credentials.append(.keyboardInteractive)
      credentials += (0..<Self.passwordPrompts).map { _ in .password(nil) }
    }
    return SSHConfiguration(
      user: settings.user, credentials: credentials, hostKeys: settings.hostKeys,
      timeouts: settings.timeouts, interaction: prompter.interaction)
  }

  private enum Step: Sendable {
    case connected(Result<Void, CommandFailure>)
    case late
    case watched
  }

  /// Connects within the time that `--timeout` allows, and shows how far it is.
  func connect(_ connection: SSHConnection) async throws(CommandFailure) {
    let begun = ContinuousClock.now
    let result = await withTaskGroup(of: Step.self) { group in
      group.addTask(executorPreference: reactor) { .connected(await Self.dial(connection)) }
      group.addTask(executorPreference: reactor) {
        await watch(connection)
        return .watched
      }
      if let limit = settings.attemptTimeout {
        group.addTask(executorPreference: reactor) { await wait(limit) }
      }
      defer { group.cancelAll() }
      for await step in group {
        switch step {
        case .connected(let result): return result
        case .late: return .failure(late)
        case .watched: continue
        }
      }
      return .failure(CommandFailure(error: .cancelled))
    }
    try result.get()
    reporter.progress(nil)
    await report(connection, took: ContinuousClock.now - begun)
  }

  private var late: CommandFailure {
    let seconds = (settings.attemptTimeout ?? .zero) / .seconds(1)
    let (host, port) = (settings.endpoint.host, settings.endpoint.port)
    let phase = phase.withLock { $0 }
    return CommandFailure(
      error: .sshTimeout(seconds: max(1, Int(seconds.rounded(.up)))),
      context: FailureContext(
        kind: phase == .dial ? .dialTimeout : .silent, phase: phase, host: host, port: port))
  }

  private static func dial(_ connection: SSHConnection) async -> Result<Void, CommandFailure> {
    do throws(AppError) {
      return .success(try await connection.connect())
    } catch {
      return .failure(CommandFailure(error: error, context: await connection.lastFailure))
    }
  }

  private func wait(_ limit: Duration) async -> Step {
    do {
      try await clock.sleep(for: limit)
      return .late
    } catch {
      return .watched
    }
  }

  private func watch(_ connection: SSHConnection) async {
    for await event in connection.events {
      switch event {
      case .entered(let phase):
        self.phase.withLock { $0 = phase }
        let words = phase.words(settings)
        reporter.event("phase") { $0.add("phase", phase.rawValue) }
        reporter.detail("bridgectl: \(words)")
        if reporter.style.loudness != .verbose { reporter.progress("\(words) …") }
      case .connected, .failed, .closed: return
      }
    }
  }

  private func report(_ connection: SSHConnection, took time: Duration) async {
    let agreement = await connection.agreement
    reporter.event("connected") { line in
      line.add("host", PeerText.escaped(settings.endpoint.host))
      line.add("port", settings.endpoint.port)
      line.add("user", PeerText.escaped(settings.user))
      line.add("milliseconds", Int(time / .milliseconds(1)))
      line.add("keyExchange", agreement?.keyExchange)
      line.add("hostKey", agreement?.hostKey)
      line.add("cipher", agreement?.cipher)
      line.add("mac", agreement?.mac)
    }
    reporter.detail(
      "bridgectl: connected in \(Int(time / .milliseconds(1))) ms"
        + (agreement.map { ": \($0.words)" } ?? ""))
    for problem in await connection.warnings {
      reporter.warn(
        "the host's key could not be noted: \(PeerText.escaped(problem.shownMessage()))")
    }
  }
}

extension Agreement {
  /// The algorithms in one line.
  var words: String { [keyExchange, hostKey, cipher, mac].joined(separator: ", ") }
}

extension ConnectionPhase {
  /// What is going on, for people.
  func words(_ settings: ConnectSettings) -> String {
    let host = PeerText.escaped(settings.endpoint.host, limit: 128)
    switch self {
    case .resolve: return "resolving \(host)"
    case .dial: return "dialling \(PeerText.escaped(settings.endpoint.description, limit: 160))"
    case .banner: return "waiting for the server's greeting"
    case .keyExchange: return "exchanging keys"
    case .hostKey: return "checking the host's key"
    case .authenticate:
      return "logging in as \(PeerText.escaped(settings.user, limit: 128))"
    case .openChannel, .execute: return "starting"
    case .stream: return "connected"
    case .upgrade: return "upgrading"
    case .close: return "closing"
    }
  }
}
