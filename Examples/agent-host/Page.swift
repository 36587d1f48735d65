import BridgeAgentHost
import BridgeConsole
import BridgeErrors
import BridgeStore
import BridgeSupervision
import Foundation
import ServiceLifecycle

extension HostConfiguration {
  /// How machines are looked up: on the page people decide about their host keys.
  func lookup(asking hostKeys: HostKeyQuestions) -> MachineOptions {
    MachineOptions(answers: page.map { _ in hostKeys.answers() })
  }
}

extension AgentHostProgram {
  /// The page, where the configuration has one. It prints its address, which has the token.
  func page(
    of host: AgentHost, _ supervisor: Supervisor<ContinuousClock>, _ store: any AgentStore
  ) async throws(AppError) -> [any Service] {
    guard let page = configuration.page else { return [] }
    let token = ConsoleToken(name: "you", access: .write)
    let console = try Console(
      ConsoleConfiguration(port: page.port, tokens: [token]), of: host, keptIn: store)
    console.show(supervisor)
    console.show(questions.hostKeys)
    await questions.show(on: console)
    let service = ConsoleService(console, logger: logger) { console in
      let address = console.address(for: token) ?? ""
      FileHandle.standardOutput.write(Data("The page: \(address)\n".utf8))
    }
    return [service]
  }
}
