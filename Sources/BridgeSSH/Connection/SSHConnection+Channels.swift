public import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

extension SSHConnection {
  /// The bytes that one stream of a channel holds before its reader holds back the server.
  private static let mailboxLimit = 256 << 10

  /// Runs `command` as the server's login shell would, with a terminal when one is given.
  ///
  /// Each variable of `environment` but the last costs a round trip; one that the server does not
  /// take (AcceptEnv of sshd) is left out.
  /// - Throws: `validationError` for a NUL byte, more than 32,000 bytes, or a control character in
  ///   the terminal's type; `sshConnectionFailed`
  ///   when the server refuses; what ended the connection; `cancelled`.
  public nonisolated func execute(
    _ command: String, terminal: PseudoTerminal? = nil, environment: [EnvironmentVariable] = []
  ) async throws(AppError) -> SSHChannel {
    try await start(
      RemoteProgram(command: Array(command.utf8)), terminal: terminal, environment: environment)
  }

  /// Starts the user's login shell in a terminal.
  ///
  /// - Throws: as `execute`.
  public nonisolated func shell(
    in terminal: PseudoTerminal? = PseudoTerminal(), environment: [EnvironmentVariable] = []
  ) async throws(AppError) -> SSHChannel {
    try await start(.shell, terminal: terminal, environment: environment)
  }

  /// Starts `program`, with a terminal when one is given.
  ///
  /// - Throws: as `execute`, but for what `RemoteProgram` has checked.
  package nonisolated func start(
    _ program: RemoteProgram, terminal: PseudoTerminal? = nil,
    environment: [EnvironmentVariable] = []
  ) async throws(AppError) -> SSHChannel {
    try SSHInput.check(terminal)
    try SSHInput.check(environment)
    return try await withTaskExecutorPreference(reactor) {
      () async throws(AppError) -> SSHChannel in
      try await self.open(program, terminal: terminal, environment)
    }
  }

  private func open(
    _ program: RemoteProgram, terminal: PseudoTerminal?, _ environment: [EnvironmentVariable]
  ) async throws(AppError) -> SSHChannel {
    guard life.state == .connected || ending != nil else {
      throw .internalError(detail: "A channel was requested before the connection was up.")
    }
    let window = WindowPolicy.window(for: roundTrip, isTerminal: terminal != nil)
    let native = try value(of: await openSession(window: window))
    configuration.observer?(.channelOpened)
    hasHadChannel = true
    var hasTerminal = terminal != nil
    if let terminal {
      let refusal = try await ask(native) { $0.requestTerminal(terminal) }
      if let refusal, terminal.isRequired {
        giveUp(native)
        throw AppError(sshError: refusal)
      }
      hasTerminal = refusal == nil
    }
    for variable in environment.dropLast() {
      // One that the server leaves out is no failure.
      _ = try await ask(native) { $0.set(variable) }
    }
    // Registered in the same turn: what the server says next may be all that it says, and the end
    // of the link. Not before: what the channel brings must not end it while a request on it is
    // under way.
    let started = await request(of: native) {
      $0.start(program, with: environment.last)
    } answer: { [hasTerminal] in
      $0.register(native, command: program.text, window: window, hasTerminal: hasTerminal)
    }
    if case .failure(var failure) = started,
      ending != nil || native.isClosedUnanswered || failure.kind == .outcomeUnknown
    {
      // The request may have reached the server before the link went, or the channel was closed.
      if ending == nil, native.isClosedUnanswered {
        failure.observation = program.text.map { .closedWithoutStatus(command: $0) }
      }
      let unknown = outcome(of: program.text, after: failure)
      lastRefusal = FailureContext(sshFailure: unknown)
      throw AppError(sshError: unknown)
    }
    return try value(of: started)
  }

