import BridgeTransport
import BridgeWaiting
import Dispatch

/// The thread on which supervisors decide where no other executor is given.
///
/// An application that computes on the global pool keeps everything there waiting, and a supervisor
/// that looks late does not know whether the peer or this process was silent. All supervisors share
/// this thread: what runs on it is short and never blocks. It lives as long as the process.
@safe final class SupervisionThread: TaskExecutor, @unchecked Sendable {
  static let shared = SupervisionThread()

  private let jobs = Mutex([UnownedJob]())
  private let arrived = DispatchSemaphore(value: 0)

  private init() {
    if DetachedThread.start(name: "bridge-super", { [self] in run() }) { return }
    // No thread is left: one of the global pool takes its place.
    DispatchQueue.global().async { [self] in run() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrived.signal()
  }

  private func run() {
    while true {
      arrived.wait()
      let next = jobs.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      for job in next { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
