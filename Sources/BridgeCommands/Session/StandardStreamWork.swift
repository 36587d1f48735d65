import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport

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
  private let isBegun = Mutex(false)

  init(to target: TunnelTarget, _ context: RunContext) {
    self.target = target
    self.context = context
  }

  var losesNothing: Bool { false }

  func giveUp(_ failure: CommandFailure) { context.finish(.failure(failure)) }

  func use(_ connection: any Connection, _ generation: Int) async {
    guard let connection = connection as? SSHConnection else { return }
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
    let end = await carry(tunnel)
    await tunnel.close()
    switch end {
    case .inputEnded, .outputEnded: context.finish(.success(.success))
    case .outputClosed: context.finish(context.outputEnding)
    case .lost:
      let failure = await connection.lastFailure
      let error = AppError.sshConnectionFailed(
        host: connection.endpoint.host, reason: "The connection was lost.")
      context.fail(error, failure)
    }
  }

  /// Until both directions have ended, or one cannot go on.
  private func carry(_ tunnel: any ByteChannel) async -> Step {
    await withTaskGroup(of: Step.self) { group in
      group.addTask { await self.carryInput(to: tunnel) }
      group.addTask { await self.carryOutput(of: tunnel) }
      defer { group.cancelAll() }
      var last = Step.lost
      for _ in 0..<2 {
        last = await group.next() ?? .lost
        switch last {
        case .inputEnded, .outputEnded: continue
        case .outputClosed, .lost: return last
        }
      }
      return last
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
      // The target takes no more; what it still sends is read.
      return await tunnel.ending() == .finished(status: nil) ? .inputEnded : .lost
    }
  }

  private func carryOutput(of tunnel: any ByteChannel) async -> Step {
    do throws(AppError) {
      while let bytes = try await tunnel.read() {
        guard await context.output.write(bytes) else { return .outputClosed }
      }
      return .outputEnded
    } catch {
      return .lost
    }
  }
}
