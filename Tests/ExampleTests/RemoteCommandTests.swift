import BridgeFaults
import Foundation
import Testing

@Suite struct RemoteCommandTests {
  @Test func aHostThatIsNotKnownIsTurnedDown() async throws {
    let server = try await SSHServer()
    let home = try Home(identity: server.identityFile, knownHosts: "")
    defer { home.remove() }
    let run = try Example.run(
      "remote-command", [server.user, "127.0.0.1", "\(server.port)", "true"], home: home.path)
    #expect(run.status == 1)
    #expect(run.lines.first?.hasPrefix("sshHostKeyUnknown: ") == true, "\(run.lines)")
    await server.stop()
  }

  @Test func whatTheCommandWroteComesWithItsStatus() async throws {
    let server = try await SSHServer()
    let home = try Home(identity: server.identityFile, knownHosts: await server.knownHosts)
    defer { home.remove() }
    let run = try Example.run(
      "remote-command",
      [server.user, "127.0.0.1", "\(server.port)", "echo one; echo two >&2; exit 3"],
      home: home.path)
    #expect(run.status == 0)
    #expect(run.lines == ["one", "ended with status(3)", ""])
    await server.stop()
  }
}

/// A home folder with one key and one known_hosts file.
private struct Home {
  let path: String

  init(identity: String, knownHosts: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "bridge-\(UUID())")
    let ssh = folder.appending(path: ".ssh")
    try FileManager.default.createDirectory(at: ssh, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: URL(filePath: identity), to: ssh.appending(path: "id_ed25519"))
    try Data(knownHosts.utf8).write(to: ssh.appending(path: "known_hosts"))
    path = folder.path
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
