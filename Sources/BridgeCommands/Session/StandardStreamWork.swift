import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// Standard input and output carried to a target behind the host (`-W`). It ends with its link:
/// what was in between is not known.
final class StandardStreamWork: LinkWork {
  private enum Step {
    case inputEnded
    case outputEnded
    case outputClosed
    case lost
  }

  private let target: TunnelTarget
  private let context: RunContext
  /// Whether something is carried, which ends the run.
  private let isCarrying = Mutex(false)

  init(to target: TunnelTarget, _ context: RunContext) {
    self.target = target
    self.context = context
  }

  var losesNothing: Bool { false }

  func giveUp(_ failure: CommandFailure) {
    // What has come is written first.
    guard !isCarrying.withLock({ $0 }) else { return }
    context.finish(.failure(failure))
  }

  func use(_ connection: SSHConnection, _ generation: Int) async {
    // The next link is of no use to a tunnel that was begun over another.
    guard !isCarrying.withLock({ $0 }) else { return }
    await context.report(connection)
    let tunnel: any ByteChannel
    do throws(AppError) {
      tunnel = try await connection.tunnel(to: target)
    } catch {
      // A link that was lost meanwhile is dialed again: nothing was sent yet.
      guard await connection.lastFailure == nil, error != .cancelled else { return }
      return context.fail(error, await connection.lastRefusal)
    }
    context.reporter.event(.started(hasTerminal: false, target: target.description))
    isCarrying.withLock { $0 = true }
    // Not canceled with the generation: what has come is written even so.
    let carrying = Task.immediate(executorPreference: context.reactor) { await carry(tunnel) }
    let end = await carrying.value
    await tunnel.close()
    switch end {
    case .inputEnded, .outputEnded: context.finish(.success(.success))
    case .outputClosed: context.finish(context.outputEnding)
    case .lost:
      let failure = await connection.lastFailure
      let error = AppError.sshConnectionFailed(
        host: context.settings.givenHost, reason: "The connection was lost.")
      context.fail(error, failure)
    }
  }

  /// Until the target has sent its last byte, as ssh does, or one direction cannot go on.
  private func carry(_ tunnel: any ByteChannel) async -> Step {
    await withTaskGroup(of: Step.self) { group in
      group.addTask { await self.carryInput(to: tunnel) }
      group.addTask { await self.carryOutput(of: tunnel) }
      defer { group.cancelAll() }
      while let step = await group.next() {
        switch step {
        case .inputEnded: continue
        case .outputEnded, .outputClosed, .lost: return step
        }
      }
      return .lost
    }
  }

  private func carryInput(to tunnel: any ByteChannel) async -> Step {
    do throws(AppError) {
      while true {
        switch await context.input.read() {
        case .bytes(let bytes): try await tunnel.write(bytes)
        case .end:
          try await tunnel.finish()
          return .inputEnded
        case .cancelled: return .lost
        }
      }
    } catch {
      // The target takes no more, or the link is lost; what has come is read, and tells which.
      return .inputEnded
    }
  }

  private func carryOutput(of tunnel: any ByteChannel) async -> Step {
    do throws(AppError) {
      while let bytes = try await tunnel.read() {
        switch await context.output.write(bytes) {
        case .written: continue
        case .queued: return .lost
        case .failed: return .outputClosed
        }
      }
      return .outputEnded
    } catch {
      return .lost
    }
  }
}
