import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeSupervision
import BridgeTransport
import Testing

@Suite("A machine has as many connections as its server requires", .timeLimit(.minutes(2)))
struct MachineTests {
  private func machine(
    _ server: SessionServer, _ supervisor: Supervisor<ContinuousClock>, most: Int = 32
  ) -> RemoteMachine {
    let configuration = server.configuration
    return RemoteMachine(
      "build", at: Endpoint(host: "127.0.0.1", port: server.server.port), supervisor, most: most
    ) { SSHConnection(to: $0, configuration: configuration) }
  }

  private func start(
    _ command: String, on machine: RemoteMachine, of server: SessionServer
  ) -> DurableSession {
    var configuration = DurableSession.Configuration(
      host: "build", starting: server.spec(command), client: ClientID.random())
    configuration.program = SessionServer.program
    return machine.session(configuration)
  }

  /// Seven agents where two fit on a connection; all links are lost, and all go on.
  @Test func moreSessionsThanAConnectionMayHaveAllRun() async throws {
    try await SessionServer.with(maxSessions: 2) { server in
      let supervisor = Supervisor(clock: ContinuousClock())
      let machine = machine(server, supervisor)
      let sessions = (0..<7).map { number in
        start("read line; echo $line \(number); exit \(number)", on: machine, of: server)
      }
      await withTaskGroup { group in
        for session in sessions {
          group.addTask { await #expect(throws: Never.self) { _ = try await session.attach() } }
        }
      }
      #expect(await machine.connectionCount == 4)
      await server.server.killSessions()
      for session in sessions { try await session.deliver(Array("hello\n".utf8)) }
      for (number, session) in sessions.enumerated() {
        var lines: [String] = []
        for try await line in session.lines() { lines.append(line.text ?? "gap") }
        #expect(lines == ["hello \(number)"])
        #expect(try await session.exitStatus() == .exited(status: UInt8(number)))
        await session.close()
      }
      await machine.close()
      await supervisor.shutDown()
    }
  }

  /// There are no more places than connections may be: the third waits for one.
  @Test func aSessionWithoutAPlaceWaitsForOne() async throws {
    try await SessionServer.with(maxSessions: 1) { server in
      let supervisor = Supervisor(clock: ContinuousClock())
      let machine = machine(server, supervisor, most: 2)
      let first = (0..<2).map { _ in start("read line", on: machine, of: server) }
      for session in first { _ = try await session.attach() }
      let third = start("echo here", on: machine, of: server)
      let attaching = Task { try await third.attach() }
      try await ContinuousClock().sleep(for: .milliseconds(300))
      #expect(await !third.isAttached)
      try await first[0].deliver(Array("\n".utf8))
      _ = try await first[0].exitStatus()
      await first[0].close()
      _ = try await attaching.value
      #expect(await machine.connectionCount == 2)
      await third.close()
      await first[1].close()
      await machine.close()
      await supervisor.shutDown()
    }
  }

  @Test func aClosedMachineOpensNothing() async throws {
    try await SessionServer.with { server in
      let supervisor = Supervisor(clock: ContinuousClock())
      let machine = machine(server, supervisor)
      await machine.close()
      let session = start("true", on: machine, of: server)
      #expect(await failure { try await session.attach() } == .cancelled)
      await supervisor.shutDown()
    }
  }
}
