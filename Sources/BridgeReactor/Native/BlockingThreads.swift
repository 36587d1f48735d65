import BridgeTransport
import BridgeWaiting
import Dispatch
import Glibc

/// Threads for calls that block: one for each call up to a limit, started on demand and ended when
/// no call waits. Further calls wait in a queue.
///
/// Each kind of call has its own threads, so that calls of one kind that hang do not hold up the
/// others: eight open password prompts must not stop name resolution.
package final class BlockingThreads: Sendable {
  /// For the system's resolver.
  package static let names = BlockingThreads(name: "bridge-names", limit: 16)
  /// For local files, which may be on a file server.
  package static let files = BlockingThreads(name: "bridge-files", limit: 8)
  /// For prompts, which wait for a person, for agents, which may ask one, and for key derivation.
  package static let prompts = BlockingThreads(name: "bridge-prompts", limit: 256)

  private struct Job {
    let id: Int
    let run: @Sendable () -> Void
    /// Called instead of `run` when the job is canceled while it waits.
    let drop: @Sendable () -> Void
  }

  private struct State {
    var queue: [Job] = []
    var threads = 0
    var lastID = 0
  }

  private let name: String
  private let limit: Int
  private let state = Mutex(State())

  /// At most `limit` threads, each named `name` (15 bytes at most are kept).
  package init(name: String, limit: Int) {
    self.name = name
    self.limit = limit
  }

  /// How many threads run and how many calls wait, for tests and counters.
  package var load: (threads: Int, waiting: Int) {
    state.withLock { ($0.threads, $0.queue.count) }
  }

  /// Runs `work` on one of the threads. Callers bound how many of these they start.
  package func start(_ work: @escaping @Sendable () -> Void) {
    enqueue(Job(id: nextID(), run: work) {})
  }

  /// The result of `work`, run on one of the threads; nil when the task is canceled before a thread
  /// is free. Work that runs cannot be canceled.
  package func run<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result
  ) async -> Result? {
    let id = nextID()
    let result = Promise<Result?>()
    enqueue(Job(id: id, run: { result.fulfill(work()) }) { result.fulfill(nil) })
    return await result.value { self.drop(id) }
  }

  private func nextID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  private func enqueue(_ job: Job) {
    let needsThread = state.withLock { state in
      state.queue.append(job)
      guard state.threads < limit else { return false }
      state.threads += 1
      return true
    }
    guard needsThread, !DetachedThread.start(name: name, { [self] in runJobs() }) else { return }
    // The system has no thread left; the dispatch library waits until it has.
    DispatchQueue.global().async { [self] in runJobs() }
  }

  private func drop(_ id: Int) {
    let job = state.withLock { state -> Job? in
      guard let index = state.queue.firstIndex(where: { $0.id == id }) else { return nil }
      return state.queue.remove(at: index)
    }
    job?.drop()
  }

  private func runJobs() {
    while let job = nextJob() { job.run() }
  }

  private func nextJob() -> Job? {
    state.withLock { state in
      guard state.queue.isEmpty else { return state.queue.removeFirst() }
      state.threads -= 1
      return nil
    }
  }
}
