public import BridgeAgentHost
public import ServiceLifecycle
import BridgeErrors

/// An agent host as a service: it carries agents until a shutdown is requested, and gives them up.
///
///     let links = SupervisorService(supervisor)
///     let agents = AgentHostService(host, flushing: [outbox]) { agent throws(AppError) in … }
///     try await ServiceGroup(services: [links, agents], logger: logger).run()
///
/// A service group shuts down the last of its services first, so the links stand before the agents,
/// and the order is:
///
/// 1. The work of each agent is canceled, which detaches from its session; each lease is given up
///    when its agent's work has returned, and another host takes the agent at once. A store that
///    does not answer is waited for no longer than a lease lasts: the leases end by themselves.
/// 2. What is in the outboxes is delivered, for `limit` at most, and they are closed. What has not
///    arrived then is in the store, where they have one, and goes first after a restart.
/// 3. The links are closed.
///
/// Work that does not return when it is canceled holds up all of this, and its lease is renewed
/// until it does: a group ends it with `maximumGracefulShutdownDuration`.
public struct AgentHostService: Service {
  /// What it runs.
  public let host: AgentHost
  private let outboxes: [MessageOutbox]
  private let limit: Duration
  private let clock: any Clock<Duration>
  private let carry: AgentHost.Carry

  /// `host` as a service. Agents may be added before and while it runs.
  ///
  /// - Parameters:
  ///   - outboxes: what is flushed behind the last agent, and closed: not those of single agents,
  ///     which may not write to the store any more.
  ///   - limit: how long all of them together may take to deliver what is in them.
  ///   - clock: the time for that.
  ///   - carry: the work of one agent; see `AgentHost.run`.
  public init(
    _ host: AgentHost, flushing outboxes: [MessageOutbox] = [],
    within limit: Duration = .seconds(5),
    clock: any Clock<Duration> = ContinuousClock(), carry: @escaping AgentHost.Carry
  ) {
    self.host = host
    self.outboxes = outboxes
    self.limit = limit
    self.clock = clock
    self.carry = carry
  }

  /// Runs until a graceful shutdown or a cancellation.
  ///
  /// - Throws: what the host throws, an `AppError`; `CancellationError` when it was canceled rather
  ///   than shut down: the work has returned then too, and nothing was flushed.
  public func run() async throws {
    let result = await withGracefulShutdownHandler {
      await carryAll()
    } onGracefulShutdown: { [host] in
      host.requestShutDown()
    }
    await flush()
    for outbox in outboxes { await outbox.close() }
    try Task.checkCancellation()
    try result.get()
  }

  private func carryAll() async -> Result<Void, AppError> {
    do throws(AppError) {
      return .success(try await host.run(carry))
    } catch {
      return .failure(error)
    }
  }

  private func flush() async {
    await withTaskGroup { group in
      group.addTask { [outboxes] in
        for outbox in outboxes { try? await outbox.flush() }
      }
      group.addTask { [clock, limit] in try? await clock.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
  }
}
