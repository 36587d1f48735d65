import BridgeTransport

/// The serial executor of a reactor, to which actors are pinned.
///
/// The reactor itself is the executor of tasks that prefer it. Both run on its thread, but the
/// runtime must know which of the two a job is for: a task that was run as if it were isolated
/// to an actor is queued anew at each call of an async function that is not.
@safe final class ReactorExecutor: SerialExecutor, @unchecked Sendable {
  /// Set once, by the reactor, which outlives its executor's use: actors hold it.
  private var reactor: Unmanaged<Reactor>?

  func attach(_ reactor: Reactor) {
    unsafe self.reactor = .passUnretained(reactor)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    unsafe reactor?._withUnsafeGuaranteedRef { $0.enqueue(isolated: job) }
  }

  /// Lets C callbacks on the loop's thread enter pinned actors with `assumeIsolated`.
  func checkIsolated() {
    let isCurrent = unsafe reactor?._withUnsafeGuaranteedRef { $0.isCurrent }
    precondition(isCurrent == true, "not on this reactor's thread")
  }

  func isIsolatingCurrentContext() -> Bool? {
    unsafe reactor?._withUnsafeGuaranteedRef { $0.isCurrent }
  }
}
