import BridgeErrors
import BridgeReactor
import BridgeTransport

/// A connection whose whole attempt may take so long and no longer (`--timeout`), all phases and
/// prompts together.
actor TimedConnection<Inner: Connection>: Connection {
  nonisolated let inner: Inner
  nonisolated let events: AsyncStream<ConnectionEvent>
  private let sink: AsyncStream<ConnectionEvent>.Continuation
  private let limit: Duration
  /// What a deadline in a phase means, after so many seconds.
  private let whenLate: @Sendable (ConnectionPhase, Int) -> (AppError, FailureContext)
  private let clock: any Clock<Duration> & Sendable
  private nonisolated let reactor: Reactor
  private var phase = ConnectionPhase.resolve
  private var late: FailureContext?
  private var relay: Task<Void, Never>?

  /// `inner` must be pinned to `reactor`.
  init(
    _ inner: Inner, limit: Duration, clock: any Clock<Duration> & Sendable,
    on reactor: Reactor,
    whenLate: @escaping @Sendable (ConnectionPhase, Int) -> (AppError, FailureContext)
  ) {
    self.inner = inner
    self.limit = limit
    self.whenLate = whenLate
    self.clock = clock
    self.reactor = reactor
    (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.lane }
  nonisolated var endpoint: Endpoint { inner.endpoint }
  var lastFailure: FailureContext? { late ?? inner.assumeIsolated { $0.lastFailure } }
  var lastHeard: ContinuousClock.Instant? { inner.assumeIsolated { $0.lastHeard } }
  var traffic: TrafficState { get async { await inner.traffic } }

  nonisolated func probe(within deadline: Duration) async throws(AppError) -> Duration {
    try await inner.probe(within: deadline)
  }

  nonisolated func close() async { await inner.close() }

  nonisolated func connect() async throws(AppError) { try await race().get() }

  private func race() async -> Result<Void, AppError> {
    relay = Task(executorPreference: reactor) {
      for await event in self.inner.events { await self.pass(event) }
      await self.finish()
    }
    return await withTaskGroup(of: Result<Void, AppError>?.self) { group in
      group.addTask(executorPreference: reactor) { await Self.dial(self.inner) }
      group.addTask(executorPreference: reactor) { await self.wait() }
      defer { group.cancelAll() }
      guard let first = await group.next() else { return .failure(.cancelled) }
      return first ?? .failure(beLate())
    }
  }

  private static func dial(_ inner: Inner) async -> Result<Void, AppError> {
    do throws(AppError) {
      return .success(try await inner.connect())
    } catch {
      return .failure(error)
    }
  }

  private nonisolated func wait() async -> Result<Void, AppError>? {
    do {
      try await clock.sleep(for: limit)
      return nil
    } catch {
      return .failure(.cancelled)
    }
  }

  private func beLate() -> AppError {
    let (error, context) = whenLate(phase, max(1, Int((limit / .seconds(1)).rounded(.up))))
    late = context
    // Told like any failure of the dial: the end of the inner one must not be taken for the cause.
    sink.yield(.failed(error, context))
    return error
  }

  /// What comes of the cancellation of the inner one is not what happened.
  private func pass(_ event: ConnectionEvent) {
    switch event {
    case .entered(let next):
      phase = next
      sink.yield(event)
    case .connected, .closed: sink.yield(event)
    case .failed: if late == nil { sink.yield(event) }
    }
  }

  private func finish() { sink.finish() }
}
