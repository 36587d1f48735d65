import BridgeFaults
import BridgeSSH
import BridgeTestKit
import Foundation
import Testing

/// The home directory that a test's sshd gives its users, with their `bridge-host` and sessions.
struct SessionFolder: Sendable {
  let path: String

  /// The `bridge-host` that was built.
  static let program =
    URL(filePath: Child.program).deletingLastPathComponent().appending(path: "bridge-host").path

  init(path: String) { self.path = path }

  init(of server: SSHServer) {
    path = URL(filePath: server.identityFile).deletingLastPathComponent().path
  }

  /// Puts `bridge-host` where `bridgectl install` does.
  func install() throws {
    let folder = "\(path)/.local/lib/bridge/bin"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/bridge-host", withDestinationPath: Self.program)
  }

  /// Where bridge-host keeps sessions.
  var root: String { "\(path)/.local/state/bridge/s" }

  /// The ids of the sessions.
  var ids: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
      .filter { $0.count == 32 }.sorted()
  }

  /// The keepers' processes.
  var keepers: [Int32] {
    let sessions = Set(ids.map { "\(root)/\($0)" })
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.compactMap { Int32($0) }.filter { process in
      let directory = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(process)/fd/3")
      return directory.map(sessions.contains) == true
    }
  }

  /// Whether a process of the host answers a question about a session now.
  func isAsked(_ verb: String, about id: String) -> Bool {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.contains { process in
      let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return line.range(of: Data("\0\(verb)\0--session\0\(id)\0".utf8)) != nil
    }
  }

  /// Makes a session's record one of another boot.
  func pretendReboot(of id: String) throws {
    let file = URL(filePath: "\(root)/\(id)/state")
    var record = try Data(contentsOf: file)
    // The key, the length of the value (4 bytes), the value.
    let key = try #require(record.range(of: Data("boot".utf8)))
    record[key.upperBound + 4] ^= 1
    // As of a version without a sum over it, the last field.
    let sum = try #require(record.range(of: Data("sum".utf8)))
    try record[..<(sum.lowerBound - 1)].write(to: file)
  }

  /// Asks `bridge-host` on this machine.
  @discardableResult
  func ask(_ arguments: [String], _ home: Home) async throws -> Outcome {
    try await home.run(arguments, environment: ["HOME": path], program: Self.program)
  }

  /// Ends every session and waits for its keeper.
  func killAll(_ home: Home) async {
    for id in ids {
      for verb in [["kill", "--signal", "KILL"], ["wait"]] {
        _ = try? await ask(verb + ["--session", id], home)
      }
    }
  }
}

extension Home.Running {
  /// Waits until its standard output is `text`.
  func prints(_ text: String) async throws {
    while home.read("out-\(name)") != text {
      try await ContinuousClock().sleep(for: .milliseconds(10))
    }
  }

  /// Waits until its standard error contains `text`.
  func reports(_ text: String) async throws {
    try await eventually { home.read("err-\(name)").contains(text) }
  }
}

extension Outcome {
  /// The line of `sessions --json` about a session: sessions of this user in /var/tmp are listed
  /// beside it.
  func session(_ id: String) throws -> [String: Any] {
    let rows = try text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
    return try #require(rows.compactMap { $0 }.first { $0["id"] as? String == id })
  }
}

extension Home {
  /// An earlier run has found bridge-host on the server: a command without a terminal asks only
  /// such hosts.
  func knowsBridgeHost(on server: SSHServer) async throws {
    try knowsBridgeHost(
      of: server.user, by: server.identityFile, behind: await server.knownHosts)
  }

  /// The same for the hosts of these lines of known_hosts, and a login with this key.
  func knowsBridgeHost(of user: String, by keyFile: String, behind knownHosts: String) throws {
    let login = try Self.fingerprint(
      of: String(contentsOfFile: "\(keyFile).pub", encoding: .utf8), word: 1)
    let lines = try knownHosts.split(separator: "\n").map { line in
      try "\(Self.fingerprint(of: String(line), word: 2)) \(user) \(login) present 1\n"
    }
    try write(lines.joined(), to: ".local/state/bridge/hosts")
  }

  /// The fingerprint of the key in a line.
  private static func fingerprint(of line: String, word: Int) throws -> String {
    let base64 = line.split(whereSeparator: \.isWhitespace).dropFirst(word).first ?? ""
    let blob = try #require(Data(base64Encoded: String(base64)))
    return try #require(HostKey(blob: Array(blob))).fingerprint
  }
}

extension SSHServer {
  /// How to reach it, trust it and log in there, for any command.
  nonisolated func link(_ home: Home, port: Int? = nil) -> [String] {
    let usual = Array(options(home, port: port).dropFirst())
    // A proxy's port is another name to known_hosts.
    return usual + (port == nil ? [] : ["--host-key", "accept-new"])
  }
}

/// Runs `body` with a real sshd whose users have `bridge-host`; no session is left after.
func withSessions(
  _ configuration: SSHServerConfiguration = .init(), installs: Bool = true,
  _ body: (SSHServer, Home, SessionFolder) async throws -> Void
) async throws {
  try await withServer(configuration) { server, home in
    let folder = configuration.home.map(SessionFolder.init(path:)) ?? SessionFolder(of: server)
    if installs { try folder.install() }
    try await home.knowsBridgeHost(on: server)
    do {
      try await body(server, home, folder)
    } catch {
      await folder.killAll(home)
      throw error
    }
    await folder.killAll(home)
  }
}
