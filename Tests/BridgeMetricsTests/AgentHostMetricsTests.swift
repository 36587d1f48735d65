import BridgeErrors
import MetricsTestKit
import Testing

@testable import BridgeAgentHost
@testable import BridgeMetrics

@Suite("A snapshot of an agent host becomes metrics") struct AgentHostMetricsTests {
  private let metrics = TestMetrics()

  private func snapshot(
    _ health: AgentHostHealth, takeovers: Int = 0, problem: AgentHostSnapshot.Problem? = nil
  ) -> AgentHostSnapshot {
    AgentHostSnapshot(
      host: "h", health: health, agents: [], storeProblem: problem,
      counts: .init(takeovers: takeovers, losses: 0, failures: 0))
  }

  @Test(arguments: [
    (AgentHostHealth.degraded(.storeFails), 0.0), (.degraded(.storeSilent(since: 1)), 0),
    (.degraded(.agentsPause(count: 1)), 1), (.degraded(.agentsWait(count: 1)), 1),
    (.degraded(.notRunning), 1), (.ready, 1), (.stopping, 1),
  ])
  func onlyItsStoreCanMakeAStoreBad(health: AgentHostHealth, value: Double) throws {
    var meters = Meters(metrics)
    AgentHostMetrics.record(snapshot(health), after: nil, in: &meters)
    #expect(try metrics.expectGauge("bridge_store_up").lastValue == value)
  }

  @Test func aHostThatStoppedBecauseOfItsStoreSaysThatItIsDown() throws {
    var meters = Meters(metrics)
    let problem = AgentHostSnapshot.Problem(.agentBusy, since: 1)
    AgentHostMetrics.record(snapshot(.stopping, problem: problem), after: nil, in: &meters)
    #expect(try metrics.expectGauge("bridge_store_up").lastValue == 0)
  }

  @Test func anAgentThatWaitsForItsMachineDoesNotRun() throws {
    var meters = Meters(metrics)
    var seen = snapshot(.ready)
    seen.agents = [
      .init(name: "a", fence: 1, since: 1, work: .waiting(machine: "m", since: 2)),
      .init(name: "b", fence: 1, since: 1, work: .running(since: 2)),
    ]
    AgentHostMetrics.record(seen, after: nil, in: &meters)
    for (state, count) in [("running", 1.0), ("waiting", 1), ("pausing", 0)] {
      let gauge = try metrics.expectGauge("bridge_agents", [("state", state)])
      #expect(gauge.lastValue == count)
    }
  }

  /// A snapshot has totals; a counter has what was added.
  @Test func aTotalIsCountedOnce() {
    var meters = Meters(metrics)
    let first = snapshot(.ready, takeovers: 2)
    AgentHostMetrics.record(first, after: nil, in: &meters)
    AgentHostMetrics.record(first, after: first, in: &meters)
    AgentHostMetrics.record(snapshot(.ready, takeovers: 3), after: first, in: &meters)
    #expect(metrics.counterTotal(label: "bridge_agent_takeovers_total") == 3)
  }
}
