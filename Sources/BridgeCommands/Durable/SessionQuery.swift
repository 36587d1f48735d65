import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// One question to the `bridge-host` of a host, asked again on the next generation when its link
/// was lost before the answer.
final class SessionQuery: LinkWork {
  /// What a question has to work with.
  struct Scope: Sendable {
    let context: RunContext
    let connection: SSHConnection
    /// What `bridge-host` answers there.
    let sessions: SessionHost
    /// The session that was meant when it was first looked up. Another one may get its name later.
    let found: OnceValue<SessionID>
    /// Its name, where it was looked up and has one.
    var name = OnceValue<String>()
    let unheard: UnheardLinks

    /// The session that is meant, the same over all links of a run.
    ///
    /// - Parameter asks: whether a person says which one, where several may be meant.
    /// - Throws: `durableSessionNotFound`, `validationError`; as `SessionHost.list`.
    func resolve(
      _ selector: SessionSelector, asks: Bool = false
    ) async throws(AppError) -> SessionID {
      if let id = found.current { return id }
      let host = context.settings.givenHost
      if let id = selector.id {
        found.set(id)
      } else {
        switch try selector.find(in: try await sessions.list(), on: host) {
        case .one(let session):
          if asks { try SessionSelector.refuse(session, within: context.local) }
          take(session)
        case .several(let reason, let sessions):
          guard asks, let chosen = await context.choose(SessionChoice(sessions, reason: reason))
          else { throw SessionSelector.ambiguous(reason, sessions) }
          try SessionSelector.refuse(chosen, within: context.local)
          take(chosen)
        }
      }
      guard let id = found.current else { throw .cancelled }
      return id
    }

    private func take(_ session: SessionStatus) {
      found.set(session.session)
      if let text = session.name { name.set(SessionText.text(text)) }
    }
  }

  /// The question: returns how the run ends.
  struct Body: Sendable {
    let ask: @Sendable (Scope) async throws(AppError) -> RunContext.Ending
    /// Why the question may not be asked twice; nil where it may.
    var unrepeatable: String?
    /// What is known of the host after an answer.
    var finding = HostMemory.Finding.present
    /// The last words, where something may be left on the host.
    var farewell: @Sendable (RunContext) -> String? = { _ in nil }
    /// How many bytes of an answer that comes in parts are there.
    var progress: @Sendable () -> UInt64 = { 0 }
  }

  private let context: RunContext
  private let body: Body
  private let found = OnceValue<SessionID>()
  private let unheard = UnheardLinks()
  private let place = StartPlace()

  init(_ context: RunContext, _ body: Body) {
    self.context = context
    self.body = body
  }

  /// Asks the host of `link`, which may be asked again; ends the process with the exit code.
  static func run(
    over link: LinkArguments, finding: HostMemory.Finding = .present,
    _ ask: @escaping @Sendable (Scope) async throws(AppError) -> RunContext.Ending
  ) async -> Never {
    await LinkCommand(options: link).run(
      { () throws(AppError) in try ConnectRequest(sessionsOf: link) },
      { SessionQuery($0, Body(ask: ask, finding: finding)) })
  }

  var losesNothing: Bool { body.unrepeatable == nil }

  func progress(over link: Int) async -> LinkUse.Progress {
    LinkUse.Progress(bytes: body.progress())
  }

  /// A program that prints nothing for a while shows nothing of it.
  func see(_ event: RecoveryEvent) { context.reportReturn(event) }

  func giveUp(_ failure: CommandFailure) { context.finish(.failure(failure)) }

  var farewell: String? { body.farewell(context) }

