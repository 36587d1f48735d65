import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport

/// The SSH part of a diagnosis: the hosts on the way, the host, and what it can do.
struct DoctorHosts: Sendable {
  private let run: DoctorRun
  private let settings: ConnectSettings
  private let prompter: Prompter

  init(_ run: DoctorRun, _ settings: ConnectSettings) {
    self.run = run
    self.settings = settings
    let local = run.local
    // SSH_ASKPASS is not used: a diagnosis asks where its reader is, or not at all.
    let canAsk = local.hasTerminal && !run.request.isBatch && !settings.login.isBatch
    prompter = Prompter(
      route: canAsk
        ? .terminal : .nowhere("A diagnosis prompts on a terminal only. Use --password-fd N."),
      hasTerminal: canAsk, reporter: run.reporter, input: DescriptorReader(0) { _ in })
  }

  /// Connects to each in turn and looks at the last.
  func open() async throws(CommandFailure) {
    var bastion: SSHConnection?
    for (index, hop) in settings.jumps.enumerated() {
      var site = DoctorSite(hop)
      site.isHop = true
      bastion = try await connect(hop, site, hop: index, bastion)
    }
    var secret: Secret?
    if let descriptor = run.request.passwordDescriptor {
      do throws(AppError) {
        secret = try await SecretLine.read(descriptor, option: "--password-fd")
      } catch {
        throw CommandFailure(error: error)
      }
      prompter.give(secret)
    }
    let site = DoctorSite(settings.host, typed: run.request.identities)
    let connection = try await connect(settings.host, site, hop: nil, bastion, secret)
    if try await ends(on: connection) { try await findHostProgram(on: connection) }
  }

  private func connect(
    _ settings: HostSettings, _ site: DoctorSite, hop: Int?, _ bastion: SSHConnection?,
    _ secret: Secret? = nil
  ) async throws(CommandFailure) -> SSHConnection {
    var site = site
    if let bastion { site.through = "\(bastion.endpoint)" }
    let asker = Asker(user: settings.user, endpoint: settings.endpoint, hop: hop)
    let login = prompter.login(to: asker, isBatch: settings.login.isBatch)
    var configuration = SSHConfiguration(
      settings, canAsk: prompter.route.canAsk, password: secret,
      passwordPrompts: prompter.route.canAsk ? 1 : 0)
    configuration.interaction = afterSteps(login.interaction)
    configuration.observer = { [run] fact in
      login.see(fact)
      run.record { $0.take(fact, at: $1) }
    }
    let connection: SSHConnection
    do throws(AppError) {
      connection = try settings.connection(
        to: settings.endpoint, configuration, through: bastion,
        by: ProxyCommand(of: settings, run.local, run.reporter), on: run.reactor)
    } catch {
      throw CommandFailure(error: error)
    }
    run.begin(site)
    try await run.open(connection)
    return connection
  }

  /// `interaction`, whose questions come after the steps so far.
  private func afterSteps(_ interaction: SSHInteraction) -> SSHInteraction {
    SSHInteraction(
      passphrase: { path in
        await run.flush()
        return await interaction.passphrase(path)
      },
      password: { user, host in
        await run.flush()
        return await interaction.password(user, host)
      },
      answers: { request in
        await run.flush()
        return await interaction.answers(request)
      },
      trust: { question in
        await run.flush()
        return await interaction.trust(question)
      },
      notice: interaction.notice)
  }

  /// Runs a command, as the login shell does; returns whether it ended.
  private func ends(on connection: SSHConnection) async throws(CommandFailure) -> Bool {
    run.record {
      $0.enter(.openChannel, at: $1)
      return []
    }
    let result = await limited { () -> Result<(DoctorProbe, ExitStatus, [UInt8]), AppError> in
      await Result.of { () async throws(AppError) in
        var command = DoctorProbe()
        let channel = try await connection.execute(DoctorProbe.line)
        // A packet that goes beyond is left out as a whole: more than one (RFC 4254, 5.2).
        channel.standardError.discard(beyond: 64 << 10)
        do throws(AppError) {
          for try await bytes in channel.standardOutput where !command.take(bytes) {
            channel.standardOutput.discard()
            break
          }
          let status = try await channel.reportedStatus()
          let errors = try await channel.standardError.makeAsyncIterator().next()
          return (command, status, errors ?? [])
        } catch {
          // It may have no end.
          await channel.close()
          throw error
        }
      }
    }
    switch result {
    case nil:
      try await requireAnswer(of: connection)
      run.record { DoctorProbe.silent(after: limitInSeconds, &$0, at: $1) }
      return false
    case .failure(let error)?:
      let lost = await connection.lastFailure
      let refused = await connection.lastRefusal
      throw run.failure(
        CommandFailure(error: ofTheLink(error), context: lost ?? refused), of: connection)
    case .success((let command, let status, let errors))?:
      run.record { [command.step(status, errors: errors, &$0, at: $1)] }
      return true
    }
  }

