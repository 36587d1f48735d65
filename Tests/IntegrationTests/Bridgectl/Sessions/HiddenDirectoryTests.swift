import BridgeFaults
import Foundation
import Testing

/// The directory of the user's sessions lets nothing be read for a while: its mode was changed, or
/// the ticket of an NFS home has expired. Sessions in it live, and are not called missing.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: geteuid() == 0))
struct HiddenDirectoryTests {
  /// One without an account, whose shell is /bin/sh.
  private static let user = 54321

  /// A server that runs each command as another user, whose home directory `body` gets.
  private func asUser(_ body: (SSHServer, Home, String) async throws -> Void) async throws {
    let place = try Home()
    FileDetails.setMode(place.path, 0o755)
    let own = place.file("user")
    try FileManager.default.createDirectory(
      atPath: "\(own)/.local/lib/bridge/bin", withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: SessionFolder.program, toPath: "\(own)/.local/lib/bridge/bin/bridge-host")
    _ = try await place.run(["-R", "\(Self.user):\(Self.user)", own], program: "/bin/chown")
    var configuration = SSHServerConfiguration()
    configuration.forceCommand =
      "exec setpriv --reuid=\(Self.user) --regid=\(Self.user) --clear-groups "
      + "env HOME=\(own) sh -c \"cd; $SSH_ORIGINAL_COMMAND\""
    try await withServer(configuration) { server, home in try await body(server, home, own) }
    // Where sessions are while that cannot be used.
    try? FileManager.default.removeItem(atPath: "/var/tmp/bridge-\(Self.user)")
  }

  /// The state directory, and the one around it.
  @Test(arguments: [".local/state/bridge", ".local/state"])
  func whatRunsThereIsNeitherMissingNorStartedAgain(hidden: String) async throws {
    try await asUser { server, home, own in
      func run(_ words: [String]) async throws -> Outcome {
        try await home.run([words[0]] + server.link(home) + words.dropFirst())
      }
      let start = ["--name", "job", "127.0.0.1", "--", "echo x >> ~/mark; sleep 60"]
      let first = try await run(["run", "--detach"] + start)
      #expect(first.code == 0, "\(first.error)")
      FileDetails.setMode("\(own)/\(hidden)", 0)
      for words in [["sessions", "127.0.0.1"], ["connect", "--batch"] + start] {
        let outcome = try await run(words)
        #expect(outcome.code == 74, "\(words): \(outcome.error)")
        #expect(outcome.error.contains("Permission denied"), "\(outcome.error)")
        #expect(outcome.error.contains("sessions may be in it"), "\(outcome.error)")
      }
      for verb in ["wait", "kill", "logs", "attach"] {
        let outcome = try await run([verb, "127.0.0.1", "job"])
        #expect(outcome.code == 74, "\(verb): \(outcome.error)")
      }
      // One without a name is in no one's way.
      let other = try await run(["connect", "--batch", "127.0.0.1", "--", "echo y; exit 5"])
      #expect(other.code == 5 && other.text == "y\n", "\(other.error)")
      FileDetails.setMode("\(own)/\(hidden)", 0o700)
      let mark = try String(contentsOfFile: "\(own)/mark", encoding: .utf8)
      #expect(mark == "x\n", "it ran once")
      let killed = try await run(["kill", "127.0.0.1", "job"])
      #expect(killed.code == 0, "\(killed.error)")
    }
  }

  /// Of another user's directory in that place no session was ever in it.
  @Test func anotherUsersDirectoryHidesNothing() async throws {
    try await asUser { server, home, own in
      let state = "\(own)/.local/state"
      try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
      FileDetails.setMode(state, 0o700)
      let words = ["--name", "job", "127.0.0.1", "--", "echo ran; exit 5"]
      let outcome = try await home.run(["connect", "--batch"] + server.link(home) + words)
      #expect(outcome.code == 5 && outcome.text == "ran\n", "\(outcome.error)")
      let listed = try await home.run(["sessions"] + server.link(home) + ["127.0.0.1"])
      #expect(listed.code == 0, "\(listed.error)")
    }
  }
}
