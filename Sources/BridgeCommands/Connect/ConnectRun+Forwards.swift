import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport

// Local ports that lead through the host.
extension ConnectRun {
  /// Opens the local ports before the link is there: what connects meanwhile waits for it.
  ///
  /// - Returns: how the run ends where a port cannot be had and that must not be.
  func startForwards(_ plan: SupervisedConnection) async -> RunContext.Ending? {
    guard !settings.forwards.isEmpty else { return nil }
    let forwarder = Forwarder(
      through: settings.endpoint.host, on: reactor,
      link: { [supervisor, id] () async throws(AppError) in
        _ = try await supervisor.connection(id)
      },
      session: { [prompter] () async throws(AppError) -> SSHConnection in
        guard let connection = try await plan.make(0) as? SSHConnection else {
          throw .internalError(detail: "a session for forwards is no SSH connection")
        }
        do throws(AppError) {
          try await connection.connect()
        } catch {
          await connection.close()
          throw error
        }
        prompter.keepAnswers()
        return connection
      })
    self.forwarder.withLock { $0 = forwarder }
    for rule in settings.forwards {
      do throws(AppError) {
        let port = try await forwarder.listen(rule)
        reporter.event(.forward(rule: rule.description, port: port))
        reporter.detail("bridgectl: forwarding \(PeerText.escaped(rule.description))")
      } catch {
        guard settings.exitsOnForwardFailure else {
          let reason = PeerText.escaped(error.shownMessage())
          reporter.warn("\(PeerText.escaped(rule.description)) is not forwarded: \(reason)")
          continue
        }
        await forwarder.close()
        // As with a port that the machine has none left of: busy.
        let context = FailureContext(
          kind: .localResource, phase: .dial, host: PeerText.escaped(rule.description))
        return .failure(CommandFailure(error: error, context: context))
      }
    }
    return nil
  }

  /// A link that was lost may have taken the sessions of forwards with it.
  func seeForwards(_ event: RecoveryEvent) async {
    switch event.step {
    case .failed, .suspended, .switched:
      await forwarder.withLock { $0 }?.linkLost()
    case .attempted, .entered, .recovered, .becameHealthy, .classified, .waiting, .resumed,
      .suspected, .cleared, .gaveUp, .surfaced, .withdrawn, .lingered, .changed, .closed, .missed:
      break
    }
  }

  /// Reports a step of a forwarded connection.
  func report(_ event: Forwarder.Event) {
    reporter.event(.forwarded(event))
    switch event {
    case .opened(let id, let target):
      reporter.detail("bridgectl: forwarding connection \(id) to \(PeerText.escaped(target))")
    case .closed(let id, let sent, let received, _):
      let words = "\(sent) bytes sent, \(received) received"
      reporter.detail("bridgectl: forwarded connection \(id) ended (\(words))")
    case .refused(let id, let target, let error):
      guard error != .cancelled else { return }
      let way = target.map { " to \(PeerText.escaped($0))" } ?? ""
      let reason = PeerText.escaped(error.shownMessage())
      reporter.log("bridgectl: forwarded connection \(id)\(way) was refused: \(reason)")
    }
  }
}
