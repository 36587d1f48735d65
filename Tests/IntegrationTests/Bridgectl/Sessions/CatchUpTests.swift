import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// A terminal that is far behind what its session printed.
@Suite(.timeLimit(.minutes(2))) struct CatchUpTests {
  /// A shell that printed 8 MiB and a last line while its client stood still.
  private func shellFarBehind(
    _ options: [String], _ body: (inout Screen) async throws -> Void
  ) async throws {
    try await withSessions { server, home, _ in
      var screen = try home.start(
        ["connect", "--durable=require"] + options + server.link(home) + ["127.0.0.1"],
        on: Terminal())
      let (go, done) = (home.file("go"), home.file("done"))
      screen.type("PS1=; stty -echo; cd; echo rea''dy\r")
      try await screen.see("ready\r\n")
      screen.type(
        "echo wait''ing; until test -e '\(go)'; do sleep 0.05; done; "
          + "yes 'an ordinary line' | head -c 8388608; echo the e''nd; >'\(done)'\r")
      try await screen.see("waiting")
      screen.signal(SIGSTOP)
      await screen.untilStopped()
      try home.write("", to: "go")
      try await eventually { FileManager.default.fileExists(atPath: done) }
      screen.signal(SIGCONT)
      #expect(await screen.shows("the end"))
      try await body(&screen)
      screen.type("exit 3\r")
      #expect(await screen.end() == 3, "nothing that was asked for is missing")
    }
  }

  @Test func whoWasAwayIsShownTheScreenOfNow() async throws {
    try await shellFarBehind([]) { screen in
      #expect(screen.transcript.utf8.count < 4 << 20)
      #expect(screen.words.contains(" left out to catch up: bridgectl logs has it, session "))
    }
  }

  @Test func onRequestEveryByteIsShown() async throws {
    try await shellFarBehind(["--catch-up=all"]) { screen in
      #expect(screen.transcript.utf8.count > 8 << 20)
      #expect(!screen.transcript.contains("left out"))
    }
  }
}