  /// What the loss of a link is for a person: the commands are ours, and change nothing.
  private func ofTheLink(_ error: AppError) -> AppError {
    guard case .sshOutcomeUnknown = error else { return error }
    return .sshConnectionFailed(host: settings.givenHost, reason: "The connection was lost.")
  }

  /// Tells a host that is silent from a link that is.
  ///
  /// - Throws: the failure of a link that does not answer, either.
  private func requireAnswer(of connection: SSHConnection) async throws(CommandFailure) {
    guard (try? await connection.probe(within: Self.answerTime)) == nil else { return }
    let error = connection.timeout(in: .execute, after: settings.timeouts.channel)
    throw run.failure(CommandFailure(error), of: connection)
  }

  /// A link that answers does so within this time.
  private static let answerTime = Duration.seconds(5)

  /// Asks for the version of `bridge-host`, and has it keep a session: its disk may be full, or be
  /// written by others only.
  private func findHostProgram(on connection: SSHConnection) async throws(CommandFailure) {
    let sessions = SessionHost(connection, host: settings.givenHost)
    run.record {
      $0.lookForHostProgram(at: $1)
      return []
    }
    let result = await limited { () -> Result<String, AppError> in
      await Result.of { () async throws(AppError) in
        let version = try await sessions.version()
        // Says more of a directory that may not be used than a start does.
        _ = try await sessions.list()
        if DoctorReport.fits(version) { try await Self.keepOne(sessions) }
        return version
      }
    }
    switch result {
    case .success(let text)?:
      run.record { [$0.hostProgram(text, at: $1)] }
    case .failure(.cancelled)?: return
    case .failure(let error)?:
      if let lost = await connection.lastFailure {
        throw run.failure(CommandFailure(error: ofTheLink(error), context: lost), of: connection)
      }
      let advice = CommandAdvice.row(for: error)?.of(run.request.target).text ?? error.hint
      run.record { [$0.hostProgram(error, advice, at: $1)] }
    case nil:
      try await requireAnswer(of: connection)
      run.record { [$0.step(.bridgeHost, .warning, "it did not answer", at: $1)] }
    }
  }

  /// A session of a program that ends at once. What a lost link leaves of it goes as any other's.
  private static func keepOne(_ sessions: SessionHost) async throws(AppError) {
    var generator = SystemRandomNumberGenerator()
    var spec = SessionSpec(session: Identifier(using: &generator))
    spec.command = Array(DoctorProbe.line.utf8)
    _ = try await sessions.start(spec)
    _ = try await sessions.wait(for: spec.session)
    _ = try await sessions.forget(spec.session)
  }

  private var limitInSeconds: Int { Int(settings.timeouts.channel / .seconds(1)) }

  /// What `work` returns, or nil where that takes too long.
  private func limited<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Value
  ) async -> Value? {
    let limit = settings.timeouts.channel
    return await withTaskGroup(of: Value?.self) { group in
      group.addTask { await work() }
      group.addTask {
        try? await ContinuousClock().sleep(whileRunning: limit)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next().flatMap(\.self)
    }
  }
}

extension Result where Failure == AppError {
  /// The result of `work`.
  fileprivate static func of(
    _ work: () async throws(AppError) -> Success
  ) async -> Result<Success, AppError> {
    do throws(AppError) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}

extension DoctorReport {
  /// Whether a `bridge-host` that printed this as its version speaks our protocol.
  static func fits(_ version: String) -> Bool {
    version.split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) }
      .contains { version in Limits.versions.contains { $0 == version } }
  }

  /// What `bridge-host version` printed, where it keeps a session or does not fit.
  mutating func hostProgram(_ text: String, at now: Duration) -> DoctorStep {
    let shown = PeerText.escaped(text.trimmingSpace, limit: 128)
    guard Self.fits(text) else {
      let own = Limits.versions.map { "\($0)" }.joined(separator: ", ")
      return step(
        .bridgeHost, .warning, tried: shown, "this bridgectl has protocol \(own)",
        remedy: "`bridgectl install HOST` installs the one that fits.", at: now)
    }
    return step(.bridgeHost, .ok, shown, at: now)
  }

  /// Why it keeps none. Where another program answers to commands, what that said is no fault of
  /// `bridge-host`.
  mutating func hostProgram(_ error: AppError, _ advice: String?, at now: Duration) -> DoctorStep {
    guard commands == .run else {
      return step(.bridgeHost, .warning, "It would not run there, as no command does.", at: now)
    }
    return step(.bridgeHost, .warning, error.shownMessage(), remedy: advice, at: now)
  }
}

extension String {
  fileprivate var trimmingSpace: String {
    split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
