/// Which machines a host does not reach, and when another host may have the agents there.
///
/// Only one that waits for a link knows that it waits: of a machine where no agent of this host is
/// nothing is known, and that counts as reached. It has no clock: instants are given, as times
/// since one that stays.
struct MachineReach: Sendable {
  /// A session that waits for a channel.
  struct Wait: Sendable, Hashable {
    fileprivate let number: Int
    let agent: String
    let machine: String
    let since: Duration
    /// How often agents had been given up before, without an answer of the machine since.
    fileprivate let round: Int
    /// After which time the agent is to be given up.
    let limit: Duration
  }

  private let timing: AgentHostTiming
  private var waits: [Int: Wait] = [:]
  private var lastNumber = 0
  /// How often agents were given up in a row, by machine; none for one that has answered since.
  private var rounds: [String: Int] = [:]

  /// All are reached.
  init(_ timing: AgentHostTiming) { self.timing = timing }

  /// The session of an agent on a machine begins to wait for a channel.
  mutating func begin(_ agent: String, on machine: String, at now: Duration) -> Wait {
    lastNumber += 1
    let round = rounds[machine] ?? 0
    let wait = Wait(
      number: lastNumber, agent: agent, machine: machine, since: now, round: round,
      limit: timing.reach(afterRound: round))
    waits[wait.number] = wait
    return wait
  }

  /// It waits no more.
  ///
  /// - Parameter isReached: whether it has its channel.
  mutating func end(_ wait: Wait, isReached: Bool) {
    waits[wait.number] = nil
    if isReached { rounds[wait.machine] = nil }
  }

  /// Its agent is given up. Those of one machine that were are one round.
  mutating func giveUp(_ wait: Wait) {
    guard rounds[wait.machine] ?? 0 == wait.round else { return }
    rounds[wait.machine] = wait.round + 1
  }

  /// The sessions that wait, each by its agent: the one that has waited for the longest.
  var waiting: [String: Wait] {
    Dictionary(waits.values.map { ($0.agent, $0) }) { $0.number < $1.number ? $0 : $1 }
  }

  /// Whether a session has waited for longer than a link that is there takes to open a channel.
  func isLate(_ wait: Wait, at now: Duration) -> Bool {
    wait.round > 0 || now - wait.since >= timing.reach / 10
  }

  /// How long this host leaves the agents of a machine to others before it takes one.
  func delay(on machine: String?, at now: Duration) -> Duration {
    guard let machine else { return .zero }
    let hasLate = waits.values.contains { $0.machine == machine && isLate($0, at: now) }
    return hasLate || rounds[machine] != nil ? timing.reach / 5 : .zero
  }
}
