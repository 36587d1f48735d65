import BridgeDiagnostics
import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTransport

// How often what happened (G-65): told with `-v` and as an event.
extension ConnectRun {
  func count(_ event: RecoveryEvent) async {
    switch event.step {
    case .failed(let failure): await context.counters.count(failure.error)
    case .attempted(let number, let isStandby):
      if isStandby || number > 1 || facts.withLock({ $0.wasUp }) {
        await context.counters.countReconnect()
      }
    case .entered, .recovered, .becameHealthy, .classified, .waiting, .suspended, .resumed,
      .suspected, .cleared, .switched, .gaveUp, .surfaced, .withdrawn, .lingered, .changed, .closed,
      .missed:
      break
    }
  }

  func tellCounters() async {
    let dropped = await supervisor.dropped
    if dropped > 0 { await context.counters.countQueueDrops(dropped) }
    let values = await context.counters.values
    reporter.event(
      .counters(
        retries: values.retries, reconnects: values.reconnects, queueDrops: values.queueDrops,
        errors: values.errorsByType))
    for line in values.lines where !line.hasSuffix(" 0") { reporter.detail("bridgectl: \(line)") }
  }
}
