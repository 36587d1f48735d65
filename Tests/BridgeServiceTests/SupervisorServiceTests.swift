import BridgeErrors
import BridgeService
import BridgeSupervision
import BridgeTestKit
import Logging
import ServiceLifecycle
import Testing

@Suite(.timeLimit(.minutes(5))) struct SupervisorServiceTests {
  private let clock = ManualClock()
  private let ended = EventRecorder<Bool>()

  /// A supervisor with one connection that is up.
  private func supervisor(to host: ScriptedHost) async throws -> Supervisor<ManualClock> {
    let supervisor = Supervisor(clock: clock, seed: 1)
    let id = ConnectionID("a")
    try await supervisor.add(id, to: host.endpoint, LinkOptions(liveness: nil)) {
      host.connection(id, $1, teardown: .zero)
    }
    _ = try await supervisor.connection(id)
    return supervisor
  }

  @Test func aGracefulShutdownClosesEveryConnectionAndReturns() async throws {
    let host = ScriptedHost(clock: clock, latency: .zero)
    let service = SupervisorService(try await supervisor(to: host))
    #expect(host.tally.open == 1)
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
        logger: .init(label: "test")))
    async let running: Void = group.run()
    await group.triggerGracefulShutdown()
    try await running
    #expect(host.tally.open == 0)
  }

  @Test func aCancelledServiceSaysSo() async throws {
    let host = ScriptedHost(clock: clock, latency: .zero)
    let service = SupervisorService(try await supervisor(to: host))
    let running = Task { try await service.run() }
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
  }
}
