import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// Under one name another machine answers after the link was lost, which has not the session.
@Suite(.timeLimit(.minutes(3))) struct OtherPlaceTests {
  /// It ran there a moment ago, and still does: it is not called missing.
  @Test(arguments: [["wait"], ["logs", "-f"]])
  func whatIsWaitedForIsNotCalledMissing(verb: [String]) async throws {
    let place = try Home()
    let (other, change, mark) = (place.file("other"), place.file("change"), place.file("mark"))
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = """
      if [ -e '\(change)' ]; then export HOME='\(other)'; cd; fi; \
      case $SSH_ORIGINAL_COMMAND in *' wait '*|*' read '*) : > '\(mark)' ;; esac; \
      eval "$SSH_ORIGINAL_COMMAND"
      """
    try await withSessions(configuration) { server, home, folder in
      try SessionFolder(path: other).install()
      let link = server.link(home)
      let started = try await home.run(
        ["run", "--detach"] + link + ["127.0.0.1", "--", "echo here; exec sleep 600"])
      let id = started.text.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(started.code == 0 && !id.isEmpty, "\(started.error)")
      async let waiting = home.run([verb[0]] + link + verb.dropFirst() + ["127.0.0.1", id])
      try await eventually { FileManager.default.fileExists(atPath: mark) }
      // The answer of bridge-host is on its way.
      try await ContinuousClock().sleep(for: .milliseconds(500))
      try Data().write(to: URL(filePath: change))
      await server.killSessions()
      let outcome = try await waiting
      #expect(outcome.code == 74, "\(outcome.error)")
      #expect(outcome.error.contains("another machine than the one that answers"))
    }
  }
}