  /// Opens a channel for a command or a shell.
  ///
  /// A server counts them (MaxSessions of sshd), and gives up its count of a channel only when it
  /// has read that we have closed it, and what ran there is over: an open right behind that is
  /// refused. It is put again when the server has answered something else in between, and for a
  /// while longer after pauses.
  private func openSession(window: Int) async -> Outcome<NativeChannel> {
    var opened = await askForSession(window: window)
    guard hasBeenRefused(opened), hasJustClosed || !closing.isEmpty else {
      if case .success = opened { hasJustClosed = false }
      return opened
    }
    hasJustClosed = false
    do throws(AppError) {
      _ = try await measureRoundTrip(within: configuration.timeouts.channel)
    } catch {
      // The open tells what has become of the connection.
    }
    opened = await askForSession(window: window)
    for pause in Self.refusalPauses where hasBeenRefused(opened) {
      if case .failure(let failure) = await self.pause(for: pause) { return .failure(failure) }
      opened = await askForSession(window: window)
    }
    if case .success = opened { lastRefusal = nil }
    return opened
  }

  /// A program that has closed its streams ends soon after, on a busy host too.
  private static let refusalPauses: [Duration] = [25, 50, 100, 200, 400, 800].map {
    .milliseconds($0)
  }

  private func hasBeenRefused(_ opened: Outcome<NativeChannel>) -> Bool {
    guard case .failure(let failure) = opened, case .channelRefused = failure.observation else {
      return false
    }
    return ending == nil
  }

  private func pause(for duration: Duration) async -> Outcome<Void> {
    let timer = Mutex(LoopTimer?.none)
    defer { timer.withLock { $0?.cancel() } }
    return await wait(phase: .openChannel, within: nil) { connection, id, answer in
      let due = LoopTimer(after: duration, on: connection.reactor) { [weak connection] in
        connection?.assumeIsolated { if $0.callers.take(id) != nil { answer(.success(())) } }
      }
      timer.withLock { $0 = due }
    }
  }

  /// How long the server may be silent before it answers to an open.
  var openLimit: Duration {
    let timeouts = configuration.timeouts
    return hasHadChannel ? timeouts.channel : max(timeouts.channel, timeouts.authenticate)
  }

  private func askForSession(window: Int) async -> Outcome<NativeChannel> {
    await perform(
      in: .session, phase: .openChannel, within: openLimit,
      abandoned: { connection, channel in connection.closing.append(channel) }
    ) {
      $0.openChannel(window: window)
    } answer: { connection, channel in
      connection.starting[channel.number] = channel
      return channel
    }
  }

  private func register(
    _ native: NativeChannel, command: String?, window: Int, hasTerminal: Bool
  ) -> SSHChannel {
    let state = makeState(native, command: command, window: window)
    let channel = SSHChannel(
      self, state: state, ending: ChannelEnding(), hasTerminal: hasTerminal)
    register(state, channel.ending)
    return channel
  }

  /// From now on each turn reads and writes the channel, and the connection's end ends it.
  func register(_ channel: ChannelState, _ ending: ChannelEnding) {
    starting[channel.native.number] = nil
    session?.wire.acknowledgesAtOnce = false
    channels[channel.native.number] = channel
    endings[channel.native.number] = ending
  }

  func makeState(
    _ native: NativeChannel, command: String?, window: Int
  ) -> ChannelState {
    let pumpAgain: @Sendable () -> Void = { [weak self, reactor] in
      reactor.execute { [weak self] in self?.assumeIsolated { $0.pump() } }
    }
    return ChannelState(
      native, command: command, window: window,
      output: ByteMailbox(limit: Self.mailboxLimit, hasSpaceAgain: pumpAgain),
      error: ByteMailbox(limit: Self.mailboxLimit, hasSpaceAgain: pumpAgain))
  }

  /// Puts a request before the start of a program; returns the refusal of a server that does not
  /// grant it. The channel can start a program even so.
  private func ask(
    _ native: NativeChannel, _ attempt: @escaping @Sendable (NativeChannel) -> Attempt<Void>
  ) async throws(AppError) -> SSHFailure? {
    let outcome = await perform(
      in: .requests, channel: native.number, phase: .execute, within: configuration.timeouts.channel
    ) { _ in attempt(native) }
    guard case .failure(let failure) = outcome else { return nil }
    let isRefusal = failure.code == .channelRequestDenied && !native.isClosedUnanswered
    guard !isRefusal || ending != nil else { return failure }
    if ending == nil { giveUp(native) }
    // A command that was not sent has not run.
    throw AppError(sshError: failure.ofTheLink)
  }

