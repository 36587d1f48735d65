import BridgeWaiting

extension Reactor {
  /// The loop's thread, for actors that pin themselves to it.
  @safe public var serialExecutor: UnownedSerialExecutor {
    unsafe serial.asUnownedSerialExecutor()
  }

  /// Queues `job` for the next turn of the loop; wakes the loop only when it may be asleep.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    enqueue(.job(job))
  }

  func enqueue(isolated job: UnownedJob) { enqueue(.isolated(job)) }

  /// Runs `body` on the loop, in a later turn. From any thread; in order for each sender.
  public func execute(_ body: @escaping @Sendable () -> Void) {
    enqueue(.call(body))
  }

  private func enqueue(_ work: Work) {
    let isOnLoop = isCurrent
    let (mustWake, mustStart, isDropped) = inbox.withLock { inbox in
      // No thread would run it, and what it holds would never be released.
      if inbox.hasEnded { return (false, false, true) }
      inbox.work.append(work)
      if isOnLoop || inbox.isWakePending { return (false, !inbox.hasThread, false) }
      inbox.isWakePending = true
      return (true, !inbox.hasThread, false)
    }
    assert(!(isDropped && isHop(work)), "a task was resumed on a reactor that has stopped")
    if mustWake { control.wake() }
    if mustStart { startThread() }
  }

  /// Stops the program where the caller does not run on the loop's thread.
  package func preconditionIsolated() {
    precondition(isCurrent, "not on this reactor's thread")
  }
}
