import BridgeWaiting
package import CLibUV
import Glibc
public import BridgeTransport

/// One thread that owns one libuv loop, as a Swift executor.
///
/// Actors pinned to it run on the thread that also delivers readiness and timers, so a native call
/// and the event that asked for it need no lock and no hop. Tasks that prefer it stay on it from
/// await to await. Stop it after everything pinned to it is closed: a job enqueued later never
/// runs, and its task never ends. A debug build stops the program there.
@safe public final class Reactor: TaskExecutor, PinnedExecutor, @unchecked Sendable {
  /// What other modules that use libuv attach their own handles to; touch it on the loop's thread
  /// only, once a name was resolved there: before, it may be memory of a loop that is not made yet.
  @safe package let native: UnsafeMutablePointer<uv_loop_t>

  /// One thing to run on the loop.
  @safe enum Work {
    /// Of a task that prefers the reactor.
    case job(UnownedJob)
    /// Of an actor that is pinned to it.
    case isolated(UnownedJob)
    case call(@Sendable () -> Void)
  }

  /// The shared state of threads: work on its way to the loop, in the order it came.
  struct Inbox {
    var work: [Work] = []
    /// An `uv_async_send` is on its way; a second one would be wasted.
    var isWakePending = false
    var isStopping = false
    /// The thread runs, or is being started.
    var hasThread = false
    /// Calls on other threads whose end the loop waits for.
    var helpers = 0
    /// Whether no more work is taken.
    var hasEnded = false
    /// Called on the loop when the reactor stops.
    var stopObservers: [@Sendable () -> Void] = []
  }

  /// A turn runs at most so much before it looks at I/O again.
  private static let workPerTurn = 1024
  /// The limit on hops of tasks from function to function in one turn.
  private static let hopsPerTurn = 256

  /// For one step at a time on the loop's thread. As large as the largest read.
  package let scratch = ScratchBuffer(count: 128 << 10)

  let inbox = Mutex(Inbox())
  let control = LoopControl()
  let serial = ReactorExecutor()
  private let thread = LoopThread()

  /// What the loop has taken from the inbox and where it is in it; the emptied array goes back, so
  /// that a busy loop does not allocate one a turn.
  private var taken: [Work] = []
  private var position = 0

  /// The work that is deferred to the end of the turn, and the same while it is run.
  private var putOff: [() -> Void] = []
  private var ending: [() -> Void] = []

  /// False where descriptors had run out: then the thread runs jobs, and nothing else.
  private var hasLoop = false
  private let name: String

  /// Starts a thread and its loop. `name` shows in a debugger (15 bytes at most are kept).
  ///
  /// The loop needs four descriptors, six where it is the first of the process. Where they are not
  /// to be had, jobs run even so, every dial tries to make the loop, and fails with that shortage
  /// while it cannot. Where there is no thread, jobs wait until one can be started.
  public init(name: String = "bridge-reactor") {
    self.name = name
    native = .allocate(capacity: 1)
    serial.attach(self)
    control.attach(self)
    _ = openLoop()
    startThread()
  }

  /// Starts a thread and its loop; nil where descriptors, memory or threads have run out.
  static func complete(name: String) -> Reactor? {
    guard NativeLoop.shortage() == nil else { return nil }
    let reactor = Reactor(name: name)
    guard reactor.isRunning else {
      reactor.end()
      return nil
    }
    return reactor
  }

  private var isRunning: Bool { inbox.withLock { $0.hasThread } }

  /// Makes the loop if there is none; the `errno` of why it cannot be made. On the loop's thread.
  func openLoop() -> Int32? {
    guard !hasLoop else { return nil }
    if let shortage = unsafe NativeLoop.make(at: native) { return shortage }
    unsafe control.open(on: native)
    hasLoop = true
    return nil
  }

  /// Starts the thread, where it is not started yet.
  func startThread() {
    let isFirst = inbox.withLock { inbox in
      defer { inbox.hasThread = true }
      return !inbox.hasThread
    }
    guard isFirst else { return }
    let hasStarted = thread.start(name: name) { [self] in
      turn()
      end()
    }
    if !hasStarted { inbox.withLock { $0.hasThread = false } }
  }

  /// Whether the caller runs on this reactor's thread.
  public var isCurrent: Bool { thread.isCurrent }

