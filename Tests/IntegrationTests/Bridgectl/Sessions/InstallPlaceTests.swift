import BridgeFaults
import Foundation
import Testing

/// `bridgectl install` where the home directory cannot execute or hold the program.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0)) struct InstallPlaceTests {
  /// The server of a user whose `.local` is a file system of its own, and with another directory in
  /// place of /var/tmp; `body` is not run where this machine mounts nothing.
  private func withDisks(
    home options: String, shared: String? = nil,
    _ body: (SSHServer, Home, SessionFolder) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand =
      #"exec /usr/bin/unshare --mount /bin/sh -c 'mount --bind "$HOME/shared" /var/tmp && "#
      + #"eval "$SSH_ORIGINAL_COMMAND"'"#
    try await withServer(configuration) { server, home in
      let folder = SessionFolder(of: server)
      var mounted: [String] = []
      for (name, options) in [(".local", options), ("shared", shared)] {
        let path = "\(folder.path)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard let options else { continue }
        let mount = try await home.run(
          ["-t", "tmpfs", "-o", "\(options),mode=700", "none", path], program: "/bin/mount")
        if mount.code == 0 { mounted.append(path) }
      }
      let result: Result<Void, any Error>
      do {
        if mounted.count == (shared == nil ? 1 : 2) { try await body(server, home, folder) }
        result = .success(())
      } catch {
        result = .failure(error)
      }
      await folder.killAll(home)
      for path in mounted { _ = try await home.run(["-l", path], program: "/bin/umount") }
      try result.get()
    }
  }

  private func install(_ server: SSHServer, _ home: Home) async throws -> Outcome {
    try await home.run(["install"] + server.link(home) + ["127.0.0.1"])
  }

  private func names(_ path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// One that executes nothing, and one without the space.
  @Test(arguments: ["noexec", "size=1m"])
  func aHomeThatHoldsNoProgramIsPassedOverAndTheSessionFindsIt(_ kind: String) async throws {
    try await withDisks(home: kind) { server, home, folder in
      let outcome = try await install(server, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.error.contains("/var/tmp/bridge-\(getuid())/bin"), "\(outcome.error)")
      #expect(names("\(folder.path)/shared/bridge-\(getuid())/bin").contains("bridge-host"))
      #expect(names("\(folder.path)/.local/lib/bridge/bin").isEmpty)
      let run = try await home.run(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1", "--", "exit 6"])
      #expect(run.code == 6, "\(run.error)")
    }
  }

  @Test func whereNothingExecutesThatIsTheReason() async throws {
    try await withDisks(home: "noexec", shared: "noexec") { server, home, folder in
      let outcome = try await install(server, home)
      #expect(outcome.code == 78)
      #expect(outcome.lastLine.contains("[durableSessionHostUnusable]"))
      #expect(outcome.error.contains("/.local/lib/bridge/bin"), "\(outcome.error)")
      #expect(outcome.error.contains("(noexec)"), "\(outcome.error)")
    }
  }

  @Test func aFullDiskIsTheReasonAndNoPartStays() async throws {
    try await withDisks(home: "size=1m", shared: "size=1m") { server, home, folder in
      let outcome = try await install(server, home)
      #expect(outcome.code == 73)
      #expect(outcome.error.contains("KiB are free"), "\(outcome.error)")
      #expect(outcome.lastLine.contains("[fileWriteError]"))
      #expect(names("\(folder.path)/.local/lib/bridge/bin").isEmpty)
    }
  }
}
