import BridgeAgentHost

/// What becomes of a snapshot in metrics.
enum AgentHostMetrics {
  static func record(
    _ snapshot: AgentHostSnapshot, after last: AgentHostSnapshot?, in meters: inout Meters
  ) {
    for state in ["running", "waiting", "pausing", "ending"] {
      let count = snapshot.agents.count { word($0.work) == state }
      meters.set("bridge_agents", [("state", state)], to: count)
    }
    let (counts, before) = (snapshot.counts, last?.counts)
    let totals = [
      ("bridge_agent_takeovers_total", counts.takeovers - (before?.takeovers ?? 0)),
      ("bridge_agent_losses_total", counts.losses - (before?.losses ?? 0)),
      ("bridge_agent_failures_total", counts.failures - (before?.failures ?? 0)),
    ]
    for (name, number) in totals where number > 0 { meters.count(name, by: number) }
    for health in ["ready", "degraded", "stopping"] {
      let isSo = word(snapshot.health) == health
      meters.set("bridge_agent_host_health", [("state", health)], to: isSo ? 1 : 0)
    }
    let isStoreGood =
      switch snapshot.health {
      case .degraded(.storeFails), .degraded(.storeSilent): false
      case .ready, .degraded, .stopping: snapshot.storeProblem.map { $0.end != nil } ?? true
      }
    meters.set("bridge_store_up", to: isStoreGood ? 1 : 0)
  }

  /// The word for a reason.
  static func word(_ reason: AgentHostHealth.Reason) -> String {
    switch reason {
    case .notRunning: "notRunning"
    case .storeFails: "storeFails"
    case .storeSilent: "storeSilent"
    case .agentsPause: "agentsPause"
    case .agentsWait: "agentsWait"
    }
  }

  private static func word(_ health: AgentHostHealth) -> String {
    switch health {
    case .ready: "ready"
    case .degraded: "degraded"
    case .stopping: "stopping"
    }
  }

  private static func word(_ work: AgentHostSnapshot.Work) -> String {
    switch work {
    case .running: "running"
    case .waiting: "waiting"
    case .pausing: "pausing"
    case .ending: "ending"
    }
  }
}
