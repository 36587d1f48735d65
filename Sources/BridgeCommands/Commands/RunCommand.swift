package import ArgumentParser
package import BridgeErrors
import BridgeSSH
import BridgeSession
package import BridgeSessionProtocol

/// `bridgectl run --detach`.
package struct RunCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Start a command on a host and leave it running.",
    discussion: """
      Prints the id of the durable session that the command runs in. It is started at most once, \
      whatever the link does meanwhile. Its output and its exit status are kept for `logs` and \
      `wait`. Its input is not that of run: `attach` sends it input; only a terminal can end that \
      input (Ctrl-D). Of long output the newest is kept (\(Limits.pipesCap >> 20) MiB, \
      \(Limits.terminalCap >> 20) MiB with -t); with --when-full wait the command waits there \
      until `attach` has read it.

      EXAMPLES:
          bridgectl run --detach --name build me@build.example -- make -C src test
          bridgectl logs -f build.example build
          bridgectl wait build.example build && echo passed
      """)

  @Flag(help: "Return at once. Required: `connect` runs a command and waits for it.")
  package var detach = false

  @Flag(
    name: .customShort("t"), help: "Run it on a terminal of 80 columns and 24 rows.")
  package var terminal = false

  @OptionGroup package var start: StartOptions

  @OptionGroup package var link: LinkArguments

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The command to run; its words are joined.", valueName: "COMMAND"))
  package var command: [String] = []

  /// Creates the command with its defaults.
  package init() {}

  /// The request of the command line.
  ///
  /// - Throws: `validationError` naming the option.
  package func request() throws(AppError) -> ConnectRequest {
    var request = try ConnectRequest(sessionsOf: link)
    request.start = try StartRequest(start)
    request.command = try ConnectRequest.joined(command)
    guard detach else {
      throw .validationError(
        field: "--detach",
        message: "It is required; `bridgectl connect` runs a command and waits for it.")
    }
    guard request.command != nil else {
      throw .validationError(field: "COMMAND", message: "The command to run is missing.")
    }
    return request
  }

  /// Ends the process with the exit code.
  package func run() async throws {
    let command = self
    let hasTerminal = terminal
    await LinkCommand(options: link).run({ () throws(AppError) in try command.request() }) {
      context in
      var spec = context.spec
      if hasTerminal { spec.terminal = Array("xterm-256color".utf8) }
      spec.whenFull = Self.whenFull(context.request.start)
      spec.isOnlyOfItsName = spec.name != nil
      return SessionQuery(context, Self.body(spec))
    }
  }

  /// What happens at the limit of kept output: without a client a command would wait for good, so
  /// that only an option makes it wait.
  package static func whenFull(_ request: StartRequest) -> WhenFull { request.whenFull ?? .drop }

  private static func body(_ spec: SessionSpec) -> SessionQuery.Body {
    // The same id for every try, and the same place: it is started once.
    let place = StartPlace()
    // Set when its user knows the id.
    let isSaid = OnceValue<Void>()
    let ask = { @Sendable (scope: SessionQuery.Scope) async throws(AppError) -> RunContext.Ending in
      let status: SessionStatus
      do throws(AppError) {
        status = try await scope.sessions.start(spec, at: place)
      } catch {
        if scope.context.sayWhichMayRun(spec.session, error) { isSaid.set(()) }
        throw spec.name == nil ? error : scope.context.naming("--name", in: error)
      }
      scope.context.reporter.event(
        .session(
          id: "\(status.session)", state: status.state.rawValue, kind: status.kind.rawValue,
          role: nil))
      scope.context.warnOfLogout(status.survivesLogout)
      if spec.whenFull == .wait {
        let usual = spec.kind == .terminal ? Limits.terminalCap : Limits.pipesCap
        let limit = SessionText.size(spec.cap ?? usual)
        scope.context.reporter.log(
          "bridgectl: after \(limit) of output the command waits for `attach` to read it.")
      }
      let ending = await scope.write("\(status.session)\n")
      isSaid.set(())
      if case .success(.success) = ending { return ending }
      // It runs all the same: who starts it again would have it twice.
      scope.context.reporter.log("bridgectl: session \(status.session) was started.")
      return ending
    }
    return SessionQuery.Body(
      ask: ask,
      farewell: { context in
        guard place.mayHaveStarted, isSaid.current == nil else { return nil }
        let id = String("\(spec.session)".prefix(SessionText.shortID))
        return context.farewell(ofUnanswered: spec.name.map(SessionText.text) ?? id)
      })
  }
}

extension RunContext {
  /// The program of the request, under a new id.
  var spec: SessionSpec {
    var generator = SystemRandomNumberGenerator()
    var spec = SessionSpec(session: Identifier(using: &generator))
    spec.command = request.command.map { Array($0.utf8) }
    spec.environment = settings.environment.map { Array($0.assignment.utf8) }
    spec.name = request.start.name.map { Array($0.utf8) }
    spec.cap = request.start.cap
    spec.whenFull = request.start.whenFull
    if case .upTo(let time)? = request.start.keep {
      spec.keep = UInt64(max(1, time / .seconds(1)))
    }
    return spec
  }

  /// `error`, in the words of the option or operand whose name another session has.
  func naming(_ field: String, in error: AppError) -> AppError {
    guard case .durableSessionConflict = error else { return error }
    return .validationError(
      field: field, message: "Another session that runs on \(settings.givenHost) has it.")
  }

  /// Names the session that may have been started; returns whether it did.
  @discardableResult func sayWhichMayRun(_ session: SessionID, _ error: AppError) -> Bool {
    guard case .durableSessionOutcomeUnknown = error else { return false }
    reporter.log("bridgectl: if it was started, it is session \(session).")
    return true
  }

  /// Says where a session ends at logout.
  func warnOfLogout(_ answer: String) {
    guard answer != "yes", !answer.isEmpty else { return }
    reporter.warn("the session may end when you log out there: \(PeerText.escaped(answer))")
  }
}
