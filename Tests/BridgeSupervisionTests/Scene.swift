import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

/// A supervisor, a host and a clock, run by a seed on the calling thread.
final class Scene: Sendable {
  let clock = ManualClock()
  let executor: SeededExecutor
  let supervisor: Supervisor<ManualClock>
  let host: ScriptedHost
  let events = EventRecorder<RecoveryEvent>()
  let handedOver = EventRecorder<String>()

  init(
    seed: UInt64 = 1, policy: RetryPolicy = .standard,
    onOption: Supervisor<ManualClock>.OptionHandler? = nil,
    suspension: (@Sendable () -> Duration)? = nil
  ) {
    executor = SeededExecutor(seed: seed)
    host = ScriptedHost(clock: clock)
    supervisor = Supervisor(
      clock: clock, policy: policy, seed: seed, executor: executor, callbackExecutor: executor,
      onOption: onOption, suspension: suspension)
    let stream = supervisor.events()
    Task(executorPreference: executor) { [events] in
      for await event in stream { events.record(event) }
    }
  }

  /// Runs `body` with everything it starts until it returns, moving the clock as needed.
  @discardableResult
  func run<T: Sendable>(
    _ body: @escaping @Sendable () async throws -> T,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> T {
    let result = EventRecorder<Result<T, any Error>>()
    Task(executorPreference: executor) {
      do {
        result.record(.success(try await body()))
      } catch {
        result.record(.failure(error))
      }
    }
    let outcome = executor.run(moving: clock) { !result.events.isEmpty }
    #expect(outcome == .done, sourceLocation: sourceLocation)
    return try #require(result.events.first, sourceLocation: sourceLocation).get()
  }

  /// Lets `duration` pass, and everything that happens in it.
  func pass(_ duration: Duration) throws {
    let end = clock.now + duration
    try run { [clock] in try await clock.sleep(until: end) }
    #expect(executor.drain() == .done)
  }

  /// A connection to the scene's host that records what is handed over.
  func link(
    _ name: String = "a", parents: [String] = [], policy: RetryPolicy = .persistent,
    retriesFirstDial: Bool = false, liveness: LivenessPolicy? = nil,
    standby: LinkOptions.Standby = .always
  ) -> ScriptedLink {
    ScriptedLink(
      id: ConnectionID(name), host: host,
      options: LinkOptions(
        parents: parents.map { ConnectionID($0) }, policy: policy,
        retriesFirstDial: retriesFirstDial, liveness: liveness, standby: standby),
      onConnected: { [handedOver] _, generation in handedOver.record("\(name)#\(generation)") })
  }

  /// The error that is shown.
  func shown() throws -> PresentedError? {
    try run { [supervisor] in await supervisor.shown }
  }

  /// The names of the events about `source` since the beginning.
  func names(of source: String) -> [String] {
    events.events.filter { $0.source == source && $0.name != "phase" }.map(\.name)
  }

  func count(_ name: String) -> Int { events.events.count { $0.name == name } }
}
