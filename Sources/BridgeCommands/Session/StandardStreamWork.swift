import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// Standard input and output carried to a target behind the host (`-W`). It ends with its link:
/// what was in between is not known.
final class StandardStreamWork: LinkWork {
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
    let carrier = TunnelCarrier(tunnel: tunnel, input: context.input, output: context.output)
    let carrying = Task.immediate(executorPreference: context.reactor) { await carrier.run() }
    let end = await carrying.value
    await tunnel.close()
    switch end {
    case .outputEnded: context.finish(.success(.success))
    case .outputClosed: context.finish(context.outputEnding)
    case .lost:
      let failure = await connection.lastFailure
      let error = AppError.sshConnectionFailed(
        host: context.settings.givenHost, reason: "The connection was lost.")
      context.fail(error, failure)
    }
  }
}
