import BridgeDiagnostics
import BridgeErrors
import BridgeSSH
import BridgeTransport

// What runs on the link: one shell or command a generation.
extension ConnectRun {
  /// Whether the remote side gets a terminal.
  static func wantsTerminal(
    _ request: ConnectRequest, _ settings: ConnectSettings, _ local: LocalEnvironment
  ) -> Bool {
    switch settings.terminal {
    case .unwanted: false
    case .forced: true
    case .wanted: local.inputIsTerminal
    case .automatic: request.command == nil && local.inputIsTerminal
    }
  }

  /// Whether what is typed belongs to the remote side.
  static func ownsKeyboard(
    _ request: ConnectRequest, _ settings: ConnectSettings, _ local: LocalEnvironment
  ) -> Bool {
    wantsTerminal(request, settings, local) && local.inputIsTerminal && !request.isIdle
  }

  /// A generation is in use: runs on it what is to run. Cancelled when the generation ends.
  func use(_ connection: SSHConnection, _ generation: Int) async {
    if request.isIdle {
      await report(connection)
      let back = facts.withLock { $0.back }
      return reporter.log("bridgectl: " + (back ?? "connected; Ctrl-C disconnects."))
    }
    facts.withLock { $0.isRunning = request.command != nil }
    // Not cancelled with the generation: how far it came must be known. At once: the round trip
    // that proves the link is requested next, and the second caller waits for its answer.
    let starting = Task.immediate(executorPreference: reactor) { await start(on: connection) }
    switch await starting.value {
    case .success(let channel):
      started.yield(Started(channel: channel, connection: connection, generation: generation))
    case .failure(let error): await lost(error, connection, nil)
    }
  }

  private func announce() {
    let (back, wasStarted) = facts.withLock { ($0.back, $0.wasStarted) }
    let news =
      request.command == nil
      ? "This is a new shell; what ran in the old one has ended." : "The command runs again."
    if keyboard != nil { reporter.show("\r\n") }
    for line in [back, wasStarted ? news : nil].compactMap(\.self) {
      reporter.log("bridgectl: \(line)")
    }
  }

  private func start(on connection: SSHConnection) async -> Result<SSHChannel, AppError> {
    let wantsTerminal = Self.wantsTerminal(request, settings, local)
    if settings.terminal == .wanted, !wantsTerminal {
      reporter.warn("no terminal is requested: standard input is not one (-tt requests it anyway)")
    }
    let terminal = wantsTerminal ? pseudoTerminal : nil
    do throws(AppError) {
      guard let command = request.command else {
        return .success(try await connection.shell(in: terminal))
      }
      return .success(try await connection.execute(command, terminal: terminal))
    } catch {
      return .failure(error)
    }
  }

  private var pseudoTerminal: PseudoTerminal {
    let type = local.variables["TERM"].flatMap { $0.isEmpty ? nil : $0 } ?? "dumb"
    return PseudoTerminal(type: type, size: TerminalModes.size(of: 0) ?? TerminalSize())
  }

  /// Says what was agreed on, and what went wrong beside it.
  private func report(_ connection: SSHConnection) async {
    let agreement = await connection.agreement
    reporter.event("connected") { line in
      line.add("host", PeerText.escaped(settings.endpoint.host))
      line.add("port", settings.endpoint.port)
      line.add("user", PeerText.escaped(settings.user))
      line.add("keyExchange", agreement?.keyExchange)
      line.add("hostKey", agreement?.hostKey)
      line.add("cipher", agreement?.cipher)
      line.add("mac", agreement?.mac)
    }
    reporter.detail("bridgectl: connected" + (agreement.map { ": \($0.words)" } ?? ""))
    for problem in await connection.warnings {
      let reason = PeerText.escaped(problem.shownMessage())
      reporter.warn("the host key could not be saved: \(reason)")
    }
    if let key = await connection.addedHostKey { report(key) }
  }

