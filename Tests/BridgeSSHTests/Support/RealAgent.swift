import BridgeFaults

/// Runs `body` with a real ssh-agent that holds `keys`.
func withAgent(_ keys: [String], _ body: (String) async throws -> Void) async throws {
  let directory = try TemporaryDirectory()
  // Its first words come when it listens; the socket's file is there before that.
  let (agent, _) = try await Program.started(
    "/usr/bin/ssh-agent", ["-D", "-a", directory.file("agent")]
  ) { $0.contains("SSH_AUTH_SOCK") }
  defer {
    agent.kill()
    agent.waitUntilExit()
  }
  for key in keys {
    _ = try await Program.output(
      of: "/usr/bin/env", ["SSH_AUTH_SOCK=\(directory.file("agent"))", "ssh-add", key])
  }
  try await body(directory.file("agent"))
}
