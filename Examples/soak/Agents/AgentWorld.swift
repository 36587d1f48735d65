import BridgeErrors
import BridgeFaults
import BridgeStorePostgres
import Foundation

/// The parts of a soak of agent hosts.
struct AgentWorld: Sendable {
  let database: SoakDatabase
  let chat: SoakChat
  let machines: SoakMachines
  let hosts: [SoakHost]
  /// Where agents leave what they read.
  let agentFolder: String
  private let folder: String
  private let watchdog: AgentWatchdog

  init(_ options: SoakOptions, in folder: String) async throws {
    self.folder = folder
    agentFolder = "\(folder)/agents"
    let database = try await SoakDatabase(in: "\(folder)/database")
    let chat = try SoakChat(in: folder, port: try LoopbackPort.reserve())
    let machines = try await SoakMachines(
      AgentSoak.machines, hosts: options.hosts, in: folder, seed: options.seed)
    (self.database, self.chat, self.machines) = (database, chat, machines)
    watchdog = try AgentWatchdog(folder: folder, homes: machines.homes)
    let program = "\(folder)/agent.py"
    try Data(AgentScripts.agent.utf8).write(to: URL(filePath: program))
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    let orders = (0..<options.hosts).map { number in
      AgentHostOrders(
        name: "host-\(number)", database: database.connection,
        chat: "ws://127.0.0.1:\(chat.port)/", configFile: machines.configFiles[number],
        machines: (0..<AgentSoak.machines).map(SoakMachines.name),
        bridgeHost: own.deletingLastPathComponent().appending(path: "bridge-host").path,
        program: program, folder: "\(folder)/agents")
    }
    hosts = try orders.enumerated().map { number, orders in
      try SoakHost(number, orders: orders, in: folder)
    }
  }

  func open() async throws -> PostgresStore { try await PostgresStore(Secret(database.connection)) }

  func start() async throws {
    try await chat.start()
    for host in hosts { try await host.start() }
  }

  func stop() async {
    for host in hosts { await host.kill() }
    await chat.kill()
    try? await database.control("stop")
    for process in agentProcesses.compactMap({ Int32($0.split(separator: " ")[0]) }) {
      _ = kill(process, SIGKILL)
    }
    await machines.stop()
    watchdog.callOff()
  }

  /// What runs of agents: they, their keepers and attachments, and hosts.
  var agentProcesses: [String] {
    let homes = Set(machines.homes.map { Data("HOME=\($0)".utf8) })
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { Int32($0) }.compactMap { process in
      let environment = FileManager.default.contents(atPath: "/proc/\(process)/environ") ?? Data()
      let words = (FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data())
        .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      let isOfHost = words.contains { $0.hasPrefix("\(folder)/host-") }
      guard isOfHost || environment.split(separator: 0).contains(where: { homes.contains($0) })
      else { return nil }
      return "\(process) \(words.prefix(4).joined(separator: " "))"
    }
  }
}
