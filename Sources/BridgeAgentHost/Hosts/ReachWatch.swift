import BridgeErrors
import BridgeWaiting

/// Knows which machines the sessions of a host's agents wait for.
final class ReachWatch: Sendable {
  private let clock: HostClock
  private let reach: Mutex<MachineReach>
  private let changes: Changes

  /// - Parameter changes: what is announced when a session begins to wait, or waits no more.
  init(_ timing: AgentHostTiming, clock: HostClock, _ changes: Changes) {
    (self.clock, self.changes) = (clock, changes)
    reach = Mutex(MachineReach(timing))
  }

  /// How long this host leaves the agents of a machine to others before it takes one.
  func delay(on machine: String?) -> Duration {
    reach.withLock { $0.delay(on: machine, at: clock.now()) }
  }

  /// What is known of them.
  var reached: MachineReach { reach.withLock { $0 } }

  /// Opens a channel for an agent's session to a machine; where that takes too long `giveUp` is
  /// called, and the caller's task is canceled in the end.
  ///
  /// - Throws: as `open`.
  func opening<Channel: Sendable>(
    for agent: String, to machine: String,
    orGivingUp giveUp: @escaping @Sendable () async -> Void,
    _ open: @escaping @Sendable () async throws(AppError) -> Channel
  ) async throws(AppError) -> Channel {
    let wait = reach.withLock { $0.begin(agent, on: machine, at: clock.now()) }
    changes.announce()
    let opened = await withTaskGroup(of: Result<Channel, AppError>?.self) { group in
      group.addTask { await Result(catching: open) }
      group.addTask { [clock, reach] in
        guard await clock.sleep(wait.limit) else { return nil }
        reach.withLock { $0.giveUp(wait) }
        await giveUp()
        return nil
      }
      var opened: Result<Channel, AppError>?
      while opened == nil, let next = await group.next() { opened = next }
      group.cancelAll()
      return opened ?? .failure(.cancelled)
    }
    let isReached = if case .success = opened { true } else { false }
    reach.withLock { $0.end(wait, isReached: isReached) }
    changes.announce()
    return try opened.get()
  }
}
