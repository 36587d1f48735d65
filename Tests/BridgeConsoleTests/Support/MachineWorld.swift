import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSupervision
import BridgeTestKit
import Foundation

@testable import BridgeConsole

/// A page whose people decide about the host key of a machine with a real sshd, which is not known.
final class MachineWorld: Sendable {
  let page: ConsoleWorld
  let server: SSHServer
  let machine: RemoteMachine
  let hostKeys: HostKeyQuestions
  let supervisor: Supervisor<ContinuousClock>

  private init(tokens: [ConsoleToken]) async throws {
    let (hostKeys, supervisor) = (HostKeyQuestions(), Supervisor(clock: ContinuousClock()))
    (self.hostKeys, self.supervisor) = (hostKeys, supervisor)
    page = try await ConsoleWorld(
      change: { $0.tokens += tokens },
      showing: { console in
        console.show(hostKeys)
        console.show(supervisor)
      })
    server = try await SSHServer(SSHServerConfiguration())
    let config = """
      Host build
        HostName 127.0.0.1
        Port \(server.port)
        User \(server.user)
        IdentityFile \(server.identityFile)
        IdentitiesOnly yes
        IdentityAgent none
        UserKnownHostsFile \(page.folder.path)/known
        GlobalKnownHostsFile none

      """
    let file = page.folder.appending(path: "config").path
    try config.write(toFile: file, atomically: true, encoding: .utf8)
    machine = try await RemoteMachine(
      named: "build", supervisor,
      lookup: MachineOptions(files: .file(file), answers: hostKeys.answers()))
  }

  /// Runs `body`; afterwards nothing is left of it.
  static func with(
    tokens: [ConsoleToken] = [], _ body: (MachineWorld) async throws -> Void
  ) async throws {
    let world = try await MachineWorld(tokens: tokens)
    let result: Result<Void, any Error>
    do { result = .success(try await body(world)) } catch { result = .failure(error) }
    await world.machine.close()
    await world.supervisor.shutDown()
    await world.server.stop()
    await world.page.stop()
    try result.get()
  }

  /// The keys that are known, as they stand in the file.
  var known: [Substring] {
    get throws {
      try String(contentsOf: page.folder.appending(path: "known"), encoding: .utf8).split(
        separator: "\n"
      ).map { $0.split(separator: " ")[2] }
    }
  }

  /// The key that the machine shows.
  var key: Substring {
    get async { await server.knownHosts.split(separator: " ")[2] }
  }

  func link() -> ConsoleState.Link? { page.link("build#1") }
}