  func use(_ connection: SSHConnection, _ generation: Int) async {
    await context.report(connection)
    context.expectHost(of: connection, unheard)
    let scope = Scope(
      context: context, connection: connection,
      sessions: SessionHost(
        connection, host: context.settings.givenHost, unheard: unheard, place: place),
      found: found, unheard: unheard)
    do throws(AppError) {
      let ending = try await body.ask(scope)
      context.remember(body.finding, connection)
      context.finish(ending)
    } catch {
      if case .durableSessionHostUnusable(_, SessionFailure.notInstalled) = error {
        context.remember(.absent, connection)
      }
      let failure = await connection.lastFailure
      if failure != nil, let error = context.lose(connection, unheard) {
        return context.fail(error, nil)
      }
      let isLost = failure != nil || Task.isCancelled || error == .cancelled
      guard isLost else { return context.fail(error, await connection.lastRefusal) }
      guard let command = body.unrepeatable else { return }
      var ending = CommandFailure(
        error: .sshOutcomeUnknown(command: command), context: failure, endsSession: true)
      ending.remedy = CommandAdvice.Row("This shows the sessions:", "bridgectl sessions HOST")
      context.finish(.failure(ending))
    }
  }
}

extension SessionQuery.Scope {
  /// Says that what is waited for will not come by itself.
  func warnOfStall(_ session: SessionID) {
    let id = "\(session)".prefix(SessionText.shortID)
    context.reporter.warn(
      """
      the program waits for a reader, its output is full: it goes on when a client reads that. \
      `bridgectl attach \(context.reporter.style.target) \(id)` does.
      """)
  }

  /// Writes text for a person or a script to standard output.
  func write(_ text: String) async -> RunContext.Ending {
    await context.reporter.makeWay()
    switch await context.output.write(Array(text.utf8)) {
    // The answer is whole: a link that is lost meanwhile is not needed for the rest of it.
    case .written, .queued: return .success(.success)
    case .failed: return context.outputEnding
    }
  }

  /// How the run ends that passes on how a program ended.
  func ending(of status: SessionStatus) -> RunContext.Ending {
    context.ending(status.end, reason: SessionText.state(status))
  }
}

extension RunContext {
  /// The error of missing output, which is recorded, and said where `-q` has kept it back: the exit
  /// status may be that of a program that failed by itself.
  private func gap(_ missing: Range<UInt64>) -> AppError {
    let error = AppError.durableSessionGap(from: missing.lowerBound, to: missing.upperBound)
    facts.withLock { $0.caseName = error.caseName }
    if reporter.style.loudness == .quiet { reporter.show("bridgectl: \(Self.gapText(missing))\n") }
    return error
  }

  /// A sentence for a person.
  static func gapText(_ missing: Range<UInt64>) -> String {
    "bytes \(missing.lowerBound) to \(missing.upperBound) are no longer kept."
  }

  /// How a run ends that passes on how a program ended.
  ///
  /// - Parameters:
  ///   - reason: why the end is not known, where it is not.
  ///   - missing: bytes of its output that are no longer kept. No run is a success without them.
  ///   - wasAsked: whether this run has sent the signal that may have ended it.
  func ending(
    _ end: ProgramEnd?, reason: String = "its end is not recorded",
    missing: Range<UInt64>? = nil, wasAsked: Bool = false
  ) -> Ending {
    switch end {
    case .exited(let status):
      facts.withLock { $0.remote = .status(Int(status)) }
      if let error = missing.map(gap) {
        guard status != 0 else { return .failure(CommandFailure(error: error)) }
      }
      return .success(ExitCode(.status(Int(status))))
    case .signaled(let number, _):
      if !wasAsked { reporter.log("bridgectl: \(SessionText.signal(number)) ended it.") }
      let name = SessionText.signalNames[number] ?? "\(number)"
      facts.withLock { $0.remote = .signal(name) }
      _ = missing.map(gap)
      return .success(ExitCode(rawValue: 128 + Int32(number)))
    case .unknownKeeperDied, .orphaned, .unknownRebooted, nil:
      let host = settings.givenHost
      let error =
        end.flatMap { SessionFailure.unknownEnd($0, host: host) }
        ?? .durableSessionOutcomeUnknown(host: host, reason: reason)
      return .failure(CommandFailure(error: error))
    }
  }
}