  /// Whom we trust from now on is worth a line to a person; a script finds it among the events.
  private func report(_ key: AddedHostKey) {
    let file = PeerText.escaped(key.file)
    reporter.event("hostKeyAdded") { line in
      line.add("host", PeerText.escaped(settings.endpoint.host))
      line.add("port", settings.endpoint.port)
      line.add("keyType", key.keyType)
      line.add("fingerprint", key.fingerprint)
      line.add("file", file)
    }
    let host = PeerText.escaped(settings.endpoint.host)
    let words = "bridgectl: added the \(key.keyType) key \(key.fingerprint) of \(host) to \(file)."
    if reporter.style.isTerminal { reporter.log(words) } else { reporter.detail(words) }
  }

  /// Carries the streams until the end. Not cancelled when the generation ends: what has come is
  /// written even so.
  func carry(_ session: Started) async {
    let (channel, connection) = (session.channel, session.connection)
    await report(connection)
    if session.generation > 1 { announce() }
    let isRepeated = facts.withLock { facts in
      defer { facts.wasStarted = true }
      return facts.wasStarted && request.command != nil
    }
    if isRepeated { await counters.countRetry() }
    reporter.event("started") {
      $0.add("terminal", Self.wantsTerminal(request, settings, local))
    }
    let sizes = resizes.next()
    if let keyboard {
      TerminalModes.set(.raw, on: 0)
      keyboard.open()
    }
    let remote = RemoteSession(
      channel, output: output, input: commandInput, reporter: reporter, keyboard: keyboard,
      resizes: sizes, clock: clock)
    switch await remote.run() {
    case .ended(let status):
      if case .signal(let name) = status {
        reporter.log("bridgectl: SIG\(PeerText.escaped(name, limit: 32)) ended it.")
      }
      end.yield(.success(ExitCode(status)))
    case .outputClosed: end.yield(outputEnding)
    case .failed(let error): await lost(error, connection, channel)
    }
  }

  /// The session is gone. With the link gone too, the next generation may have another one; a
  /// command that may have run is not run again unless that does no harm.
  private func lost(_ error: AppError, _ connection: SSHConnection, _ channel: SSHChannel?) async {
    let isStarted = channel != nil
    let context = await connection.lastFailure
    let unsent = keyboard?.close() ?? 0
    if isStarted, let keyboard, local.outputIsTerminal { reporter.show(keyboard.takeReset()) }
    // A generation that was closed for a better one has no failure of its own.
    guard context != nil || error == .cancelled || Task.isCancelled else {
      let context = isStarted ? nil : await connection.lastRefusal
      return _ = end.yield(.failure(CommandFailure(error: error, context: context)))
    }
    if unsent > 0 { view.change { $0.lostBytes = unsent } }
    let isUnknown = error.caseName == AppError.sshOutcomeUnknown(command: "").caseName
    // Closed for a better one: how far it came is not told.
    guard isStarted || isUnknown || error == .cancelled else { return notSent() }
    let isOver = facts.withLock { facts in
      facts.wasStarted = true
      return facts.isOver
    }
    guard !mayRunAgain, !isOver else { return }
    // Where its status came and not all of its output, that is what to say.
    let cut = channel?.failure.flatMap { $0.detail == nil ? nil : $0 }
    if request.recovery.isIdempotent {
      reporter.log("bridgectl: the input was too long to be replayed to another run.")
    }
    end.yield(
      .failure(
        CommandFailure(
          error: isUnknown ? error : .sshOutcomeUnknown(command: request.command ?? ""),
          context: cut ?? context, endsSession: true)))
  }

  /// Whether the next generation may have what this one had: an interactive shell, or a
  /// command that does no harm and gets all of its input once more.
  private var mayRunAgain: Bool {
    guard request.command != nil else { return local.inputIsTerminal }
    return request.recovery.isIdempotent && commandInput.isWhole
  }

  /// The next generation may run the command, if there is one.
  private func notSent() {
    let failure = facts.withLock { facts in
      facts.isRunning = false
      return facts.unlessSent.take()
    }
    if let failure { end.yield(.failure(failure)) }
  }
}
