import BridgeErrors
import BridgeRecovery

/// What becomes of a fact in metrics.
enum LinkMetrics {
  static func record(_ fact: RecoveryFact, in meters: inout Meters) {
    switch fact {
    case .dialBegan(_, let isStandby, _):
      meters.count("bridge_dials_total", [("standby", isStandby ? "true" : "false")])
    case .dialEnded(_, let outcome, _):
      meters.count("bridge_dial_outcomes_total", [("outcome", outcome.word)])
    case .notDialed(let outcome):
      meters.count("bridge_dials_not_begun_total", [("outcome", outcome.word)])
    case .lost(let outcome):
      meters.count("bridge_link_losses_total", [("outcome", outcome.word)])
    case .stretch(let stretch, let from, let to):
      meters.time("bridge_recovery_phase_seconds", to - from, [("phase", stretch.rawValue)])
    case .phase(let phase, _, let from, let to):
      meters.time("bridge_recovery_phase_seconds", to - from, [("phase", phase.rawValue)])
    case .outageEnded(let isFirst, .connected, let from, let at):
      meters.time(isFirst ? "bridge_connect_seconds" : "bridge_recovery_seconds", at - from)
    case .outageEnded(_, .failed(let kind), _, _):
      meters.count("bridge_links_given_up_total", [("outcome", kind)])
    case .retried: meters.count("bridge_operation_retries_total")
    case .lingered: meters.count("bridge_connections_lingered_total")
    case .linksUp(let count): meters.set("bridge_links_up", to: count)
    case .missed(let count): meters.count("bridge_events_missed_total", by: count)
    case .outageBegan, .outageEnded(_, .withdrawn, _, _): break
    }
  }
}
