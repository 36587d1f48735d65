import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import Foundation

/// One run of `bridge-bench errors` or `bridge-bench decisions`: what our own code costs, without
/// I/O.
///
/// Each figure is the best of seven batches: the least disturbed one.
struct DecisionBench {
  private let mode: String

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count == 1, ["errors", "decisions"].contains(arguments[0]) else { return nil }
    mode = arguments[0]
  }

  func callAsFunction() async {
    if mode == "errors" { errors() } else { await decisions() }
  }

  private static let failure = SSHFailure(
    code: -43, message: "Failed getting banner", phase: .keyExchange, host: "host.example.org",
    port: 22, socket: .failed(errno: ECONNRESET))

  private func errors() {
    let failure = Self.failure
    report([
      ("construct_ns", best { SSHFailure(code: -43, message: "", host: "host").code.rawValue }),
      ("map_ns", best { AppError(sshError: failure).caseName.utf8.count }),
      (
        "map_and_banner_ns",
        best {
          let typed = failure.typed
          return TerminalBanner.render(typed.error, color: true).utf8.count
        }
      ),
      (
        "map_and_last_lines_ns",
        best {
          let typed = failure.typed
          return TerminalBanner.lastLines(typed.error, context: typed.context).count
        }
      ),
      (
        "map_and_web_banner_ns", best { WebBanner.render(AppError(sshError: failure)).utf8.count }
      ),
    ])
  }

  private func decisions() async {
    let start = ContinuousClock.now
    var generator = SeededGenerator(seed: 1)
    var progress = RetryProgress()
    let policy = RetryPolicy.persistent
    var budget = RetryBudget(at: start)
    var figures = [
      (
        "policy_step_ns",
        best {
          progress.reset()
          return policy.next(&progress, pace: .normal, using: &generator) == nil ? 0 : 1
        }
      ),
      (
        "budget_step_ns",
        best {
          _ = budget.admit(at: start)
          return budget.tokens(at: start)
        }
      ),
    ]
    var queue = SeverityQueue(capacity: 10_000)
    for number in 0..<10_000 { queue.push(Self.error(number), source: "source \(number)") }
    var number = 10_000
    figures.append(
      (
        "queue_push_pop_ns",
        best(rounds: 2_000) {
          number += 1
          queue.push(Self.error(number), source: "source \(number)")
          queue.dismiss()
          return queue.dropped
        }
      ))
    let flood = Stopwatch()
    var small = SeverityQueue()
    for number in 0..<100_000 { small.push(Self.error(number), source: "source \(number)") }
    figures += [("flood_100000_s", flood.wall), ("flood_waiting", Double(small.waiting.count))]
    let reports = await floodSupervisor()
    figures += [
      ("flood_supervisor_100000_s", reports.wall), ("flood_supervisor_cpu_s", reports.processor),
    ]
    let operations = await floodOperations()
    figures += [
      ("flood_operations_100000_s", operations.wall),
      ("flood_operations_cpu_s", operations.processor),
    ]
    figures.append(("run_success_ns", await runSuccess()))
    figures.append(("cancel_in_backoff_ms", await cancelInBackoff()))
    report(figures)
  }

  /// A hundred tasks report a thousand errors each, all at once.
  private func floodSupervisor() async -> (wall: Double, processor: Double) {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1)
    let watch = Stopwatch()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<100 {
        group.addTask {
          for number in (task * 1_000)..<((task + 1) * 1_000) {
            await supervisor.report(Self.error(number), source: "source \(number)")
          }
        }
      }
    }
    return watch.stopped
  }

  /// A hundred thousand operations fail for good, all at once, while a reader consumes the events.
  private func floodOperations() async -> (wall: Double, processor: Double) {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1)
    let events = supervisor.events()
    let reader = Task { for await _ in events {} }
    let watch = Stopwatch()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<100_000 {
        group.addTask {
          _ = try? await supervisor.run(source: "source \(number)") { () async throws -> Int in
            throw AppError.invalidURL(string: "\(number)")
          }
        }
      }
    }
    reader.cancel()
    return watch.stopped
  }

  /// What an operation costs beside itself that succeeds at once.
  private func runSuccess() async -> Double {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1)
    var least = Double.infinity
    for _ in 0..<7 {
      let begun = ContinuousClock.now
      for number in 0..<20_000 { _ = try? await supervisor.run { number } }
      least = min(least, (ContinuousClock.now - begun) / .nanoseconds(20_000))
    }
    return least
  }

  /// From the cancellation of an operation that waits for its first retry to its end.
  private func cancelInBackoff() async -> Double {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1)
    var times: [Double] = []
    for _ in 0..<20 {
      let running = Task {
        _ = try? await supervisor.run { () async throws -> Int in throw AppError.networkUnavailable
        }
      }
      try? await Task.sleep(for: .milliseconds(20))
      let begun = ContinuousClock.now
      running.cancel()
      await running.value
      times.append((ContinuousClock.now - begun) / .milliseconds(1))
    }
    return Sample(times).quantile(0.5)
  }

  private static func error(_ number: Int) -> AppError {
    switch number % 3 {
    case 0: .sshConnectionFailed(host: "host \(number)", reason: "The connection was lost.")
    case 1: .networkUnavailable
    default: .agentBusy
    }
  }

  /// Nanoseconds a call; `body` returns something that depends on what it did, so that it is done.
  private func best(rounds: Int = 20_000, _ body: () -> Int) -> Double {
    var least = Double.infinity
    var sum = 0
    for _ in 0..<7 {
      let begun = ContinuousClock.now
      for _ in 0..<rounds { sum &+= body() }
      least = min(least, (ContinuousClock.now - begun) / .nanoseconds(rounds))
    }
    return sum == .min ? 0 : least
  }
}
