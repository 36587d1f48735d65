import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeWaiting

/// How a shell or a command ended here.
enum SessionEnd: Sendable {
  /// The server said how it ended.
  case ended(ExitStatus)
  /// It was lost.
  case failed(AppError)
  /// Standard output has no reader any more.
  case outputClosed
}

/// One shell or command and this process's standard streams, until it ends.
///
/// Every wait can be canceled; what blocks does so on the threads of `output`, `input` and the
/// reporter.
struct RemoteSession: Sendable {
  private let context: RunContext
  private let channel: SSHChannel
  private let input: CommandInput
  /// The user's terminal, where what is typed is shown before its echo.
  private let predicted: PredictedTerminal?
  /// Sizes of the terminal from now on.
  private let resizes: AsyncStream<TerminalSize>
  private let activity = Mutex(Activity())

  private struct Activity {
    /// How many chunks came.
    var chunks = 0
    /// How many of them are being written.
    var writing = 0
    /// Since when output is dropped, and how many bytes were.
    var discarded: (since: ContinuousClock.Instant, count: Int)?
  }

  private enum Step: Sendable {
    /// At its end, or before it.
    case streamEnded(Result<Void, AppError>)
    case outputClosed
    case status(Result<ExitStatus, AppError>)
    /// The server said how it ended; more output may follow.
    case reported
    case quiet
    case idle
  }

  init(
    _ context: RunContext, _ channel: SSHChannel, input: CommandInput,
    predicted: PredictedTerminal?, resizes: AsyncStream<TerminalSize>
  ) {
    self.context = context
    self.channel = channel
    self.input = input
    self.predicted = predicted
    self.resizes = resizes
  }

  /// Carries bytes both ways until the end.
  func run() async -> SessionEnd {
    defer { predicted?.withdraw() }
    return await withTaskGroup(of: Step.self) { group in
      group.addTask { await carryOutput() }
      group.addTask { await carryErrors() }
      group.addTask { await status() }
      group.addTask { await reportedStatus() }
      group.addTask { await carryInput() }
      group.addTask { await carrySizes() }
      defer { group.cancelAll() }
      var openStreams = 2
      var ending: Result<ExitStatus, AppError>?
      var cut: AppError?
      while let step = await group.next() {
        switch step {
        case .outputClosed: return .outputClosed
        case .idle: continue
        case .streamEnded(let end):
          openStreams -= 1
          if case .failure(let error) = end { cut = cut ?? error }
        case .status(let status): ending = status
        // As with ssh, the end of the output is the end: a server sends the status before the last
        // of it, and a process in the background may still write.
        case .reported: if openStreams > 0 { group.addTask { await quiet() } }
        case .quiet:
          guard openStreams > 0 else { continue }
          context.reporter.log(
            "bridgectl: the command has ended; waiting for the end of its output, which a process "
              + "that it started may keep open.")
        }
        // A status is accepted where all of the output came.
        if openStreams == 0, let ending { return Self.end(cut.map { .failure($0) } ?? ending) }
      }
      return .failed(.cancelled)
    }
  }

  private static func end(_ ending: Result<ExitStatus, AppError>) -> SessionEnd {
    switch ending {
    case .success(let status): .ended(status)
    case .failure(let error): .failed(error)
    }
  }

  private func status() async -> Step {
    do throws(AppError) {
      return .status(.success(try await channel.exitStatus()))
    } catch {
      return .status(.failure(error))
    }
  }

  private func reportedStatus() async -> Step {
    do throws(AppError) {
      _ = try await channel.reportedStatus()
      return .reported
    } catch {
      return .idle
    }
  }

  private func carryOutput() async -> Step {
    await carry(channel.standardOutput) { bytes in
      let outcome = await context.write([bytes], through: predicted)
      guard outcome == .failed, isDiscarded(bytes.count) else { return outcome }
      return .written
    }
  }

  /// Whether output that has no reader any more is dropped. As with ssh(1) the command goes on to
  /// its status: what it has printed by then is on its way. One that prints on is not waited for:
  /// ssh has it end by SIGPIPE.
  private func isDiscarded(_ count: Int) -> Bool {
    guard context.reporter.style.isSSH, case .success = context.outputEnding else { return false }
    return activity.withLock { activity in
      let (since, before) = activity.discarded ?? (.now, 0)
      activity.discarded = (since, before + count)
      return before + count <= Self.mostDiscarded && .now - since <= Self.discardTime
    }
  }

  private static let mostDiscarded = 4 << 20
  private static let discardTime = Duration.seconds(1)

  private func carryErrors() async -> Step {
    // A closed standard error means no output is wanted there; the command continues.
    await carry(channel.standardError) { bytes in
      let outcome = await context.reporter.remoteError(bytes)
      return outcome == .failed ? .written : outcome
    }
  }

  private func carry(
    _ stream: ByteStream, to write: @Sendable ([UInt8]) async -> DescriptorWriter.Outcome
  ) async -> Step {
    do throws(AppError) {
      for try await bytes in stream {
        activity.withLock { $0.writing += 1 }
        let outcome = await write(bytes)
        activity.withLock { activity in
          activity.writing -= 1
          activity.chunks += 1
        }
        switch outcome {
        case .written: continue
        case .queued: return .idle
        case .failed: return .outputClosed
        }
      }
    } catch {
      return .streamEnded(.failure(error))
    }
    return .streamEnded(.success(()))
  }

  private func carryInput() async -> Step {
    if let keyboard = context.keyboard {
      await keyboard.carry(
        to: PredictedInput(target: channel, terminal: predicted, repaint: context.repaint))
      return .idle
    }
    var index = 0
    do throws(AppError) {
      while true {
        switch await input.read(index) {
        case .bytes(let bytes):
          index += 1
          try await channel.write(bytes)
        case .end:
          try await channel.finishInput()
          return .idle
        case .cancelled: return .idle
        }
      }
    } catch {
      // It takes no more input; its status reports how it ends.
      return .idle
    }
  }

  private func carrySizes() async -> Step {
    do throws(AppError) {
      for await size in resizes {
        predicted?.resize(size)
        try await channel.resize(to: size)
      }
    } catch {
      // It takes no more sizes; its status reports how it ends.
    }
    return .idle
  }

  /// Returns when nothing has come for a while and nothing is waiting to be written: a
  /// slow reader of our output does not count as quiet.
  private func quiet() async -> Step {
    var (seen, slices) = (activity.withLock { $0.chunks }, 0)
    while slices < Self.quietSlices {
      do {
        try await context.clock.sleep(for: Self.quietTime / Self.quietSlices)
      } catch {
        return .idle
      }
      let (chunks, isWriting) = activity.withLock { ($0.chunks, $0.writing > 0) }
      slices = chunks == seen && !isWriting ? slices + 1 : 0
      seen = chunks
    }
    return .quiet
  }

  /// How long the output is quiet, behind the exit status, before the user reads why it goes on.
  private static let quietTime = Duration.seconds(2)
  private static let quietSlices = 8
}