  /// Ends the loop and frees it, once no work is queued and no handle is active. Not from a task
  /// that runs on this reactor.
  ///
  /// Returns when the thread has left the loop. A timer that runs, a descriptor that is watched and
  /// a call on a helper thread keep the loop alive, and work is still done, until they end.
  public nonisolated func stop() async {
    precondition(!isCurrent, "a reactor cannot wait for its own end")
    let stopObservers = inbox.withLock { inbox in
      defer { inbox.stopObservers = [] }
      return inbox.stopObservers
    }
    for notify in stopObservers { execute(notify) }
    startThread()
    guard isRunning else { return end() }
    let stopped = Promise<Void>()
    thread.whenEnded { stopped.fulfill() }
    inbox.withLock { $0.isStopping = true }
    control.wake()
    await stopped.value()
  }

  /// Has `notify` called on the loop when the reactor is stopped: for a library that is a guest on
  /// the loop and whose handles would keep it alive.
  package func atStop(_ notify: @escaping @Sendable () -> Void) {
    inbox.withLock { $0.stopObservers.append(notify) }
  }

  /// The life of the thread: until `stop` and until no work is left.
  private func turn() {
    repeat {
      if hasLoop { unsafe uv_run(native, UV_RUN_DEFAULT) } else { control.wait() }
      // `uv_run` returns when only our own handles are left. Work that came since may make others.
      drain()
    } while !isDone()
  }

  private func isDone() -> Bool {
    guard position == taken.count, putOff.isEmpty else { return false }
    return inbox.withLock { inbox in
      inbox.hasEnded = inbox.isStopping && inbox.work.isEmpty && inbox.helpers == 0
      return inbox.hasEnded
    }
  }

  private func end() {
    if hasLoop {
      control.close()
      unsafe uv_run(native, UV_RUN_DEFAULT)
    }
    // A handle that is idle but was never closed is its owner's leak: then the loop is left where
    // it is, for that owner still points into it.
    if unsafe !hasLoop || uv_loop_close(native) == 0 { unsafe native.deallocate() }
    control.detach()
  }

  /// Calls `body` when what is queued now has run, and before the loop waits for I/O: what many
  /// jobs of one turn ask for is done once for all of them. On the loop's thread.
  package func atEndOfTurn(_ body: @escaping () -> Void) {
    preconditionIsolated()
    putOff.append(body)
  }

  /// Runs the work that was queued when the turn began; what that calls for later waits for the
  /// next turn, so that work that re-enqueues itself cannot starve I/O.
  func drain() {
    if position == taken.count { take() }
    let end = min(taken.count, position + Self.workPerTurn)
    while position < end { runNext() }
    runHops()
    endTurn()
    let isEmpty = position == taken.count && putOff.isEmpty
    let (hasWork, isStopping, isHelped) = inbox.withLock {
      (!$0.work.isEmpty, $0.isStopping, $0.helpers > 0)
    }
    control.keepTurning(hasWork || !isEmpty)
    if isStopping { control.mayEnd(!isHelped) }
  }

  /// A task that goes from one function to the next is a job again, and need not look at I/O in
  /// between. Calls do wait: that is how work gives way.
  private func runHops() {
    var left = Self.hopsPerTurn
    while left > 0 {
      if position == taken.count { take() }
      guard position < taken.count, isHop(taken[position]) else { return }
      runNext()
      left -= 1
    }
  }

  func isHop(_ work: Work) -> Bool {
    switch work {
    case .job, .isolated: true
    case .call: false
    }
  }

  private func endTurn() {
    guard !putOff.isEmpty else { return }
    swap(&putOff, &ending)
    for body in ending { body() }
    ending.removeAll(keepingCapacity: true)
  }

  private func take() {
    position = 0
    // What a burst needed once is not kept forever.
    taken.removeAll(keepingCapacity: taken.capacity <= 4 * Self.workPerTurn)
    inbox.withLock { inbox in
      inbox.isWakePending = false
      swap(&inbox.work, &taken)
    }
  }

  private func runNext() {
    let work = taken[position]
    position += 1
    switch work {
    case .job(let job):
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    case .isolated(let job):
      unsafe job.runSynchronously(isolatedTo: serialExecutor, taskExecutor: asUnownedTaskExecutor())
    case .call(let body):
      body()
    }
  }
}
