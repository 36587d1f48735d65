import BridgeAgentHost
import BridgeErrors
import BridgeMetrics
import BridgeStore
import BridgeStoreSQLite
import BridgeTestKit
import BridgeWaiting
import Foundation
import MetricsTestKit
import Testing

@Suite("An agent host is reported", .timeLimit(.minutes(2))) final class AgentHostReporterTests {
  private static let changes: [StoreChange] = [
    .session(StoredSession(machine: "m", session: "s")),
    .approval(StoredApproval(id: "1", state: "pending", record: StoredValue(bytes: []))),
    .approval(StoredApproval(id: "2", state: "pending", record: StoredValue(bytes: []))),
    .approval(StoredApproval(id: "3", state: "decided", record: StoredValue(bytes: []))),
  ]

  private let metrics = TestMetrics()
  private let clock = ManualClock()
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "bridge-metrics-\(UUID())")
  private let store: SQLiteStore

  init() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try await SQLiteStore(at: folder.appending(path: "state.db").path)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func last(_ name: String, _ state: String? = nil) -> Double? {
    metrics.recorders(label: name, dimensions: state.map { [("state", $0)] } ?? []).first?.lastValue
  }

  /// An agent whose host has died, and one of another host that lives.
  private func addAgents() async throws {
    let dead = try await store.acquire("a", for: "dead", lasting: .zero)
    try await store.write(Self.changes, under: dead)
    let other = try await store.acquire("b", for: "other", lasting: .seconds(3600))
    try await store.write(Self.changes, under: other)
  }

  @Test func agentsTakeoversAndPendingApprovalsAreReported() async throws {
    try await addAgents()
    let outbox = MessageOutbox()
    let delivering = Task { try await outbox.deliver("hello") }
    try await eventually { await outbox.undelivered.count == 1 }
    let host = AgentHost("a-name-of-a-host", sharing: store)
    let reporter = AgentHostReporter(
      host, approvalsIn: store, outboxes: [outbox], every: .seconds(1), clock: clock,
      metrics: metrics)
    let reporting = Task { try await reporter.run() }
    try await eventually { self.last("bridge_agent_host_health", "degraded") == 1 }
    let fails = Latch()
    let running = Task {
      try await host.run { _ throws(AppError) in
        await fails.wait()
        throw .agentBusy
      }
    }
    try await eventually { self.last("bridge_agents", "running") == 1 }
    #expect(metrics.counterTotal(label: "bridge_agent_takeovers_total") == 1)
    #expect(last("bridge_store_up") == 1)
    // Those of the other host are its own to report.
    try await eventually {
      clock.advance(by: .seconds(1))
      return self.last("bridge_approvals_pending") == 2
    }
    #expect(last("bridge_outbox_messages") == 1)
    fails.open()
    try await eventually { self.last("bridge_agents", "pausing") == 1 }
    try await eventually { metrics.counterTotal(label: "bridge_agent_failures_total") > 0 }
    host.requestShutDown()
    try await running.value
    try await eventually { self.last("bridge_agent_host_health", "stopping") == 1 }
    #expect(last("bridge_agents", "running") == 0)
    let labels = metrics.recorders.flatMap(\.dimensions) + metrics.counters.flatMap(\.dimensions)
    #expect(labels.allSatisfy { $0.0 == "state" && !$0.1.contains("name") })
    reporting.cancel()
    await #expect(throws: CancellationError.self) { try await reporting.value }
    await outbox.close()
    _ = try? await delivering.value
    await store.close()
  }

  /// What cannot be counted is not reported as none.
  @Test func ofAStoreThatIsClosedNoApprovalsAreReported() async throws {
    try await addAgents()
    await store.close()
    let host = AgentHost("one", sharing: store)
    let reporter = AgentHostReporter(host, approvalsIn: store, clock: clock, metrics: metrics)
    let reporting = Task { try await reporter.run() }
    _ = try? await host.run { _ throws(AppError) in }
    try await eventually { self.last("bridge_agent_host_health", "stopping") == 1 }
    #expect(last("bridge_approvals_pending") == nil)
    reporting.cancel()
    _ = try? await reporting.value
  }
}
