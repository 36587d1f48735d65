import BridgeFaults
import Foundation
import Testing

/// A link that is cut near the end of a command, with `ssh` as the yardstick: what it delivers in
/// the same place, bridgectl delivers, and bridgectl ends with 0 only when nothing is missing.
@Suite(.timeLimit(.minutes(10))) struct CutOutputTests {
  private static let isLong = ProcessInfo.processInfo.environment["BRIDGE_INTEGRITY"] == "full"
  /// One write and one packet, so that every run of a client is as long as its others.
  private static let size = 1_000
  private static let command = "printf %01000d 7"
  /// Our client asks for a round trip beside the command: its answer is before the end of some runs
  /// and not of others, so `ssh` is cut so many bytes earlier.
  private static let probeAnswer = 128
  /// One cipher and one MAC, so that packets of both clients are as long.
  private static let protection = ["-o", "Ciphers=aes128-ctr", "-o", "MACs=hmac-sha2-256"]

  @Test func deliversWhatSSHDelivers() async throws {
    var configuration = SSHServerConfiguration()
    configuration.ciphers = "aes128-ctr"
    configuration.messageAuthenticationCodes = "hmac-sha2-256"
    try await withServer(configuration) { server, home in
      let ssh = try await total(server) { try await runSSH(server, home, port: $0) }
      let ours = try await total(server) { try await runOurs(server, home, port: $0) }
      for back in stride(from: 0, to: 400, by: Self.isLong ? 4 : 50) {
        let theirs = try await cut(server, after: ssh - back - Self.probeAnswer) {
          try await runSSH(server, home, port: $0)
        }
        let run = try await cut(server, after: ours - back) {
          try await runOurs(server, home, port: $0)
        }
        let what = "\(back) bytes before the end: \(run.output.count), \(run.error)"
        #expect(run.output.count >= theirs.output.count, "\(what)")
        if run.code == 0 {
          #expect(run.output.count == Self.size, "\(what)")
        } else {
          #expect([69, 74, 76].contains(run.code), "\(what)")
          #expect(run.lastLine.hasPrefix("bridgectl: ["), "\(what)")
        }
      }
    }
  }

  private func runOurs(_ server: SSHServer, _ home: Home, port: Int) async throws -> Outcome {
    try await home.run(
      ["connect", "-p", "\(port)", "-i", server.identityFile, "--host-key", "accept-new"]
        + ["--no-reconnect", "\(server.user)@127.0.0.1", "--", Self.command])
  }

  private func runSSH(_ server: SSHServer, _ home: Home, port: Int) async throws -> Outcome {
    try await home.run(
      ["-F", "none", "-p", "\(port)", "-i", server.identityFile, "-o", "BatchMode=yes"]
        + ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        + Self.protection + ["-o", "UpdateHostKeys=no", "\(server.user)@127.0.0.1", Self.command],
      program: "/usr/bin/ssh")
  }

  private func total(
    _ server: SSHServer, _ run: (Int) async throws -> Outcome
  ) async throws -> Int {
    let proxy = try await FaultProxy(to: server.port)
    #expect(try await run(proxy.port).output.count == Self.size)
    let closed = try await proxy.first { if case .closed = $0.kind { true } else { false } }
    await proxy.stop()
    guard case .closed(_, let count) = closed.kind else { return 0 }
    return count
  }

  private func cut(
    _ server: SSHServer, after count: Int, _ run: (Int) async throws -> Outcome
  ) async throws -> Outcome {
    let proxy = try await FaultProxy(to: server.port)
    try await proxy.inject(.cut(after: count, by: .finish))
    let outcome = try await run(proxy.port)
    await proxy.stop()
    return outcome
  }
}
