import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeSupervision
import Foundation

/// Real servers, each with an alias in a configuration file: `build` and `twin` at the end of the
/// way, `hop0` … before them, the first of those behind a proxy that breaks links.
final class NamedHosts: Sendable {
  let supervisor = Supervisor(clock: ContinuousClock())
  let server: SessionServer
  let hops: [SSHServer]
  let proxy: FaultProxy?
  let config: String

  var target: SSHServer { server.server }

  private init(_ server: SessionServer, _ hops: [SSHServer]) async throws {
    (self.server, self.hops) = (server, hops)
    if let first = hops.first { proxy = try await FaultProxy(to: first.port) } else { proxy = nil }
    let folder = server.folder
    func alias(_ names: String, _ known: String, _ server: SSHServer, port: Int) -> String {
      """
      Host \(names)
        HostName 127.0.0.1
        Port \(port)
        User \(server.user)
        IdentityFile \(server.identityFile)
        IdentitiesOnly yes
        IdentityAgent none
        UserKnownHostsFile \(folder.appending(path: "known_\(known)").path)
        GlobalKnownHostsFile none

      """
    }
    let target = server.server
    var config = alias("build twin", "build", target, port: target.port)
    for (index, hop) in hops.enumerated() {
      let port = index == 0 ? proxy?.port : nil
      config += alias("hop\(index)", "hop\(index)", hop, port: port ?? hop.port)
    }
    if !hops.isEmpty {
      let names = hops.indices.map { "hop\($0)" }.joined(separator: ",")
      config += "Host build twin\n  ProxyJump \(names)\n"
    }
    self.config = config
    try write(config)
    for (index, hop) in hops.enumerated() {
      // The proxy has a port of its own.
      let known = await hop.knownHosts.replacing(
        ":\(hop.port) ", with: ":\(index == 0 ? proxy?.port ?? 0 : hop.port) ")
      try write(known, to: "known_hop\(index)")
    }
    try write(await target.knownHosts, to: "known_build")
  }

  /// Runs `body`; afterwards nothing is left of it.
  static func with(
    hops count: Int = 0, _ body: (NamedHosts) async throws -> Void
  ) async throws {
    try await SessionServer.with { server in
      var hops: [SSHServer] = []
      for _ in 0..<count { hops.append(try await SSHServer()) }
      let hosts = try await NamedHosts(server, hops)
      let result: Result<Void, any Error>
      do {
        try await body(hosts)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      await hosts.supervisor.shutDown()
      await hosts.proxy?.stop()
      for hop in hops { await hop.stop() }
      try result.get()
    }
  }

  func file(_ name: String) -> String { server.folder.appending(path: name).path }

  func write(_ text: String, to name: String = "config") throws {
    try text.write(toFile: file(name), atomically: true, encoding: .utf8)
  }

  func add(_ lines: String) throws { try write(config + lines) }

  func machine(
    _ name: String, _ options: LinkOptions = .losesNothing,
    installing: HostInstallation = .never, answers: MachineOptions.Answers? = nil
  ) async throws(AppError) -> RemoteMachine {
    try await RemoteMachine(
      named: name, supervisor, options,
      lookup: MachineOptions(files: .file(file("config")), answers: answers),
      installing: installing)
  }

  /// A session of the `bridge-host` at a path; nil for the one that is installed.
  func start(
    _ command: String, on machine: RemoteMachine, by program: String? = SessionServer.program
  ) -> DurableSession {
    var configuration = DurableSession.Configuration(
      host: machine.name, starting: server.spec(command), client: .fresh())
    configuration.program = program
    return machine.session(configuration)
  }

  /// How many logins each server has accepted, the machine's last.
  var logins: [Int] {
    get async {
      var counts: [Int] = []
      for server in hops + [target] {
        counts.append(await server.log.components(separatedBy: "Accepted publickey").count - 1)
      }
      return counts
    }
  }
}
