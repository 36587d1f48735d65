import BridgeFaults
import Testing

@Suite struct SupervisedCommandTests {
  /// The first connection ends in the middle of the output; the second delivers all of it.
  @Test func aScriptWhoseLinkIsCutRunsAgainOnTheNext() async throws {
    let server = try await SSHServer()
    let proxy = try await FaultProxy(to: server.port)
    let known = await server.knownHosts.replacing(":\(server.port)", with: ":\(proxy.port)")
    let home = try Home(identity: server.identityFile, knownHosts: known)
    defer { home.remove() }
    try await proxy.inject(.cut(after: 60_000, .toClient, by: .reset))
    let run = try Example.run(
      "supervised-command",
      [server.user, "127.0.0.1", "\(proxy.port)", "seq 20000; exit 3"], home: home.path)
    #expect(run.status == 0, "\(run.lines.suffix(2))")
    #expect(run.lines == (1...20000).map { "\($0)" } + ["ended with status(3)", ""])
    let connections = await proxy.log.count { $0.kind == .connected }
    #expect(connections == 2)
    await proxy.stop()
    await server.stop()
  }
}
