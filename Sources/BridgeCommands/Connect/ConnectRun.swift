import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTransport

/// One `bridgectl connect`, from the resolved settings to the exit code.
struct ConnectRun: Sendable {
  let request: ConnectRequest
  let settings: ConnectSettings
  let local: LocalEnvironment
  let reporter: Reporter
  let signals: Signals
  let reactor: Reactor
  let output = DescriptorWriter(1)
  let input = DescriptorReader(0)
  let clock: any Clock<Duration> & Sendable = ContinuousClock()
  /// How far the attempt has come.
  let phase = Mutex(ConnectionPhase.resolve)

  private enum Step: Sendable {
    case done(Int32)
    case signal(Int32)
    case over
  }

  /// Connects, runs what is to run, closes. A signal cancels all of it, in order.
  func run() async -> Int32 {
    let (resizes, sizes) = AsyncStream.makeStream(
      of: TerminalSize.self, bufferingPolicy: .bufferingNewest(1))
    return await withTaskGroup(of: Step.self) { group in
      group.addTask(executorPreference: reactor) { .done(await attempt(resizes)) }
      group.addTask(executorPreference: reactor) { await watchSignals(sizes) }
      var code: Int32?
      for await step in group {
        switch step {
        case .done(let own):
          code = code ?? own
          group.cancelAll()
        case .signal(let number):
          code = number
          group.cancelAll()
        case .over: break
        }
      }
      return code ?? ExitCode.internalFault.rawValue
    }
  }

  private func watchSignals(_ sizes: AsyncStream<TerminalSize>.Continuation) async -> Step {
    for await event in signals.events {
      switch event {
      case .end(let code): return .signal(code)
      case .resized: break
      case .resumed: if ownsKeyboard { TerminalModes.set(.raw, on: 0) }
      }
      if let size = TerminalModes.size(of: 0) { sizes.yield(size) }
    }
    return .over
  }

  private func attempt(_ resizes: AsyncStream<TerminalSize>) async -> Int32 {
    let connection = SSHConnection(
      to: settings.endpoint, configuration: await configuration(), on: reactor)
    let outcome = await use(connection, resizes)
    reporter.progress(nil)
    await connection.close()
    TerminalModes.restore()
    switch outcome {
    case .success(let code):
      return code.rawValue
    case .failure(let failure):
      reporter.fail(failure)
      return failure.exitCode
    }
  }

  private func use(
    _ connection: SSHConnection, _ resizes: AsyncStream<TerminalSize>
  ) async -> Result<ExitCode, CommandFailure> {
    do throws(CommandFailure) {
      try await connect(connection)
      if request.isIdle { return await stay(on: connection) }
      let channel = try await start(on: connection)
      return await carry(channel, of: connection, resizes)
    } catch {
      return .failure(error)
    }
  }
}
