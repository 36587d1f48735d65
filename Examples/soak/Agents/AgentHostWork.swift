import BridgeAgentHost
import BridgeErrors
import BridgeMetrics
import BridgeSSH
import BridgeService
import BridgeSession
import BridgeSessionProtocol
import BridgeStore
import BridgeStorePostgres
import BridgeSupervision
import BridgeWebSocket
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// What an agent host of the soak is to do, from a JSON file.
struct AgentHostOrders: Codable, Sendable {
  var name: String
  /// The connection string of the database.
  var database: String
  /// The WebSocket URL of the chat.
  var chat: String
  /// The ssh_config that names the machines.
  var configFile: String
  var machines: [String]
  /// The path of `bridge-host` on the machines.
  var bridgeHost: String
  /// The agents' program, and the folder of their files.
  var program: String
  var folder: String

  static let flag = "--agent-host"

  /// Nil where the words are not for an agent host.
  init?(_ words: [String]) {
    guard words.count == 2, words[0] == Self.flag,
      let data = FileManager.default.contents(atPath: words[1]),
      let orders = try? JSONDecoder().decode(Self.self, from: data)
    else { return nil }
    self = orders
  }

  init(
    name: String, database: String, chat: String, configFile: String, machines: [String],
    bridgeHost: String, program: String, folder: String
  ) {
    (self.name, self.database, self.chat, self.configFile) = (name, database, chat, configFile)
    (self.machines, self.bridgeHost) = (machines, bridgeHost)
    (self.program, self.folder) = (program, folder)
  }
}

/// An agent host of the soak, a process of its own: as an application would write it.
struct AgentHostWork: Sendable {
  private let orders: AgentHostOrders
  private let machines: [String: RemoteMachine]
  private let outbox = MessageOutbox(proof: .acknowledgement)
  private let logger: Logger
  private let reporter: LinkReporter
  /// What the chat knows this process by.
  private let mark: String

  /// Runs until SIGTERM.
  static func run(_ orders: AgentHostOrders) async -> Never {
    let supervisor = Supervisor(clock: ContinuousClock())
    do {
      try await AgentHostWork(orders, supervisor).run(supervisor)
    } catch {
      FileHandle.standardError.write(Data("\(orders.name): \(error)\n".utf8))
      _exit(1)
    }
    _exit(0)
  }

  private init(
    _ orders: AgentHostOrders, _ supervisor: Supervisor<ContinuousClock>
  ) async throws(AppError) {
    self.orders = orders
    mark = "\(orders.name):\(getpid())"
    logger = Logger(label: mark) { StreamLogHandler.standardError(label: $0) }
    reporter = LinkReporter(supervisor, logger: logger)
    let lookup = MachineOptions(files: .file(orders.configFile))
    var machines: [String: RemoteMachine] = [:]
    for name in orders.machines {
      machines[name] = try await RemoteMachine(named: name, supervisor, lookup: lookup)
    }
    self.machines = machines
    let url = try WebSocketEndpoint(orders.chat)
    try await supervisor.add(
      "chat", to: url.endpoint, .losesNothing,
      onConnected: { [outbox] socket in
        await outbox.carry(over: socket)
      }, make: { _ in WebSocketConnection(to: url) })
  }

  private func run(_ supervisor: Supervisor<ContinuousClock>) async throws {
    let store = try await open()
    let host = AgentHost(orders.name, sharing: store) { [logger] failure in
      logger.error("\(failure.error)", metadata: ["agent": "\(failure.agent)"])
    }
    let services: [any Service] = [
      reporter, SupervisorService(supervisor),
      AgentHostReporter(host, approvalsIn: store, outboxes: [outbox], logger: logger),
      AgentHostService(host, flushing: [outbox], carry: carry),
    ]
    try await ServiceGroup(
      services: services, gracefulShutdownSignals: [.sigterm], logger: logger
    ).run()
    await store.close()
  }

  /// The database may be on its way up, too.
  private func open() async throws(AppError) -> PostgresStore {
    while true {
      do throws(AppError) {
        return try await PostgresStore(Secret(orders.database))
      } catch {
        guard case .storeUnusable(_, let problem) = error, problem.isTransient else { throw error }
        await rest(.milliseconds(200))
      }
    }
  }

  @Sendable private func carry(_ agent: CarriedAgent) async throws(AppError) {
    guard let value = agent.state.commits[AgentPlan.effect] else { try await agent.rest() }
    let plan = try value.decoded(as: AgentPlan.self)
    guard let machine = machines[plan.machine] else { try await agent.rest() }
    let command = plan.command(program: orders.program, folder: orders.folder)
    let session = try await agent.session(on: machine, running: command) {
      $0.program = orders.bridgeHost
    }
    if plan.isWrittenTo {
      try await deliverWriting(session)
    } else {
      try await deliverAnswering(session)
    }
  }

  private func text(_ agent: CarriedAgent, _ content: String) -> String {
    "\(agent.name)\t\(agent.lease.fence)\t\(mark)\t\(content)"
  }

  private func deliverAnswering(_ session: CarriedSession) async throws(AppError) {
    let agent = session.agent
    let approvals = try Approvals(of: agent)
    let adapter = ApprovalAdapter(agent: agent.name, dialect: .acp)
    try await session.deliver(
      through: outbox, input: Array("\(AgentVerifier.greeting)\n".utf8), answering: approvals
    ) { line throws(AppError) in
      if let question = try await adapter.take(line, to: approvals) {
        return text(agent, "ask \(question.request.wireID)")
      }
      return text(agent, content(of: line))
    } last: { end in
      text(agent, "end \(end)")
    }
  }

  /// Writes to the agent all the time meanwhile, so that it sees who does.
  private func deliverWriting(_ session: CarriedSession) async throws(AppError) {
    let agent = session.agent
    let result = await withTaskGroup(of: Result<Void, AppError>?.self) { group in
      group.addTask {
        await write(to: session)
        return nil
      }
      group.addTask {
        do throws(AppError) {
          try await session.deliver(through: outbox, input: nil) { line in
            text(agent, content(of: line))
          } last: { end in
            text(agent, "end \(end)")
          }
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      var result = Result<Void, AppError>.failure(.cancelled)
      for await end in group {
        guard let end else { continue }
        result = end
        group.cancelAll()
      }
      return result
    }
    try result.get()
  }

  private func write(to session: CarriedSession) async {
    while !Task.isCancelled {
      let number = Int(Date().timeIntervalSince1970 * 1000)
      let line = "write \(session.agent.lease.fence) \(number) \(mark)\n"
      do throws(AppError) {
        try await session.session.write(Array(line.utf8))
      } catch {
        // It has ended, or another host has it: what delivers its lines says so.
        return
      }
      await rest(.milliseconds(250))
    }
  }

  private func content(of line: SessionLine) -> String {
    if case .gap(let range) = line.content { return "gap \(range.count)" }
    return line.text ?? "no text"
  }
}
