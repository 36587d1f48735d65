import BridgeErrors
import BridgeSSH
import BridgeTransport

extension ConnectRun {
  /// Whether the remote side gets a terminal.
  var wantsTerminal: Bool {
    switch settings.terminal {
    case .unwanted: false
    case .forced: true
    case .wanted: local.inputIsTerminal
    case .automatic: request.command == nil && local.inputIsTerminal
    }
  }

  /// Whether what is typed belongs to the remote side.
  var ownsKeyboard: Bool { wantsTerminal && local.inputIsTerminal && !request.isIdle }

  /// Starts the shell or the command.
  func start(on connection: SSHConnection) async throws(CommandFailure) -> SSHChannel {
    if settings.terminal == .wanted, !wantsTerminal {
      reporter.warn("no terminal is asked for: standard input is none (-tt asks even so)")
    }
    let terminal = wantsTerminal ? pseudoTerminal : nil
    do throws(AppError) {
      guard let command = request.command else { return try await connection.shell(in: terminal) }
      return try await connection.execute(command, terminal: terminal)
    } catch {
      throw CommandFailure(error: error, context: await connection.lastFailure)
    }
  }

  private var pseudoTerminal: PseudoTerminal {
    let type = local.variables["TERM"].flatMap { $0.isEmpty ? nil : $0 } ?? "dumb"
    return PseudoTerminal(type: type, size: TerminalModes.size(of: 0) ?? TerminalSize())
  }

  /// Carries the streams until the end, and says what is left to say.
  func carry(
    _ channel: SSHChannel, of connection: SSHConnection, _ resizes: AsyncStream<TerminalSize>
  ) async -> Result<ExitCode, CommandFailure> {
    reporter.event("started") { $0.add("terminal", wantsTerminal) }
    let keyboard = ownsKeyboard ? keyboard(of: connection) : nil
    if keyboard != nil { TerminalModes.set(.raw, on: 0) }
    let session = RemoteSession(
      channel, output: output, input: input, reporter: reporter, keyboard: keyboard,
      resizes: resizes, clock: clock)
    let end = await session.run()
    if let keyboard { await giveBackScreen(keyboard, after: end) }
    TerminalModes.restore()
    return await judge(end, connection)
  }

  /// A program that ended by itself has left the screen as it should be.
  private func giveBackScreen(_ keyboard: Keyboard, after end: SessionEnd) async {
    switch end {
    case .ended: return
    case .failed, .left, .outputClosed:
      _ = await output.write(Array(keyboard.takeReset().utf8))
      reporter.show("\r\n")
    }
  }

  private func judge(
    _ end: SessionEnd, _ connection: SSHConnection
  ) async -> Result<ExitCode, CommandFailure> {
    switch end {
    case .ended(let status):
      if case .signal(let name) = status {
        reporter.note("bridgectl: SIG\(PeerText.escaped(name, limit: 32)) ended it.")
      }
      return .success(ExitCode(status))
    case .failed(let error):
      return .failure(
        CommandFailure(error: error, context: await connection.lastFailure, endsSession: true))
    case .left:
      reporter.note("bridgectl: left \(PeerText.escaped(settings.endpoint.host)).")
      return .success(.interrupted)
    case .outputClosed:
      return .success(.outputClosed)
    }
  }

  /// `-N`: until the connection ends.
  func stay(on connection: SSHConnection) async -> Result<ExitCode, CommandFailure> {
    reporter.note("bridgectl: connected; Ctrl-C leaves.")
    for await event in connection.events {
      guard case .failed(let error, let context) = event else { continue }
      return .failure(CommandFailure(error: error, context: context))
    }
    return .failure(
      CommandFailure(error: .cancelled, context: await connection.lastFailure))
  }

  private func keyboard(of connection: SSHConnection) -> Keyboard {
    Keyboard(
      reporter: reporter,
      commands: Keyboard.Commands(
        status: { await status(of: connection) },
        reconnect: { reporter.show("\r\nThere is nothing to reconnect: the link is up.\r\n") }))
  }

  /// `~s`.
  private func status(of connection: SSHConnection) async -> [String] {
    var lines = ["\(settings.user) at \(settings.endpoint)"]
    if let agreement = await connection.agreement { lines.append("  \(agreement.words)") }
    if let heard = await connection.lastHeard {
      let silence = ContinuousClock.now - heard
      lines.append("  last heard \(Int(silence / .milliseconds(1))) ms ago")
    }
    do throws(AppError) {
      let time = try await connection.probe(within: .seconds(3))
      let tenths = Int(time / .microseconds(100))
      lines.append("  round trip \(tenths / 10).\(tenths % 10) ms")
    } catch {
      lines.append("  no answer within 3 s")
    }
    return lines.map { PeerText.escaped($0, limit: 512) }
  }
}
