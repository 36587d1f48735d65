package import BridgeErrors
package import BridgeFiles
import BridgeSessionProtocol
package import BridgeTransport

/// Has a host give a file its name that came there in several streams.
package struct HostJoin: Sendable {
  private let job: FileTransfer.Job
  private let host: String
  private let parts: FileParts
  private let isInside: Bool
  private let clock: SessionClock
  /// How long the host has for its answer, in milliseconds.
  private static let answerLimit: Milliseconds = 60_000

  /// - Parameters:
  ///   - job: the copy.
  ///   - isInside: whether the copy lies inside the destination, as the streams found it.
  ///   - clock: for the time that the host has for its answer.
  package init<C: Clock>(
    _ job: FileTransfer.Job, host: String, _ parts: FileParts, isInside: Bool,
    clock: C = ContinuousClock()
  ) where C.Duration == Duration {
    (self.job, self.host, self.parts, self.isInside) = (job, host, parts, isInside)
    self.clock = SessionClock(clock)
  }

  /// A command that runs the host's end, with a marker of its own.
  package func command() -> HostCommand {
    HostCommand(.files(run: job.lastChannel), program: nil)
  }

  /// Requests it over a channel; returns how that ended before an answer, nil where the file has
  /// its name.
  ///
  /// - Parameter isRepeated: whether an earlier channel may have done it.
  /// - Throws: why the file does not get its name.
  package func carry(
    over channel: any ByteChannel, _ command: HostCommand, isRepeated: Bool
  ) async throws(AppError) -> ByteChannelEnding? {
    let result = await limited(channel) { await exchange(over: channel, command, isRepeated) }
    var ending: ByteChannelEnding?
    if case .success(false) = result { ending = await channel.ending() }
    await channel.close()
    _ = try result.get()
    return ending
  }

  /// The answer, where it comes in time.
  private func limited(
    _ channel: any ByteChannel, _ exchange: @escaping @Sendable () async -> Result<Bool, AppError>
  ) async -> Result<Bool, AppError> {
    await withTaskGroup(of: Result<Bool, AppError>?.self) { group in
      group.addTask { await exchange() }
      group.addTask { [clock] in
        await channel.hostHasHad(Self.answerLimit, clock)
        guard !Task.isCancelled else { return nil }
        return .failure(.sshTimeout(seconds: Int(clamping: Self.answerLimit / 1000)))
      }
      for await case let result? in group {
        if case .failure = result { await channel.close() }
        group.cancelAll()
        return result
      }
      return .success(false)
    }
  }

  /// True once the host has done it, false where the channel ends.
  private func exchange(
    over channel: any ByteChannel, _ command: HostCommand, _ isRepeated: Bool
  ) async -> Result<Bool, AppError> {
    let stripe = FileStripe(0, of: parts.count)
    let request = stripe.map(job.stream)?.join(parts, isInside: isInside, isRepeated: isRepeated)
    guard let request else { return .failure(.internalError(detail: "no stream was copied")) }
    var answer = MarkedBytes(marker: command.marker + FileLimits.greeting)
    var parser = FileFrameParser()
    var isSent = false
    while true {
      let bytes: [UInt8]?
      do throws(AppError) { bytes = try await channel.read() } catch { return .success(false) }
      guard let bytes else { return .success(false) }
      guard let bytes = answer.take(bytes) else {
        return .failure(SessionFailure.error(.noMarker, host: host))
      }
      // Before the greeting another program may read what is sent.
      if answer.hasBegun, !isSent {
        isSent = true
        do throws(AppError) {
          try await channel.write(FileFrame.open(request).encoded)
        } catch {
          return .success(false)
        }
      }
      parser.append(bytes)
      do throws(ProtocolError) {
        guard let frame = try parser.next() else { continue }
        return try evaluate(frame)
      } catch {
        return .failure(FileFailure.error(error, host: host))
      }
    }
  }

  private func evaluate(_ frame: FileFrame) throws(ProtocolError) -> Result<Bool, AppError> {
    switch frame {
    case .finished: return .success(true)
    case .failed(let fault):
      let place = FileTransfer.place(
        of: [], isTarget: true, job: job, host: host, isInside: isInside)
      return .failure(FileFailure.error(fault, path: place, isTarget: true, host: host))
    case .open, .ready, .acknowledge, .refused, .totals, .directory, .leave, .file, .link, .data,
      .mark, .end, .skipped, .done, .site:
      throw .unexpectedFrame(type: frame.number)
    }
  }
}
