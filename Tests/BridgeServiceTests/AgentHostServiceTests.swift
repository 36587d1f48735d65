import BridgeAgentHost
import BridgeErrors
import BridgeService
import BridgeStore
import BridgeStoreSQLite
import BridgeSupervision
import BridgeTestKit
import BridgeWaiting
import Foundation
import Logging
import ServiceLifecycle
import Testing

@Suite("An agent host stands in a service group", .timeLimit(.minutes(2)))
final class AgentHostServiceTests {
  private static let session = StoreChange.session(StoredSession(machine: "m", session: "s"))

  private let clock = ManualClock()
  /// The time that the service has to flush.
  private let flushing = ManualClock()
  private let begun = Latch()
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "bridge-service-\(UUID())")
  private let store: SQLiteStore
  private let host: AgentHost

  init() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try await SQLiteStore(at: folder.appending(path: "state.db").path)
    // A busy machine would lose a short lease, and give nothing up.
    host = AgentHost("one", sharing: store, timing: .init(lasting: .seconds(3600)))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func service(flushing outboxes: [MessageOutbox] = []) -> AgentHostService {
    AgentHostService(host, flushing: outboxes, within: .seconds(5), clock: flushing) {
      [begun] _ throws(AppError) in
      begun.open()
      await Latch().wait()
      throw .cancelled
    }
  }

  private func group(_ services: any Service...) -> ServiceGroup {
    ServiceGroup(
      configuration: .init(
        services: services.map {
          .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
        }, logger: .init(label: "test")))
  }

  /// The link is to a host of a test, and up.
  private func links(to remote: ScriptedHost) async throws -> SupervisorService<ManualClock> {
    let supervisor = Supervisor(clock: clock, seed: 1)
    let id = ConnectionID("link")
    try await supervisor.add(id, to: remote.endpoint, LinkOptions(liveness: nil)) {
      remote.connection(id, $1, teardown: .zero)
    }
    _ = try await supervisor.connection(id)
    return SupervisorService(supervisor)
  }

  @Test func agentsAreGivenUpThenMessagesAreFlushedThenLinksClose() async throws {
    let remote = ScriptedHost(clock: clock, latency: .zero)
    let outbox = MessageOutbox()
    let delivering = Task { try await outbox.deliver("hello") }
    try await eventually { await outbox.undelivered.count == 1 }
    let group = group(try await links(to: remote), service(flushing: [outbox]))
    try await host.add("a", Self.session)
    async let running: Void = group.run()
    await begun.wait()
    await group.triggerGracefulShutdown()
    // No connection carries the message: it is waited for.
    await flushing.sleepers(atLeast: 1)
    #expect(try await store.agents().map(\.carrier) == [nil])
    #expect(remote.tally.open == 1)
    flushing.advance(by: .seconds(5))
    try await running
    #expect(remote.tally.open == 0)
    await #expect(throws: AppError.cancelled) { try await delivering.value }
    await store.close()
  }

  @Test func anOutboxThatIsEmptyHoldsUpNothing() async throws {
    let outbox = MessageOutbox()
    let group = group(service(flushing: [outbox]))
    try await host.add("a", Self.session)
    async let running: Void = group.run()
    await begun.wait()
    await group.triggerGracefulShutdown()
    try await running
    await #expect(throws: AppError.cancelled) { try await outbox.deliver("late") }
    await store.close()
  }

  @Test func aCancelledServiceEndsItsWorkAndFlushesNothing() async throws {
    let outbox = MessageOutbox()
    let delivering = Task { try await outbox.deliver("hello") }
    try await eventually { await outbox.undelivered.count == 1 }
    let running = Task { [service = service(flushing: [outbox])] in try await service.run() }
    try await host.add("a", Self.session)
    await begun.wait()
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(await host.health == .stopping)
    await #expect(throws: AppError.cancelled) { try await delivering.value }
    await store.close()
  }

  @Test func aStoreThatCannotBeUsedAnyMoreEndsTheGroupWithItsError() async throws {
    await store.close()
    await #expect(throws: AppError.cancelled) { try await self.group(self.service()).run() }
  }
}
