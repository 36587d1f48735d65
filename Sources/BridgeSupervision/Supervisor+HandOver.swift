import BridgeErrors
import BridgeRecovery

// `onConnected` runs for one generation at a time, so that what came over the last one is read
// before what comes over the next. A handler that does not return when its task is canceled is
// waited for until the limit.
extension Supervisor {
  /// Calls `onConnected` for a generation, after the call for the one before it has returned.
  func handOver(_ use: Use, of id: ConnectionID) {
    uses += 1
    guard handOvers[id]?.running != nil else { return start(use, of: id) }
    handOvers[id]?.waiting.append(use)
    if handOvers[id]?.waiting.count == 1 {
      set(.handOver(id), at: now() + RecoveryDefaults.handOverLimit)
    }
  }

  private func start(_ use: Use, of id: ConnectionID) {
    let ticket = ticket()
    handOvers[id, default: HandOver()].running = ticket
    let using = Task(executorPreference: callbackExecutor) {
      await use.plan.onConnected(use.connection, use.generation)
      await self.useEnded(ticket, of: id)
    }
    guard let generation = generations[id]?[use.generation], generation.closing == nil else {
      // It ended while it waited: what had come over it can still be read.
      return using.cancel()
    }
    generations[id]?[use.generation]?.using = using
  }

  private func useEnded(_ ticket: Int, of id: ConnectionID) {
    uses -= 1
    if handOvers[id]?.running == ticket {
      handOvers[id]?.running = nil
      startNextUse(of: id)
      scheduleTimers()
    }
    finishIfEmpty()
  }

  /// The call before has returned, or has had its time.
  func startNextUse(of id: ConnectionID) {
    clear(.handOver(id))
    guard let waiting = handOvers[id]?.waiting, let next = waiting.first else {
      if handOvers[id]?.running == nil { handOvers[id] = nil }
      return
    }
    handOvers[id]?.waiting.removeFirst()
    start(next, of: id)
    if waiting.count > 1 { set(.handOver(id), at: now() + RecoveryDefaults.handOverLimit) }
  }
}
