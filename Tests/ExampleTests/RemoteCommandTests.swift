import BridgeFaults
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
