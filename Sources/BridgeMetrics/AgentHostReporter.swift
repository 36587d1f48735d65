public import BridgeAgentHost
public import BridgeStore
public import Logging
public import Metrics
public import ServiceLifecycle
import BridgeErrors

/// Reports what an agent host does: as metrics, and as log lines where it is given a logger.
///
/// A group shuts the last of its services down first: a reporter stands before its host. The names
/// of the metrics are in `docs/recovery.md`; no label has the name of an agent or a host.
public struct AgentHostReporter: Service {
  private let host: AgentHost
  private let store: (any AgentStore)?
  private let outboxes: [MessageOutbox]
  private let interval: Duration
  private let clock: any Clock<Duration>
  private let logger: Logger?
  private let factory: any MetricsFactory

  /// Reports what happens once it runs.
  ///
  /// - Parameters:
  ///   - store: where the pending approvals of the host's agents are counted; nil for no count.
  ///   - outboxes: what is counted that was not delivered.
  ///   - interval: how often both are counted.
  ///   - clock: the time for that.
  ///   - logger: where changes of the host's health are logged; nil for no lines.
  ///   - factory: what makes the metrics.
  public init(
    _ host: AgentHost, approvalsIn store: (any AgentStore)? = nil,
    outboxes: [MessageOutbox] = [], every interval: Duration = .seconds(5),
    clock: any Clock<Duration> = ContinuousClock(), logger: Logger? = nil,
    metrics factory: any MetricsFactory = MetricsSystem.factory
  ) {
    self.host = host
    self.store = store
    self.outboxes = outboxes
    self.interval = interval
    self.clock = clock
    self.logger = logger
    self.factory = factory
  }

  /// Runs until a graceful shutdown or a cancellation, also where the host's run is over before.
  ///
  /// - Throws: `CancellationError` when it was canceled.
  public func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup { group in
        group.addTask { await self.reportSnapshots() }
        group.addTask { await self.count() }
        await group.next()
        group.cancelAll()
      }
    }
    try await gracefulShutdown()
  }

  // MARK: Snapshots

  private func reportSnapshots() async {
    var meters = Meters(factory)
    var last: AgentHostSnapshot?
    for await snapshot in host.snapshots() {
      AgentHostMetrics.record(snapshot, after: last, in: &meters)
      if snapshot.health != last?.health { log(snapshot) }
      last = snapshot
    }
  }

  private func log(_ snapshot: AgentHostSnapshot) {
    var metadata: Logger.Metadata = ["host": "\(PeerText.escaped(snapshot.host))"]
    switch snapshot.health {
    case .ready: logger?.info("Agent host ready", metadata: metadata)
    case .stopping: logger?.info("Agent host stopping", metadata: metadata)
    case .degraded(let reason):
      metadata["reason"] = "\(AgentHostMetrics.word(reason))"
      if reason == .storeFails, let problem = snapshot.storeProblem {
        metadata["error_type"] = "\(problem.name)"
      }
      logger?.warning("Agent host degraded", metadata: metadata)
    }
  }

  // MARK: Counting

  private func count() async {
    var meters = Meters(factory)
    repeat {
      if let store, let pending = try? await store.approvals(in: "pending") {
        let own = Set(await host.carried)
        let count = pending.filter { own.contains($0.key) }.values.reduce(0) { $0 + $1.count }
        meters.set("bridge_approvals_pending", to: count)
      }
      if !outboxes.isEmpty {
        var count = 0
        for outbox in outboxes { count += await outbox.undelivered.count }
        meters.set("bridge_outbox_messages", to: count)
      }
    } while (try? await clock.sleep(for: interval)) != nil
  }
}
