import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeStore
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Foundation

@testable import BridgeConsole

/// A page whose host carries agents on a machine with a real sshd.
final class AgentWorld: Sendable {
  let page: ConsoleWorld
  let server: SSHServer
  private let proxy: FaultProxy
  let machine: RemoteMachine
  let supervisor = Supervisor(clock: ContinuousClock())
  /// Products are beside the test's own executable.
  private static let program = URL(
    filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  ).deletingLastPathComponent().appending(path: "bridge-host").path

  private init(_ page: ConsoleWorld) async throws {
    self.page = page
    server = try await SSHServer(SSHServerConfiguration())
    proxy = try await FaultProxy(to: server.port)
    let configuration = SSHConfiguration(
      user: server.user, credentials: [.keyFile(server.identityFile)], hostKeys: .anyKey)
    machine = RemoteMachine(
      "build", at: Endpoint(host: "127.0.0.1", port: proxy.port), supervisor
    ) { SSHConnection(to: $0, configuration: configuration) }
  }

  /// Runs `body` while an agent of this name runs `command`, on a terminal of this size or on
  /// pipes.
  static func with(
    _ page: ConsoleWorld, agent name: String, running command: String,
    on size: WindowSize? = nil, _ body: (AgentWorld) async throws -> Void
  ) async throws {
    let world = try await AgentWorld(page)
    try await page.host.add(name)
    let carry: @Sendable (CarriedAgent) async throws(AppError) -> Void = {
      agent throws(AppError) in try await world.carry(agent, command, size)
    }
    let running = Task { try await page.host.run(carry) }
    let result: Result<Void, any Error>
    do { result = .success(try await body(world)) } catch { result = .failure(error) }
    // No keeper stays.
    await world.endAll()
    running.cancel()
    _ = await running.result
    await world.machine.close()
    await world.supervisor.shutDown()
    await world.proxy.stop()
    await world.server.stop()
    try result.get()
  }

  /// The link to the machine breaks, and does not come back.
  func cut() async throws {
    try await proxy.inject(.refuse())
    try await proxy.inject(.reset)
  }

  func heal() async throws { try await proxy.heal() }

  /// Ends the programs of all agents.
  func endAll() async {
    let host = SessionHost(machine, host: "build", program: Self.program)
    for session in (try? await host.list()) ?? [] {
      _ = try? await host.kill(session.session, .kill)
    }
  }

  private func carry(
    _ agent: CarriedAgent, _ command: String, _ size: WindowSize?
  ) async throws(AppError) {
    let session = try await agent.session(on: machine, running: command) {
      $0.program = Self.program
      guard let size else { return }
      $0.start?.terminal = Array("xterm".utf8)
      $0.start?.size = size
    }
    page.console.show(session)
    for try await _ in session.session.lines() {}
    try await agent.rest()
  }
}
