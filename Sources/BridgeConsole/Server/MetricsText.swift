import BridgeAgentHost

/// Metrics in Prometheus' text format.
struct MetricsText {
  private(set) var text = ""

  init(
    _ state: ConsoleState, _ snapshot: AgentHostSnapshot?, streams: Int, missed: Int, refused: Int
  ) {
    family("bridge_links", "gauge", "Links by state.")
    for word in ConsoleState.Link.State.allCases {
      add("bridge_links", state.links.count { $0.state == word }, ["state": word.rawValue])
    }
    family("bridge_errors_presented", "gauge", "Errors that a person sees.")
    add("bridge_errors_presented", state.problems.count)
    family("bridge_approvals_pending", "gauge", "Questions of agents that wait for a person.")
    add("bridge_approvals_pending", state.approvals.count { $0.state == "pending" })
    if let host = state.host, let snapshot { addHost(host, snapshot) }
    family("bridge_console_streams", "gauge", "Streams of events to browsers.")
    add("bridge_console_streams", streams)
    counter("bridge_console_events_missed_total", "Events that slow browsers missed.", missed)
    counter("bridge_console_tokens_refused_total", "Tokens shown that are none.", refused)
  }

  private mutating func addHost(_ host: ConsoleState.Host, _ snapshot: AgentHostSnapshot) {
    family("bridge_agents", "gauge", "Agents that this host carries, by what their work does.")
    for word in ["running", "waiting", "pausing", "ending"] {
      add("bridge_agents", host.agents.count { $0.state == word }, ["state": word])
    }
    family("bridge_agent_host_health", "gauge", "1 for the state that the host is in.")
    for word in ["ready", "degraded", "stopping"] {
      add("bridge_agent_host_health", host.health == word ? 1 : 0, ["state": word])
    }
    family("bridge_store_up", "gauge", "1 where the store answers.")
    add("bridge_store_up", snapshot.storeProblem.map { $0.end != nil } ?? true ? 1 : 0)
    counter("bridge_agent_takeovers_total", "Agents taken from hosts that died.", host.takeovers)
    counter("bridge_agent_losses_total", "Agents lost to other hosts.", host.losses)
    counter("bridge_agent_failures_total", "Failures of the work of agents.", host.failures)
  }

  private mutating func counter(_ name: String, _ help: String, _ value: Int) {
    family(name, "counter", help)
    add(name, value)
  }

  private mutating func family(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  /// Adds a value; no label has a text of a peer.
  private mutating func add(_ name: String, _ value: Int, _ labels: [String: String] = [:]) {
    let list = labels.map { "\($0)=\"\($1)\"" }.sorted().joined(separator: ",")
    text += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
  }
}
