import BridgeAgentHost
import BridgeErrors
import BridgeMetrics
import BridgeService
import BridgeStore
import BridgeStoreSQLite
import BridgeSupervision
import BridgeWebSocket
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Agents on remote machines, each line of theirs to a chat, and a person's answers back:
/// `agent-host CONFIGURATION`. It may be killed at any time.
@main struct AgentHostProgram {
  let configuration: HostConfiguration
  let machines: [String: RemoteMachine]
  let outbox = MessageOutbox(proof: .acknowledgement)
  let questions = Questions()
  let logger: Logger
  let reporter: LinkReporter

  static func main() async {
    guard CommandLine.arguments.count == 2 else { fail("usage: agent-host CONFIGURATION", .usage) }
    let supervisor = Supervisor(clock: ContinuousClock())
    let program: AgentHostProgram
    do throws(AppError) {
      let configuration = try HostConfiguration(path: CommandLine.arguments[1])
      program = try await AgentHostProgram(configuration, supervisor)
    } catch {
      fail(error.shownMessage(), .configuration)
    }
    do {
      try await program.run(supervisor)
    } catch {
      let error = error as? AppError ?? .unknown(message: "\(error)")
      // What is refused here is what the configuration has.
      fail(error.shownMessage(), error.exitCode() == .usage ? .configuration : error.exitCode())
    }
  }

  private static func fail(_ message: String, _ code: ExitCode) -> Never {
    FileHandle.standardError.write(Data("agent-host: \(message)\n".utf8))
    exit(code.rawValue)
  }

  private init(
    _ configuration: HostConfiguration, _ supervisor: Supervisor<ContinuousClock>
  ) async throws(AppError) {
    (self.configuration, logger) = (configuration, Logger(label: "agent-host"))
    reporter = LinkReporter(supervisor, logger: logger)
    var machines: [String: RemoteMachine] = [:]
    for name in configuration.machines {
      let machine = try await RemoteMachine(
        named: name, supervisor, lookup: configuration.lookup(asking: questions.hostKeys),
        installing: configuration.bridgeHost.map { .ifMissing($0) } ?? .never)
      for warning in machine.warnings { logger.warning("\(warning)") }
      machines[name] = machine
    }
    self.machines = machines
    let url = try WebSocketEndpoint(configuration.chat)
    try await supervisor.add("chat", to: url.endpoint, .losesNothing, onConnected: talk) { _ in
      WebSocketConnection(to: url)
    }
  }

  /// Sends what waits for the chat, and takes the answers of people, over one connection.
  private func talk(over socket: WebSocketConnection) async {
    await outbox.carry(over: socket) { [questions] message in
      // It may be lost with its link: an answer that comes again is answered again.
      try? await socket.send(text: questions.answer(message))
    }
  }

  private func run(_ supervisor: Supervisor<ContinuousClock>) async throws {
    let store = try await SQLiteStore(at: configuration.store)
    let host = AgentHost("agent-host", sharing: store) { [logger] failure in
      logger.error("\(failure.error.shownMessage())", metadata: ["agent": "\(failure.agent)"])
    }
    // What is in the store is carried on, and is not begun again where it is over.
    let known = Set(try await store.agents().map(\.name))
    for agent in configuration.agents where !known.contains(agent.name) {
      try await host.add(agent.name)
    }
    // The last one is shut down first: agents leave, messages are flushed, links are closed.
    let services: [any Service] = [
      reporter, SupervisorService(supervisor),
      AgentHostReporter(host, approvalsIn: store, outboxes: [outbox], logger: logger),
      AgentHostService(host, flushing: [outbox], carry: carry),
    ]
    try await ServiceGroup(
      services: page(of: host, supervisor, store) + services,
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
    ).run()
    await store.close()
  }

  /// The work of one agent, on whichever host carries it.
  @Sendable private func carry(_ agent: CarriedAgent) async throws(AppError) {
    guard let settings = configuration.agents.first(where: { $0.name == agent.name }),
      let machine = machines[settings.machine]
    else { try await agent.rest() }
    let approvals = try Approvals(of: agent)
    let adapter = settings.approvals.map { ApprovalAdapter(agent: agent.name, dialect: $0) }
    let session = try await agent.session(on: machine, running: settings.command)
    await questions.use(approvals, of: session)
    let end = try await session.deliver(
      through: outbox, input: Array((settings.input ?? "").utf8), answering: approvals
    ) { line throws(AppError) in
      if let question = try await adapter?.take(line, to: approvals) {
        return ChatMessage(question).text
      }
      return ChatMessage(line, of: agent.name).text
    } last: { end in
      ChatMessage(agent: agent.name, ended: "\(end)").text
    }
    logger.info("Agent over", metadata: ["agent": "\(agent.name)", "end": "\(end)"])
  }
}
