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

/// One shell or command and its streams here, until it ends.
///
/// Every wait can be canceled; what blocks does so on the threads of the streams.
struct RemoteSession: Sendable {
  private let channel: SSHChannel
  private let ends: SessionEnds
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

  /// A session that `channel` carries, between it and `ends`.
  init(_ channel: SSHChannel, _ ends: SessionEnds) {
    self.channel = channel
    self.ends = ends
  }

  /// Carries bytes both ways until the end.
  func run() async -> SessionEnd {
    await withTaskGroup(of: Step.self) { group in
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
          if openStreams > 0 { ends.outlived() }
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
      let outcome = await ends.write(bytes)
      guard outcome == .failed, isDiscarded(bytes.count) else { return outcome }
      return .written
    }
  }

  /// Whether output that has no reader any more is dropped. As with ssh(1) the command goes on to
  /// its status: what it has printed by then is on its way. One that prints on is not waited for:
  /// ssh has it end by SIGPIPE.
  private func isDiscarded(_ count: Int) -> Bool {
    guard ends.discardsOutput() else { return false }
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
      let outcome = await ends.writeErrors(bytes)
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
    await ends.carryInput(channel)
    return .idle
  }

  private func carrySizes() async -> Step {
    do throws(AppError) {
      for await size in ends.sizes {
        ends.resized(size)
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
        try await ends.clock.sleep(for: Self.quietTime / Self.quietSlices)
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
