import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// What the simulation says of a trouble is what a real sshd behind a real network comes to.
@Suite(.timeLimit(.minutes(5))) struct AgreementTests {
  private static let id = ConnectionID("link")

  @Test(arguments: Trouble.all)
  func inTheSimulation(_ trouble: Trouble) throws {
    let clock = ManualClock()
    let executor = SeededExecutor(seed: 1)
    let host = ScriptedHost(clock: clock)
    let supervisor = Supervisor(
      clock: clock, seed: 1, executor: executor, callbackExecutor: executor)
    let events = supervisor.events()
    let told = EventRecorder<[String]>()
    Task(executorPreference: executor) {
      _ = try? await supervisor.add(
        Self.id, to: host.endpoint, LinkOptions(liveness: trouble.liveness)
      ) { host.connection(Self.id, $1) }
      told.record((try? await trouble.told(by: events) { await Self.make($0, host) }) ?? [])
    }
    #expect(executor.run(moving: clock) { !told.events.isEmpty } == .done)
    #expect(told.events.first == trouble.outcome)
  }

  @Test(arguments: Trouble.all)
  func withARealServer(_ trouble: Trouble) async throws {
    try await withServer { server, home in
      let proxy = try await FaultProxy(to: server.port)
      let endpoint = Endpoint(host: "127.0.0.1", port: proxy.port)
      let lines = await server.knownHosts.replacing(":\(server.port) ", with: ":\(proxy.port) ")
      try home.write(lines, to: "known")
      let configuration = SSHConfiguration(
        user: server.user, credentials: [.keyFile(server.identityFile)],
        hostKeys: .init(files: [home.file("known")], unknown: .refuse))
      let supervisor = Supervisor(clock: ContinuousClock(), seed: 1)
      let events = supervisor.events()
      try await supervisor.add(
        Self.id, to: endpoint, LinkOptions(liveness: trouble.liveness)
      ) { SSHConnection(to: $0, configuration: configuration) }
      let told = try await trouble.told(by: events) { try await Self.make($0, proxy, server) }
      #expect(told == trouble.outcome)
      await supervisor.shutDown()
      await proxy.stop()
    }
  }

  private static func make(_ move: Move, _ host: ScriptedHost) async {
    switch move {
    case .reset: await host.cut()
    case .dropNext: host.answerNext(.drop)
    case .goDown:
      host.answer = .refuse
      await host.cut()
    case .comeBack: if host.answer == .refuse { host.answer = .accept }
    case .freeze: for connection in host.connections { await connection.freeze() }
    case .revoke: host.answer = .rejectCredentials
    case .swapKeys: host.answer = .changeHostKey
    }
  }

  private static func make(
    _ move: Move, _ proxy: FaultProxy, _ server: SSHServer
  ) async throws {
    switch move {
    case .reset: try await proxy.inject(.reset)
    case .dropNext: try await proxy.inject(.cut(after: 100))
    case .goDown:
      try await proxy.inject(.refuse())
      try await proxy.inject(.reset)
    case .comeBack: try await proxy.heal()
    case .freeze: try await proxy.inject(.freeze())
    case .revoke: try await server.revokeIdentities()
    case .swapKeys: try await server.swapHostKeys()
    }
  }
}
