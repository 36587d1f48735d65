import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeSupervision
import BridgeTerminalState
import BridgeTestKit
import BridgeTransport
import Testing

@Suite("A person looks at the screen of an agent", .timeLimit(.minutes(2)))
struct AgentScreenTests {
  /// An agent that another client carries.
  private struct World {
    let server: SessionServer
    let machine: RemoteMachine
    let session: DurableSession

    static func with(
      _ command: String, _ change: (inout SessionSpec) -> Void = { _ in },
      _ body: (World) async throws -> Void
    ) async throws {
      try await SessionServer.with { server in
        let supervisor = Supervisor(clock: ContinuousClock())
        let configuration = server.configuration
        let machine = RemoteMachine(
          "build", at: Endpoint(host: "127.0.0.1", port: server.server.port), supervisor
        ) { SSHConnection(to: $0, configuration: configuration) }
        var spec = server.spec(command)
        change(&spec)
        var own = DurableSession.Configuration(
          host: "build", starting: spec, client: ClientID.random())
        own.program = SessionServer.program
        let world = World(server: server, machine: machine, session: machine.session(own))
        let result: Result<Void, any Error>
        do { result = .success(try await body(world)) } catch { result = .failure(error) }
        await world.session.detach()
        await machine.close()
        await supervisor.shutDown()
        try result.get()
      }
    }

    /// Looks at the screen while `body` runs; returns why it was over before.
    func looking(_ body: (AgentScreen) async throws -> Void) async throws -> AppError? {
      let screen = AgentScreen(of: session, on: machine)
      let following = Task { () -> AppError? in
        do throws(AppError) {
          try await screen.follow()
          return nil
        } catch {
          return error
        }
      }
      defer { following.cancel() }
      try await body(screen)
      following.cancel()
      return await following.value
    }
  }

  private func line(_ row: Int, _ screen: AgentScreen) -> String {
    screen.current.terminal.text(ofRow: row)
  }

  private static func terminal(_ spec: inout SessionSpec) {
    (spec.terminal, spec.size) = (Array("xterm".utf8), WindowSize(columns: 33, rows: 7))
  }

  @Test func aTerminalIsSeenAsItIsAndAsItBecomes() async throws {
    let draws = #"printf 'old\033[2J\033[3;5H\033[31mhere'; read x; printf '\033[Hthen'; read x"#
    try await World.with("stty -echo; \(draws)", Self.terminal) { world in
      _ = try await world.session.attach()
      let error = try await world.looking { screen in
        try await eventually { line(2, screen) == "    here" }
        let (terminal, standing) = screen.current
        #expect((terminal.rows, terminal.columns) == (7, 33))
        #expect(terminal.runs(ofRow: 2).last?.foreground == .palette(1))
        #expect(standing == .live && line(0, screen) == "")
        try await world.session.deliver(Array("\n".utf8))
        try await eventually { line(0, screen) == "then" }
        // The agent's own client still writes.
        #expect(await world.session.role == .writer)
      }
      #expect(error == .cancelled)
    }
  }

  @Test func theEndOfWhatAProgramOnPipesPrintedIsSeen() async throws {
    let command = "seq 20000; echo 'no such file' >&2; read x; echo more; read x"
    try await World.with(command) { world in
      async let reading = Task { try await drain(world.session) }.value
      _ = try await world.looking { screen in
        try await eventually { line(38, screen) == "no such file" }
        #expect(line(37, screen) == "20000" && line(0, screen) == "19963")
        let terminal = screen.current.terminal
        #expect((terminal.rows, terminal.columns) == (40, 120))
        try await world.session.deliver(Array("\n".utf8))
        try await eventually { line(38, screen) == "more" }
        try await world.session.deliver(Array("\n".utf8))
      }
      _ = try await reading
    }
  }

  /// What was printed meanwhile is there when the link is back; that it is down is known.
  @Test func aLostLinkIsKnownAndNothingIsMissing() async throws {
    let command = "stty -echo; printf one; read x; printf two; read x"
    try await World.with(command, Self.terminal) { world in
      _ = try await world.session.attach()
      _ = try await world.looking { screen in
        try await eventually { line(0, screen) == "one" }
        let version = screen.version
        var seen: [AgentScreen.Standing] = []
        let watching = Task {
          var (version, seen) = (version, [AgentScreen.Standing]())
          while seen.last != .live || seen.count < 2 {
            try await screen.change(after: version)
            version = screen.version
            seen.append(screen.current.standing)
          }
          return seen
        }
        await world.server.server.killSessions()
        seen = try await watching.value
        #expect(seen.contains(.interrupted) && seen.last == .live)
        try await world.session.deliver(Array("\n".utf8))
        try await eventually { line(0, screen) == "onetwo" }
      }
    }
  }

  @Test func theEndOfTheProgramIsTheEndOfTheLook() async throws {
    try await World.with("printf last", Self.terminal) { world in
      _ = try await world.session.attach()
      let screen = AgentScreen(of: world.session, on: world.machine)
      try await screen.follow()
      #expect(line(0, screen) == "last")
      // Where it is gone, that is said.
      _ = try await drain(world.session)
      await world.session.close()
      let gone = AgentScreen(of: world.session, on: world.machine)
      await #expect(throws: AppError.self) { try await gone.follow() }
    }
  }
}
