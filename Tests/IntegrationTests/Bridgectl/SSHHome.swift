import BridgeFaults
import Foundation
import Testing

extension Home {
  /// Runs this program as `ssh`.
  func ssh(_ words: [String], input: [UInt8] = []) async throws -> Outcome {
    try await run(words, input: input, program: file("bin/ssh"))
  }

  /// Runs a script of bash that must succeed, and say nothing to standard error.
  func succeeds(_ script: String) async throws {
    let outcome = try await run(["-c", script], program: "/bin/bash")
    #expect(outcome.code == 0, "\(outcome.text)\(outcome.error)")
    #expect(outcome.error.isEmpty, "\(outcome.error)")
  }
}

/// With a server that `~/.ssh/config` calls `box`, and this program in `~/bin` as `ssh` and as
/// `bridgectl`.
func withSSH(
  _ configuration: SSHServerConfiguration = .init(),
  _ body: (SSHServer, Home) async throws -> Void
) async throws {
  try await withServer(configuration) { server, home in
    let host = """
        HostName 127.0.0.1
        User \(server.user)
        UserKnownHostsFile \(home.file("known_hosts"))
        IdentitiesOnly yes

      """
    try home.write("Host box\n\(host)  Port \(server.port)\n", to: "bare")
    try home.write(
      "Host box\n\(host)  IdentityFile \(server.identityFile)\nHost box\n  Port \(server.port)\n",
      to: ".ssh/config")
    let folder = home.file("bin")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["ssh", "bridgectl"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/\(name)", withDestinationPath: Child.program)
    }
    try await body(server, home)
  }
}
