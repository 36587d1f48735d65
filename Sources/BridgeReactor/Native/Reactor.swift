package import CLibUV
import Foundation
public import BridgeTransport

/// One thread that owns one libuv loop, as a Swift executor.
///
/// Actors pinned to it run on the thread that also delivers readiness and timers, so a native call
/// and the event that asked for it need no lock and no hop. Tasks that prefer it stay on it from
/// await to await. Stop it after everything pinned to it is closed: a job enqueued later never
/// runs.
@safe public final class Reactor: SerialExecutor, TaskExecutor, PinnedExecutor, @unchecked Sendable
{
  /// What other rooms that speak libuv attach their own handles to; touch it on the loop's thread
  /// only.
  @safe package let native: UnsafeMutablePointer<uv_loop_t>

  /// One thing to run on the loop.
  @safe enum Work {
    case job(UnownedJob)
    case call(@Sendable () -> Void)
  }

  /// What crosses threads: work on its way to the loop, in the order it came.
  struct Inbox {
    var work: [Work] = []
    /// An `uv_async_send` is on its way; a second one would be wasted.
    var isWakePending = false
    var isStopping = false
  }

  let inbox = Mutex(Inbox())
  let control: LoopControl
  private let thread: LoopThread

  /// Starts a thread and its loop. `name` shows in a debugger (15 bytes at most are kept).
  public init(name: String = "bridge-reactor") {
    setThreadPoolSize
    native = .allocate(capacity: 1)
    unsafe uv_loop_init(native)
    control = unsafe LoopControl(loop: native)
    thread = LoopThread()
    control.attach(self)
    unsafe thread.start(name: name, loop: native) { [control] in control.detach() }
  }

  /// Whether the caller runs on this reactor's thread.
  public var isCurrent: Bool { thread.isCurrent }

  /// Ends the loop and frees it, after the jobs that are queued have run.
  ///
  /// Returns when the thread has left the loop. Handles that are still open are a leak of their
  /// owner's and keep the loop alive until they are closed.
  public nonisolated func stop() async {
    await withCheckedContinuation { (stopped: CheckedContinuation<Void, Never>) in
      thread.whenEnded { stopped.resume() }
      inbox.withLock { $0.isStopping = true }
      control.wake()
    }
  }

  /// Runs the work that was queued when the turn began; what that queues waits for the next turn,
  /// so that a job that re-enqueues itself cannot starve I/O.
  func drain() {
    let turn = inbox.withLock { inbox in
      inbox.isWakePending = false
      defer { inbox.work = spare }
      return inbox.work
    }
    for work in turn { run(work) }
    spare = turn
    spare.removeAll(keepingCapacity: true)
    let (isIdle, isStopping) = inbox.withLock { ($0.work.isEmpty, $0.isStopping) }
    control.keepTurning(!isIdle)
    if isIdle && isStopping { control.close() }
  }

  private func run(_ work: Work) {
    switch work {
    case .job(let job):
      unsafe job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    case .call(let body):
      body()
    }
  }

  /// The emptied array of the last turn, so that a busy loop does not allocate one a turn.
  private var spare: [Work] = []
}

/// libuv lets at most half of its pool resolve names; 16 keeps 8 for that. Read once, before the
/// first loop.
private let setThreadPoolSize: Void = {
  unsafe setenv("UV_THREADPOOL_SIZE", "16", 0)
}()
