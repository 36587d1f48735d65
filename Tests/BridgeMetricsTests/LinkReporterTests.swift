import BridgeDiagnostics
import BridgeErrors
import BridgeMetrics
import BridgeSupervision
import BridgeTestKit
import InMemoryTracing
import Logging
import MetricsTestKit
import ServiceLifecycle
import Testing
import Tracing

@Suite("A supervisor's links are reported", .timeLimit(.minutes(2))) struct LinkReporterTests {
  private let clock = ManualClock()
  private let metrics = TestMetrics()
  private let tracer = InMemoryTracer()
  private let sink = MemorySink()
  private let lines = EventRecorder<Logger.Level>()

  private var logger: Logger {
    Logger(label: "test") { [lines] _ in LevelHandler(lines: lines) }
  }

  /// A link that was refused once, came up, and was cut once.
  private func run(_ supervisor: Supervisor<ManualClock>) async throws {
    let host = ScriptedHost(clock: clock, latency: .zero)
    host.answerNext(.refuse)
    let id = ConnectionID("a-name-of-a-link")
    try await supervisor.add(id, to: host.endpoint, LinkOptions(liveness: nil)) {
      host.connection(id, $1, teardown: .zero)
    }
    try await moving { host.tally.open == 1 }
    _ = try await supervisor.connection(id)
    await host.cut()
    try await moving { host.tally.dials == 3 && host.tally.open == 1 }
  }

  private func moving(until condition: () async throws -> Bool) async throws {
    try await eventually {
      if try await condition() { return true }
      clock.advance(by: .milliseconds(20))
      return false
    }
  }

  @Test func dialsLossesAndRecoveriesAreCounted() async throws {
    let supervisor = Supervisor(clock: clock, seed: 1)
    let reporter = LinkReporter(
      supervisor, logger: logger, tracer: tracer, tracker: ErrorTracker(sink: sink),
      metrics: metrics)
    let group = ServiceGroup(
      configuration: .init(
        services: [
          .init(service: reporter),
          .init(
            service: SupervisorRun(supervisor),
            successTerminationBehavior: .gracefullyShutdownGroup),
        ], logger: .init(label: "test")))
    async let running: Void = group.run()
    try await run(supervisor)
    try await eventually { metrics.timers(label: "bridge_recovery_seconds").count == 1 }
    await group.triggerGracefulShutdown()
    try await running

    let outcomes = { metrics.counterTotal(label: "bridge_dial_outcomes_total", dimensions: $0) }
    #expect(metrics.counterTotal(label: "bridge_dials_total") == 3)
    #expect(outcomes([("outcome", "refused")]) == 1)
    #expect(outcomes([("outcome", "connected")]) == 2)
    #expect(
      metrics.counterTotal(
        label: "bridge_link_losses_total", dimensions: [("outcome", "linkLost")]) == 1)
    let recovery = try metrics.expectTimer("bridge_recovery_seconds")
    #expect(recovery.values.count == 1)
    #expect(try metrics.expectTimer("bridge_connect_seconds").values.count == 1)
    // It stands before the supervisor, and saw its link close.
    #expect(try metrics.expectGauge("bridge_links_up").values == [1, 0, 1, 0])
    #expect(!metrics.recorders(label: "bridge_errors_presented").isEmpty)
    for label in metrics.counters.flatMap(\.dimensions) + metrics.timers.flatMap(\.dimensions) {
      #expect(!label.1.contains("a-name-of-a-link") && !label.1.contains("host"))
    }

    let spans = tracer.finishedSpans
    #expect(
      Set(spans.map(\.operationName)).isSuperset(of: [
        "bridge.connect", "bridge.recovery", "bridge.dial", "bridge.wait",
      ]))
    #expect(tracer.activeSpans.isEmpty)
    let recoveries = spans.filter { $0.operationName == "bridge.recovery" }
    let outage = try #require(recoveries.first)
    let children = spans.filter { $0.parentSpanID == outage.spanID }
    #expect(children.contains { $0.operationName == "bridge.dial" })
    #expect(outage.attributes.get("bridge.link") == "a-name-of-a-link")
    #expect(outage.endInstant.nanosecondsSinceEpoch >= outage.startInstant.nanosecondsSinceEpoch)

    #expect(await sink.records.map(\.context).contains("link a-name-of-a-link"))
    #expect(lines.events.contains(.info) && lines.events.contains { $0 >= .warning })
  }

  /// A server that is down is dialed again and again.
  @Test func eachKindOfFailureHasOneLineInAnOutage() async throws {
    let supervisor = Supervisor(clock: clock, seed: 1)
    let reporter = LinkReporter(supervisor, logger: logger, metrics: metrics)
    let running = Task { try await reporter.run() }
    let host = ScriptedHost(clock: clock, latency: .zero)
    let id = ConnectionID("link")
    host.answer = .refuse
    try await supervisor.add(id, to: host.endpoint, LinkOptions(liveness: nil)) {
      host.connection(id, $1, teardown: .zero)
    }
    try await moving { host.tally.dials >= 5 }
    host.answer = .accept
    try await moving { lines.events.contains(.info) }
    #expect(lines.events.map { $0 >= .warning } == [true, false])
    host.answer = .refuse
    await host.cut()
    try await moving { host.tally.dials >= 11 }
    host.answer = .accept
    try await moving { lines.events.count { $0 == .info } == 2 }
    // The cut, and the refusals behind it.
    #expect(lines.events.map { $0 >= .warning } == [true, false, true, true, false])
    running.cancel()
    _ = try? await running.value
    await supervisor.shutDown()
  }

  /// Else the group would take it for a service that failed.
  @Test func aReporterOutlivesItsSupervisorUntilItIsShutDown() async throws {
    let supervisor = Supervisor(clock: clock, seed: 1)
    let reporter = LinkReporter(supervisor, metrics: metrics)
    let isOver = EventRecorder<Void>()
    let running = Task {
      defer { isOver.record(()) }
      try await reporter.run()
    }
    await supervisor.shutDown()
    try await eventually { !metrics.recorders(label: "bridge_errors_presented").isEmpty }
    #expect(isOver.events.isEmpty)
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
  }

  @Test func withoutAPlaceForThemThereAreNoLinesAndNoSpans() async throws {
    let supervisor = Supervisor(clock: clock, seed: 1)
    let reporter = LinkReporter(supervisor, metrics: metrics)
    let running = Task { try await reporter.run() }
    try await run(supervisor)
    try await eventually { metrics.counterTotal(label: "bridge_dials_total") == 3 }
    running.cancel()
    _ = try? await running.value
    await supervisor.shutDown()
  }
}

/// What a group runs until its shutdown.
private struct SupervisorRun: Service {
  let supervisor: Supervisor<ManualClock>

  init(_ supervisor: Supervisor<ManualClock>) { self.supervisor = supervisor }

  func run() async throws {
    try? await gracefulShutdown()
    await supervisor.shutDown()
  }
}

private struct LevelHandler: LogHandler {
  let lines: EventRecorder<Logger.Level>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.record(event.level) }
}
