import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport

// The hosts on the way: supervised connections that the one of the run depends on.
extension ConnectRun {
  /// A host on the way.
  struct Hop {
    let id: ConnectionID
    let settings: ConnectSettings
  }

  /// The hosts on the way, the first one dialed first.
  var hops: [Hop] {
    settings.jumps.enumerated().map { index, settings in
      Hop(id: ConnectionID("ssh:\(settings.endpoint)#jump\(index + 1)"), settings: settings)
    }
  }

  /// A plan for each host on the way. A hop that is lost is one failure, at that hop: what depends
  /// on it is suspended, and comes back after it.
  func plansOfHops() -> [SupervisedConnection] {
    var before: Hop?
    return hops.map { hop in
      defer { before = hop }
      var plan = plan(to: hop.settings, configuration(of: hop.settings), through: before)
      plan.id = hop.id
      plan.endpoint = hop.settings.endpoint
      plan.onConnected = { connection, _ in
        guard let connection = connection as? SSHConnection else { return }
        await context.reportProblems(of: connection, hop.settings)
      }
      return plan
    }
  }

  private func configuration(of settings: ConnectSettings) -> SSHConfiguration {
    configuration(of: settings, prompter.interaction(ofHop: settings.endpoint.host))
  }

  /// What leads to the host of `settings` in the place of a TCP connection.
  func proxyCommand(of settings: ConnectSettings) -> ProxyCommand? {
    settings.proxyCommand.map { line in
      let shell = local.variables["SHELL"].flatMap { $0.isEmpty ? nil : $0 } ?? "/bin/sh"
      return ProxyCommand(line: line, shell: shell) { [reporter] line in
        reporter.log(PeerText.escaped(line, limit: 2048))
      }
    }
  }

  /// Takes an event of a hop in; false for another one.
  func sawHop(_ event: RecoveryEvent) async -> Bool {
    guard let hop = hops.first(where: { $0.id.description == event.source }) else { return false }
    reporter.event(.link(event))
    await count(event)
    switch event.step {
    case .entered(let phase): if !facts.withLock({ $0.wasUp }) { show(phase, of: hop.settings) }
    case .recovered:
      prompter.keepAnswers()
      reporter.progress(nil)
      return true
    case .failed(let failure):
      facts.withLock {
        $0.record(CommandFailure(error: failure.error, context: failure.context))
      }
    case .gaveUp(let failure, _):
      await work.giveUp(CommandFailure(error: failure.error, context: failure.context))
    // The words for these name the host that the run leads to.
    case .suspected, .cleared, .switched, .closed: return true
    case .attempted, .becameHealthy, .classified, .waiting, .suspended, .resumed, .surfaced,
      .withdrawn, .lingered, .changed, .missed:
      break
    }
    view.see(event)
    return true
  }
}
