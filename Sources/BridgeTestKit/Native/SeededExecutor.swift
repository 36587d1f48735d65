public import BridgeTransport
import BridgeRecovery
import BridgeWaiting

/// Runs tasks and pinned actors one job at a time on the calling thread, in an order that a seed
/// decides: the same seed in the same build configuration gives the same run.
///
/// Start the root with `Task(executorPreference:)` and pin actors to its serial executors; jobs
/// that escape to the global pool are not part of the run.
@safe public final class SeededExecutor: TaskExecutor {
  /// How a run ended.
  public enum Outcome: Sendable, Equatable {
    /// The condition came true.
    case done
    /// No job to run and no task waits for the clock.
    case stuck
    /// It did not end within the steps it was given.
    case tooLong
  }

  @safe fileprivate struct Work: Sendable {
    var job: UnownedJob
    var serialExecutor: SeededSerialExecutor?
  }

  private struct State {
    var queue: [Work] = []
    var generator: SeededGenerator
  }

  /// What decides the order.
  public let seed: UInt64
  private let state: Mutex<State>

  /// An executor whose order is `seed`.
  public init(seed: UInt64) {
    self.seed = seed
    state = Mutex(State(generator: SeededGenerator(seed: seed)))
  }

  /// Queues a job, which `run` executes.
  public func enqueue(_ job: consuming ExecutorJob) {
    push(Work(job: UnownedJob(job), serialExecutor: nil))
  }

  /// A serial executor that shares this order: one for each actor explores more interleavings than
  /// one for all.
  public func makeSerialExecutor() -> SeededSerialExecutor {
    SeededSerialExecutor(executor: self)
  }

  /// Jobs waiting to run.
  public var backlog: Int { state.withLock { $0.queue.count } }

  /// Runs jobs, and moves `clock` to its next deadline whenever there are none, until `isDone`.
  public func run(
    moving clock: ManualClock? = nil, atMost steps: Int = 1_000_000, until isDone: () -> Bool
  ) -> Outcome {
    for _ in 0..<steps {
      if isDone() { return .done }
      if let work = pop() {
        run(work)
      } else if clock?.advanceToNext() != true {
        return .stuck
      }
    }
    return .tooLong
  }

  /// Runs what is queued and what that queues, without moving any clock.
  public func drain(atMost steps: Int = 1_000_000) -> Outcome {
    for _ in 0..<steps {
      guard let work = pop() else { return .done }
      run(work)
    }
    return .tooLong
  }

  fileprivate func push(_ work: Work) {
    state.withLock { $0.queue.append(work) }
  }

  private func pop() -> Work? {
    state.withLock { state in
      guard !state.queue.isEmpty else { return nil }
      let index = Int.random(in: state.queue.indices, using: &state.generator)
      return state.queue.remove(at: index)
    }
  }

  private func run(_ work: Work) {
    if let serialExecutor = work.serialExecutor {
      unsafe work.job.runSynchronously(
        isolatedTo: serialExecutor.serialExecutor, taskExecutor: asUnownedTaskExecutor())
    } else {
      unsafe work.job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// A serial executor on a `SeededExecutor`, for one actor.
@safe public final class SeededSerialExecutor: SerialExecutor, PinnedExecutor {
  private let executor: SeededExecutor

  fileprivate init(executor: SeededExecutor) {
    self.executor = executor
  }

  /// Takes a job in.
  public func enqueue(_ job: consuming ExecutorJob) {
    executor.push(.init(job: UnownedJob(job), serialExecutor: self))
  }

  /// This executor, for actors that pin themselves to it.
  @safe public var serialExecutor: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }
}
