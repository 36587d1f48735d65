import BridgeFaults
import Foundation

/// The machines of a soak, with a way of its own from each host to each of them.
struct SoakMachines: Sendable {
  let servers: [SSHServer]
  /// By host and machine.
  let proxies: [[FaultProxy]]
  let configFiles: [String]

  static func name(_ number: Int) -> String { "machine-\(number)" }

  init(_ count: Int, hosts: Int, in folder: String, seed: UInt64) async throws {
    var servers: [SSHServer] = []
    for _ in 0..<count {
      var configuration = SSHServerConfiguration()
      // What sshd has by itself.
      configuration.maxSessions = nil
      servers.append(try await SSHServer(configuration))
    }
    var (proxies, files): ([[FaultProxy]], [String]) = ([], [])
    for host in 0..<hosts {
      var (own, text): ([FaultProxy], String) = ([], "")
      for (machine, server) in servers.enumerated() {
        let proxy = try await FaultProxy(
          to: server.port, seed: seed &+ UInt64(host * count + machine), logCapacity: 256)
        let known = "\(folder)/known-\(host)-\(machine)"
        let keys = await server.knownHosts
        try Data(keys.replacing(":\(server.port) ", with: ":\(proxy.port) ").utf8)
          .write(to: URL(filePath: known))
        own.append(proxy)
        text += """
          Host \(Self.name(machine))
            HostName 127.0.0.1
            Port \(proxy.port)
            User \(server.user)
            IdentityFile \(server.identityFile)
            IdentitiesOnly yes
            IdentityAgent none
            UserKnownHostsFile \(known)
            GlobalKnownHostsFile none

          """
      }
      let file = "\(folder)/config-\(host)"
      try Data(text.utf8).write(to: URL(filePath: file))
      proxies.append(own)
      files.append(file)
    }
    (self.servers, self.proxies, configFiles) = (servers, proxies, files)
  }

  /// The home directories that the servers give their users.
  var homes: [String] {
    servers.map { URL(filePath: $0.identityFile).deletingLastPathComponent().path }
  }

  /// The processes that serve a login of this machine now, and those that serve an attachment.
  func sessions(of machine: Int) -> (logins: [Int32], attachments: [Int32]) {
    let pidFile = "\(homes[machine])/pid"
    guard
      let listener = (try? String(contentsOfFile: pidFile, encoding: .utf8))
        .flatMap({ Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
    else { return ([], []) }
    let logins = Self.children(of: listener)
    var (below, attachments) = (logins, [Int32]())
    while let next = below.popLast() {
      below += Self.children(of: next)
      let command = FileManager.default.contents(atPath: "/proc/\(next)/cmdline") ?? Data()
      let program = command.split(separator: 0).first.map { String(decoding: $0, as: UTF8.self) }
      if program?.hasSuffix("bridge-host") == true { attachments.append(next) }
    }
    return (logins.sorted(), attachments.sorted())
  }

  private static func children(of process: Int32) -> [Int32] {
    let path = "/proc/\(process)/task/\(process)/children"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: " ").compactMap { Int32($0) }
  }

  func heal() async {
    for proxy in proxies.joined() { try? await proxy.heal() }
    for server in servers { await server.thaw() }
  }

  func stop() async {
    for proxy in proxies.joined() { await proxy.stop() }
    for server in servers { await server.stop() }
  }
}
