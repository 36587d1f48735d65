import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSession
import BridgeSessionProtocol
import BridgeStore
import BridgeStoreSQLite
import BridgeTestKit
import BridgeWaiting
import BridgeWebSocket
import Foundation
import Testing

@Suite("An agent's session goes on where its store says", .timeLimit(.minutes(2)))
struct CarriedSessionTests {
  /// The application at the other end of an outbox: acknowledges as many messages as it is let.
  private actor Chat {
    let peer: ScriptedWebSocketPeer
    private(set) var messages: [OutboxMessage] = []
    private var acknowledged: Set<String> = []
    private var read = 0

    init(_ peer: ScriptedWebSocketPeer) { self.peer = peer }

    /// Takes what has come.
    func take(acknowledging most: Int = .max) async {
      let events = await peer.log
      let new = events.dropFirst(read)
      read = events.count
      for event in new {
        guard case .text(let text) = event.kind,
          let message = try? JSONDecoder().decode(OutboxMessage.self, from: Data(text.utf8))
        else { continue }
        messages.append(message)
        guard acknowledged.contains(message.id) || acknowledged.count < most else { continue }
        acknowledged.insert(message.id)
        await peer.send(RawFrame(Array(#"{"ack":"\#(message.id)"}"#.utf8)))
      }
    }

    func acknowledgeAll() async {
      for message in messages {
        await peer.send(RawFrame(Array(#"{"ack":"\#(message.id)"}"#.utf8)))
      }
    }

    var texts: [String] { messages.map(\.text) }
  }

  /// What all lives of an application share.
  private final class World: Sendable {
    let hosts: NamedHosts
    let machine: RemoteMachine
    let store: SQLiteStore
    let chat: Chat
    let failures = Mutex([AppError]())

    private init(_ hosts: NamedHosts, _ peer: ScriptedWebSocketPeer) async throws {
      self.hosts = hosts
      machine = try await hosts.machine("build")
      store = try await SQLiteStore(at: hosts.file("state.db"))
      chat = Chat(peer)
    }

    static func with(_ body: (World) async throws -> Void) async throws {
      try await NamedHosts.with { hosts in
        let peer = try await ScriptedWebSocketPeer(WebSocketScript())
        let world = try await World(hosts, peer)
        let result: Result<Void, any Error>
        do { result = .success(try await body(world)) } catch { result = .failure(error) }
        await world.store.close()
        await world.machine.close()
        await peer.stop()
        try result.get()
      }
    }

    /// One life of the application, which carries the agents of the store, and ends after `body`.
    func live(
      _ carry: @escaping @Sendable (CarriedAgent, MessageOutbox) async throws(AppError) -> Void,
      _ body: (AgentHost) async throws -> Void
    ) async throws {
      let outbox = MessageOutbox(proof: .acknowledgement)
      let url = try WebSocketEndpoint("ws://127.0.0.1:\(chat.peer.port)/")
      let carrying = Task {
        while !Task.isCancelled {
          let connection = WebSocketConnection(to: url)
          guard (try? await connection.connect()) != nil else { continue }
          await outbox.carry(over: connection)
          await connection.close()
        }
      }
      // No load of the machine ends its leases.
      let timing = AgentHostTiming(lasting: .seconds(3600))
      let host = AgentHost("host", sharing: store, timing: timing) { [failures] failure in
        failures.withLock { $0.append(failure.error) }
      }
      async let running: Void = host.run { agent throws(AppError) in try await carry(agent, outbox)
      }
      let result: Result<Void, any Error>
      do { result = .success(try await body(host)) } catch { result = .failure(error) }
      host.requestShutDown()
      try await running
      carrying.cancel()
      await carrying.value
      await outbox.close()
      try result.get()
    }

    /// All output below is in the store as having arrived.
    var committed: UInt64? {
      get async throws {
        let resume = try await store.state(of: "a").session?.resume
        return try resume?.decoded(as: LinePoint.self).output.received
      }
    }

    var isOver: Bool {
      get async throws { try await store.state(of: "a").commits["session.end"] != nil }
    }

    func session(
      _ agent: CarriedAgent, running command: String
    ) async throws(AppError) -> CarriedSession {
      try await agent.session(on: machine, running: command) { $0.program = SessionServer.program }
    }

    func text(_ name: String) -> String {
      (try? String(contentsOfFile: hosts.file(name), encoding: .utf8)) ?? ""
    }
  }

  private static let count = 200
  private static let lines = (1...count).map { "line \($0)" }

  /// Prints its lines and ends, and leaves a line for each start.
  private func program(_ world: World) -> String {
    "echo started >> '\(world.hosts.file("starts"))'; seq -f 'line %g' \(Self.count); exit 7"
  }

  private func work(
    _ world: World
  ) -> @Sendable (CarriedAgent, MessageOutbox) async throws(AppError) -> Void {
    let program = program(world)
    return { agent, outbox throws(AppError) in
      let session = try await world.session(agent, running: program)
      try await session.deliver(through: outbox) { line in
        line.text
      } last: { end in
        "\(end)"
      }
    }
  }

  @Test func aRestartGoesOnBehindWhatHadArrived() async throws {
    try await World.with { world in
      try await world.live(work(world)) { host in
        try await host.add("a")
        try await eventually {
          await world.chat.take(acknowledging: 60)
          return try await world.committed == 51 * 8 + 9 * 7
        }
      }
      let before = await world.chat.texts.count
      try await world.live(work(world)) { _ in
        try await eventually {
          await world.chat.take()
          return try await world.isOver
        }
      }
      check(await world.chat.messages, secondLifeFrom: before)
      #expect(world.text("starts") == "started\n")
      #expect(world.failures.withLock { $0 }.isEmpty)
    }
  }

  private func check(_ messages: [OutboxMessage], secondLifeFrom start: Int) {
    let second = messages[start...].map { $0.text }
    #expect(second == Self.lines[60...] + ["exited(status: 7)"])
    // What came twice has the same id.
    var ids: [String: Set<String>] = [:]
    for message in messages { ids[message.text, default: []].insert(message.id) }
    #expect(ids.count == Self.count + 1 && ids.values.allSatisfy { $0.count == 1 })
  }

  @Test func anAgentThatIsOverIsNotStartedAgainAndItsEndStaysInTheStore() async throws {
    try await World.with { world in
      try await world.live(work(world)) { host in
        try await host.add("a")
        try await eventually {
          await world.chat.take()
          return try await world.isOver
        }
        // Its session was removed.
        try await eventually { world.hosts.server.names.isEmpty }
      }
      // It is closed: no host renews a lease for it, or begins its work again.
      let state = try await world.store.state(of: "a")
      #expect(state.isClosed)
      #expect(try state.commits["session.end"]?.decoded(as: ProgramEnd.self) == .exited(status: 7))
      #expect(try await world.store.agents().map { $0.carrier?.lease } == [nil])
      let count = await world.chat.messages.count
      let begun = Mutex(0)
      try await world.live { _, _ throws(AppError) in
        begun.withLock { $0 += 1 }
      } _: { host in
        await #expect(throws: AppError.self) { try await host.add("a") }
      }
      #expect(begun.withLock { $0 } == 0)
      #expect(await world.chat.messages.count == count)
      #expect(world.text("starts") == "started\n")
    }
  }

  /// The application was killed between the two.
  @Test func anAgentWhoseEndIsStoredIsOnlyClosed() async throws {
    try await World.with { world in
      let lease = try await world.store.acquire("a", for: "earlier", lasting: .seconds(600))
      let end = try StoredValue(encoding: ProgramEnd.exited(status: 3))
      try await world.store.write([.commit(effect: "session.end", point: end)], under: lease)
      try await world.store.write(
        [.session(StoredSession(machine: "build", session: "\(SessionID.random())"))], under: lease)
      try await world.store.release(lease)
      try await world.live(work(world)) { _ in
        try await eventually { try await world.store.state(of: "a").isClosed }
      }
      #expect(world.text("starts").isEmpty && world.failures.withLock(\.isEmpty))
      #expect(await world.chat.messages.isEmpty)
    }
  }

  /// Its host has removed it, or lost its disk: to run the program twice would be worse.
  @Test func aSessionThatWasStartedAndIsGoneIsNotStartedAgain() async throws {
    try await World.with { world in
      let point = LinePoint(output: ResumePoint(epoch: 7, received: 0))
      let stored = StoredSession(
        machine: "build", session: "\(Identifier.fresh())", resume: try StoredValue(encoding: point)
      )
      try await world.live(work(world)) { host in
        try await host.add("a", .session(stored))
        try await eventually { world.failures.withLock { !$0.isEmpty } }
      }
      #expect(world.failures.withLock { $0.first?.caseName } == "durableSessionNotFound")
      #expect(world.text("starts").isEmpty)
    }
  }

  /// Asks, and writes down what it reads.
  private func asker(_ world: World) -> String {
    """
    read -r first; echo "$first" >> '\(world.hosts.file("input"))'
    echo '{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s",\
    "toolCall":{"toolCallId":"1","title":"Run ls?"},\
    "options":[{"optionId":"yes","name":"Allow","kind":"allow_once"}]}}'
    read -r answer; echo "$answer" >> '\(world.hosts.file("input"))'
    timeout 0.5 cat >> '\(world.hosts.file("input"))'; exit 0
    """
  }

  @Test func whatTheProgramReadsIsWrittenOnceOverRestarts() async throws {
    try await World.with { world in
      let program = asker(world)
      let all = Mutex([Approvals]())
      let work: @Sendable (CarriedAgent, MessageOutbox) async throws(AppError) -> Void = {
        agent, outbox throws(AppError) in
        let approvals = try Approvals(of: agent)
        all.withLock { $0.append(approvals) }
        let adapter = ApprovalAdapter(agent: agent.name, dialect: .acp)
        let session = try await world.session(agent, running: program)
        try await session.deliver(
          through: outbox, input: Array("begin\n".utf8), answering: approvals
        ) { line throws(AppError) in
          try await adapter.take(line, to: approvals)?.request.title ?? line.text
        }
      }
      try await world.live(work) { host in
        try await host.add("a")
        try await eventually {
          await world.chat.take(acknowledging: 0)
          return await world.chat.texts.contains("Run ls?")
        }
      }
      try await world.live(work) { _ in
        try await eventually { all.withLock { $0.count } == 2 }
        let approvals = try #require(all.withLock { $0.last })
        let question = try #require(await approvals.pending.first).id
        let first = try await approvals.decide(question, option: "yes", by: "ada")
        let second = try await approvals.decide(question, option: "yes", by: "bob")
        #expect(first.text == "Decided: Allow" && second.text == "Already decided: Allow (ada)")
        try await eventually {
          await world.chat.take()
          return try await world.isOver
        }
        #expect(await approvals.pending.isEmpty)
      }
      let answer = #"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","#
      #expect(
        world.text("input") == "begin\n" + answer + #""optionId":"yes"}}}"# + "\n")
      #expect(world.failures.withLock { $0 }.isEmpty)
    }
  }

  /// As a host that was frozen, and wakes up when another one carries the agent.
  @Test func aHostThatHasLostTheAgentStoresNothing() async throws {
    try await World.with { world in
      try await world.live(work(world)) { host in
        try await host.add("a")
        try await eventually {
          await world.chat.take(acknowledging: 0)
          return await world.chat.messages.count == Self.count
        }
        // The next run of a host of its name.
        let lease = try await world.store.acquire("a", for: host.name, lasting: .seconds(600))
        await world.chat.acknowledgeAll()
        try await eventually { await host.carried.isEmpty }
        #expect(try await world.committed == 0)
        // Nor may the host of the session give anything up.
        let sessions = SessionHost(world.machine, host: "build", program: SessionServer.program)
        #expect(try await sessions.list().map(\.committed) == [0])
        try await world.store.release(lease)
      }
    }
  }

  @Test func theQuestionOfAProgramThatHasEndedTakesNoAnswer() async throws {
    try await World.with { world in
      let program = asker(world).split(separator: "\n").dropLast(2).joined(separator: "\n")
      try await world.live { agent, outbox throws(AppError) in
        let approvals = try Approvals(of: agent)
        let adapter = ApprovalAdapter(agent: agent.name, dialect: .acp)
        let session = try await world.session(agent, running: program)
        try await session.deliver(
          through: outbox, input: Array("begin\n".utf8), answering: approvals
        ) { line throws(AppError) in
          try await adapter.take(line, to: approvals)?.request.title
        }
      } _: { host in
        try await host.add("a")
        try await eventually {
          await world.chat.take()
          return try await world.isOver
        }
      }
      #expect(await world.chat.texts == ["Run ls?"])
      #expect(try await world.store.state(of: "a").approvals.map(\.state) == ["canceled"])
    }
  }

  @Test func aProgramThatReadsToTheEndOfItsInputEndsAlsoOverARestart() async throws {
    try await World.with { world in
      let program = "echo ready; cat; sleep 0.3; exit 4"
      let work: @Sendable (CarriedAgent, MessageOutbox) async throws(AppError) -> Void = {
        agent, outbox throws(AppError) in
        let session = try await world.session(agent, running: program)
        try await session.deliver(through: outbox, input: Array("all\n".utf8)) { line in
          line.text
        } last: { end in
          "\(end)"
        }
      }
      try await world.live(work) { host in
        try await host.add("a")
        try await eventually {
          await world.chat.take(acknowledging: 1)
          return await world.chat.texts == ["ready", "all"]
        }
      }
      try await world.live(work) { _ in
        try await eventually {
          await world.chat.take()
          return try await world.isOver
        }
      }
      #expect(await world.chat.texts.last == "exited(status: 4)")
      #expect(await Set(world.chat.texts) == ["ready", "all", "exited(status: 4)"])
    }
  }

  /// The host of the earlier lease was frozen, and attaches again as it wakes up.
  @Test func theSessionRefusesTheHostOfAnEarlierLease() async throws {
    try await World.with { world in
      let (isUp, configuration) = (Latch(), Mutex(DurableSession.Configuration?.none))
      try await world.live { agent, _ throws(AppError) in
        let session = try await world.session(agent, running: "cat").session
        _ = try await session.attach()
        configuration.withLock { $0 = session.configuration }
        isUp.open()
        try await agent.rest()
      } _: { host in
        try await host.add("a")
        await isUp.wait()
        let frozen = try #require(configuration.withLock { $0 })
        var later = frozen
        later.attachment.fence = try #require(frozen.attachment.fence) + 1
        let next = world.machine.session(later)
        _ = try await next.attach()
        let woken = world.machine.session(frozen)
        let error = await failure { try await woken.attach() }
        #expect(error?.caseName == "durableSessionReplaced")
        try await next.deliver([1], at: 0)
        #expect(await next.isAttached)
        await next.detach()
      }
    }
  }
}
