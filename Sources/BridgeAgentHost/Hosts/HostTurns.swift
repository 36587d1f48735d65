import BridgeStore

/// When a host may take an agent that no host carries: the fewer it has, the earlier.
///
/// All hosts count from the same instant, at which the agent's lease ended, and let the number of
/// agents that a host may have grow from zero to all of them within `spread`. So one with few comes
/// before one with many, those with as many share what is there, and none has to know the others: a
/// host without agents is not seen in a store. Once `spread` is over any host takes what is left.
/// One that does not reach an agent's machine comes behind those that do.
struct HostTurns: Sendable {
  /// What other hosts call this one.
  let host: String
  private let spread: Duration
  /// When the lease of an agent ended, or will.
  private var ends: [String: Duration] = [:]
  /// When it may be this host's turn.
  private(set) var next: Duration?

  init(host: String, spread: Duration) {
    (self.host, self.spread) = (host, spread)
  }

  /// The agents whose turn it is, of those that the store has.
  ///
  /// - Parameters:
  ///   - count: how many this host carries already, or has requested.
  ///   - delay: how much later its turn at an agent comes.
  ///   - isOwn: whether an agent is among them.
  mutating func take(
    from agents: [StoredAgent], carried count: Int, at now: Duration,
    delay: (StoredAgent) -> Duration = { _ in .zero }, isOwn: (String) -> Bool
  ) -> [StoredAgent] {
    var seen: [String: Duration] = [:]
    for agent in agents { seen[agent.name] = end(of: agent, at: now) }
    ends = seen
    let others = agents.filter { !isOwn($0.name) }
    var coming = others.compactMap { agent in seen[agent.name].flatMap { $0 > now ? $0 : nil } }
    var due: [StoredAgent] = []
    for (index, free) in inOrder(others, at: now).enumerated() {
      let turn =
        free.end + spread * (Double(count + index) / Double(agents.count)) + delay(free.agent)
      if turn <= now { due.append(free.agent) } else { coming.append(turn) }
    }
    next = coming.min()
    return due
  }

  /// When the lease of an agent ended or will, as far as is known: what was released has ended when
  /// that was first seen.
  private func end(of agent: StoredAgent, at now: Duration) -> Duration {
    if let carrier = agent.carrier, carrier.remaining > .zero { return now + carrier.remaining }
    return min(now, ends[agent.name] ?? now)
  }

  /// The agents that no host carries: the first ones first, and those of one instant in an order
  /// that is another on each host, so that few hosts request one at the same time.
  private func inOrder(
    _ agents: [StoredAgent], at now: Duration
  ) -> [(agent: StoredAgent, end: Duration)] {
    agents.compactMap { agent in
      let end = ends[agent.name] ?? now
      return end > now ? nil : (agent, end, Self.place(of: agent.name, on: host))
    }
    .sorted { ($0.1, $0.2) < ($1.1, $1.2) }
    .map { ($0.0, $0.1) }
  }

  /// A number that is the same for the same names (FNV-1a, 64 bits:
  /// https://datatracker.ietf.org/doc/draft-eastlake-fnv/).
  private static func place(of agent: String, on host: String) -> UInt64 {
    "\(host)\n\(agent)".utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
