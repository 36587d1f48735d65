import BridgeErrors
import BridgeSSH
import BridgeSupervision
import BridgeTransport

/// The local ports of a run, which lead through its host.
struct RunForwards: Sendable {
  private let context: RunContext
  private let forwarder: Forwarder

  /// Nil where nothing is forwarded.
  init?(_ context: RunContext, _ prompter: Prompter, over links: RunLinks) {
    guard !context.settings.forwards.isEmpty else { return nil }
    self.context = context
    forwarder = Forwarder(
      through: context.settings.endpoint.host, on: context.reactor,
      link: { () async throws(AppError) in
        _ = try await links.supervisor.connection(links.id)
      },
      session: { () async throws(AppError) -> SSHConnection in
        let connection = try await links.anotherConnection()
        do throws(AppError) {
          try await connection.connect()
        } catch {
          await connection.close()
          throw error
        }
        prompter.keepAnswers()
        return connection
      })
  }

  /// Opens the local ports before the link is there: what connects meanwhile waits for it.
  ///
  /// - Returns: how the run ends where a port cannot be had and that must not be.
  func start() async -> RunContext.Ending? {
    let reporter = context.reporter
    for rule in context.settings.forwards {
      do throws(AppError) {
        let port = try await forwarder.listen(rule)
        reporter.event(.forward(rule: rule.description, port: port))
        reporter.detail("bridgectl: forwarding \(PeerText.escaped(rule.description))")
      } catch {
        guard context.settings.exitsOnForwardFailure else {
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

  /// Reports the steps of the forwarded connections until `close`.
  func report() async {
    for await event in forwarder.events { report(event) }
  }

  private func report(_ event: Forwarder.Event) {
    let reporter = context.reporter
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

  /// A link that was lost may have taken the sessions with it.
  func linkLost() async { await forwarder.linkLost() }

  /// Closes the ports, and what was forwarded.
  func close() async { await forwarder.close() }
}