  /// A request on a channel that the server answers. One that fails closes the channel.
  private func request<Answer: Sendable>(
    of native: NativeChannel, _ attempt: @escaping @Sendable (NativeChannel) -> Attempt<Void>,
    answer: @escaping @Sendable (isolated SSHConnection) -> Answer
  ) async -> Outcome<Answer> {
    let outcome = await perform(
      in: .requests, channel: native.number, phase: .execute, within: configuration.timeouts.channel
    ) { _ in
      attempt(native)
    } answer: { connection, _ in
      answer(connection)
    }
    if case .failure = outcome, ending == nil { giveUp(native) }
    return outcome
  }

  /// Closes a channel on which nothing will be started.
  private func giveUp(_ native: NativeChannel) {
    starting[native.number] = nil
    closing.append(native)
    pump()
  }

  /// The value, or the error that the caller sees.
  nonisolated func value<Value>(of outcome: Outcome<Value>) throws(AppError) -> Value {
    switch outcome {
    case .success(let value): return value
    case .failure(let failure): throw AppError(sshError: failure)
    }
  }
}

// What `SSHChannel` asks.
extension SSHConnection {
  nonisolated func write(_ bytes: [UInt8], to number: UInt32) async throws(AppError) {
    guard !bytes.isEmpty else { return }
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) in
      try await self.queue(bytes, to: number)
    }
  }

  nonisolated func post(to number: UInt32, _ bytes: () -> [UInt8]) -> Bool {
    guard reactor.isCurrent, assumeIsolated({ $0.hasSentAll(of: number) }) else { return false }
    let bytes = bytes()
    if !bytes.isEmpty { assumeIsolated { $0.send(bytes, to: number) } }
    return true
  }

  nonisolated func finishInput(of number: UInt32) async throws(AppError) {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) in
      try await self.endInput(of: number)
    }
  }

  nonisolated func resize(_ number: UInt32, to size: TerminalSize) async throws(AppError) {
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) in
      try await self.sendSize(size, of: number)
    }
  }

  nonisolated func closeChannel(_ number: UInt32) async {
    await withTaskExecutorPreference(reactor) { await self.abandon(number) }
  }

  /// Whether what is written now is sent at once.
  private func hasSentAll(of number: UInt32) -> Bool {
    channels[number].map { $0.outgoing.isEmpty && !$0.isInputFinished } ?? false
  }

  private func send(_ bytes: [UInt8], to number: UInt32) {
    channels[number]?.outgoing.append(bytes, id: 0) { _ in }
    pump()
  }

  private func queue(_ bytes: [UInt8], to number: UInt32) async throws(AppError) {
    guard let channel = channels[number] else {
      throw ending.map { AppError(sshError: $0) } ?? closedChannel
    }
    guard !channel.isInputFinished else {
      throw .sshConnectionFailed(
        host: hostName, reason: "The input of the channel is finished.")
    }
    let outcome: Outcome<Bool> = await wait(phase: .stream, within: nil) { connection, id, answer in
      guard let channel = connection.channels[number] else { return answer(.success(false)) }
      channel.outgoing.append(bytes, id: id) { answer(.success($0)) }
      connection.pump()
    }
    guard try value(of: outcome) else { throw closedChannel }
  }

  private var closedChannel: AppError {
    .sshConnectionFailed(host: hostName, reason: "The channel is closed.")
  }

  private func endInput(of number: UInt32) throws(AppError) {
    guard let channel = channels[number] else { return }
    channel.isInputFinished = true
    pump()
  }

  private func sendSize(_ size: TerminalSize, of number: UInt32) async throws(AppError) {
    guard let native = channels[number]?.native else { return }
    let outcome = await perform(
      in: .requests, channel: number, phase: .stream, within: configuration.timeouts.channel
    ) { _ in native.resize(size) }
    try value(of: outcome)
  }

  private func abandon(_ number: UInt32) {
    guard let channel = channels[number] else { return }
    abandon(channel)
    pump()
  }

  /// Closes a channel of which nothing is wanted any more.
  func abandon(_ channel: ChannelState) {
    settle(channel, with: failure(observation: .cancelled, phase: .stream))
    closing.append(channel.native)
  }
}
