public import BridgeDiagnostics
public import BridgeSupervision
public import Logging
public import Metrics
public import ServiceLifecycle
public import Tracing
import BridgeErrors
import BridgeRecovery

/// Reports what a supervisor's links do: as metrics, and as log lines, spans and records of errors
/// where it is given a place for them.
///
///     let reporter = LinkReporter(supervisor, logger: logger)
///     try await supervisor.add("chat", …)
///     let services: [any Service] = [reporter, SupervisorService(supervisor)]
///
/// A group shuts the last of its services down first: a reporter that stands before the supervisor
/// sees its links close. The names of the metrics are in `docs/recovery.md`. No label has the name
/// of a link, a host, or the text of an error; spans and log lines have.
public struct LinkReporter: Service {
  private let events: any AsyncSequence<RecoveryEvent, Never> & Sendable
  private let presented: @Sendable () async -> PresentedErrors
  private let dropped: @Sendable () async -> Int
  private let log: ErrorLog?
  private let tracer: (any Tracer)?
  private let tracker: ErrorTracker?
  private let factory: any MetricsFactory

  /// Reports what happens from now on, once it runs: it is made before the first link is added.
  ///
  /// - Parameters:
  ///   - logger: where failures and recoveries are logged; nil for no lines.
  ///   - tracer: what begins the spans of a recovery and of the phases of a dial; nil for none.
  ///   - tracker: what keeps the errors of links; nil for none.
  ///   - factory: what makes the metrics.
  public init<C: Clock>(
    _ supervisor: Supervisor<C>, logger: Logger? = nil, tracer: (any Tracer)? = nil,
    tracker: ErrorTracker? = nil, metrics factory: any MetricsFactory = MetricsSystem.factory
  ) where C.Duration == Duration {
    events = supervisor.events()
    presented = { await supervisor.presented() }
    dropped = { await supervisor.dropped }
    log = logger.map { ErrorLog(logger: $0) }
    (self.tracer, self.tracker, self.factory) = (tracer, tracker, factory)
  }

  /// Runs until a graceful shutdown or a cancellation, also where the supervisor is gone before.
  ///
  /// What the links of a supervisor did as it was shut down is reported first.
  /// - Throws: `CancellationError` when it was canceled.
  public func run() async throws {
    await withTaskGroup { group in
      group.addTask { await self.reportAll() }
      group.addTask {
        try? await gracefulShutdown()
        // The events of a supervisor that is gone have an end; those of another go on.
        try? await ContinuousClock().sleep(for: Self.lastEvents)
      }
      await group.next()
      group.cancelAll()
    }
    try await gracefulShutdown()
  }

  /// How long events are read at most behind a shutdown.
  private static let lastEvents = Duration.milliseconds(500)

  private func reportAll() async {
    await withTaskGroup { group in
      group.addTask { await self.reportEvents() }
      group.addTask { await self.reportQueue() }
    }
  }

  // MARK: Events

  private func reportEvents() async {
    var course = RecoveryCourse()
    var meters = Meters(factory)
    var logged = LoggedFailures()
    var spans = tracer.map {
      RecoverySpans($0, now: ContinuousClock.now, time: DefaultTracerClock.now)
    }
    for await event in events {
      let link = event.source ?? ""
      for fact in course.see(event) {
        LinkMetrics.record(fact, in: &meters)
        spans?.record(fact, of: link)
      }
      await report(event.step, of: link, &logged)
    }
    spans?.endAll()
  }

  /// Logs a step and keeps its error.
  private func report(
    _ step: RecoveryEvent.Step, of link: String, _ logged: inout LoggedFailures
  ) async {
    switch step {
    case .failed(let failure):
      await tracker?.trackError(failure.error, context: "link \(link)")
      guard logged.isNew(failure.error, failure.context, of: link) else { return }
      var metadata = ["link": link]
      if let context = failure.context {
        metadata["kind"] = "\(context.kind)"
        metadata["phase"] = context.phase.rawValue
      }
      log?.record(failure.error, metadata: metadata)
    case .gaveUp(let failure, _):
      log?.record(failure.error, metadata: ["link": link, "retry": "none"])
    case .recovered(let time, let attempts, let isFirst):
      logged.end(link)
      log?.logger.info(
        isFirst ? "Link up" : "Link recovered",
        metadata: [
          "link": "\(PeerText.escaped(link))", "attempts": "\(attempts)", "after": "\(time)",
        ])
    case .missed(let count):
      log?.logger.warning("Events of links were missed", metadata: ["count": "\(count)"])
    case .closed: logged.end(link)
    case .attempted, .entered, .becameHealthy, .classified, .waiting, .suspended, .resumed,
      .suspected, .cleared, .switched, .surfaced, .withdrawn, .lingered, .changed:
      break
    }
  }

  // MARK: The queue

  private func reportQueue() async {
    var meters = Meters(factory)
    var before = 0
    for await errors in await presented() {
      meters.set("bridge_errors_presented", to: errors.count)
      let now = await dropped()
      if now > before { meters.count("bridge_errors_dropped_total", by: now - before) }
      before = max(before, now)
    }
  }
}
