/// Which machines a host does not reach, and when another host may have the agents there.
///
/// Only one that waits for a link knows that it waits: of a machine where no agent of this host is
/// nothing is known, and that counts as reached. It has no clock: instants are given, as times
/// since one that stays.
struct MachineReach: Sendable {
  /// A session that waits for a channel.
  struct Wait: Sendable, Hashable {
    fileprivate let number: Int
    fileprivate let machine: String
    fileprivate let since: Duration
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

  /// A session on a machine begins to wait for a channel.
  mutating func begin(on machine: String, at now: Duration) -> Wait {
    lastNumber += 1
    let round = rounds[machine] ?? 0
    let wait = Wait(
      number: lastNumber, machine: machine, since: now, round: round,
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

  /// How long this host leaves the agents of a machine to others before it takes one.
  func delay(on machine: String?, at now: Duration) -> Duration {
    guard let machine else { return .zero }
    let isLate = waits.values.contains { wait in
      wait.machine == machine && now - wait.since >= timing.reach / 10
    }
    return isLate || rounds[machine] != nil ? timing.reach / 5 : .zero
  }
}
