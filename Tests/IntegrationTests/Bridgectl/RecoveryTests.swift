import BridgeFaults
import BridgeTerminalState
import Foundation
import Testing

/// What a person at `bridgectl connect` sees when the link is cut and restored.
@Suite(.timeLimit(.minutes(5))) struct RecoveryTests {
  @Test func aShellComesBackAsANewOne() async throws {
    try await withShell { server, _, screen in
      await server.killSessions()
      try await screen.see("The link is back after")
      try await screen.see("This is a new shell")
      screen.type("echo al''ive; exit 6\r")
      try await screen.see("alive")
      #expect(await screen.end() == 6)
      #expect(screen.isRestored)
    }
  }

  @Test func aBannerSaysWhatIsTriedAndGoes() async throws {
    try await withShell { server, _, screen in
      await server.kill()
      try await screen.see("Connection refused")
      try await screen.see("reconnecting")
      try await screen.see("[r] Retry  [a] Abort")
      try await server.restart()
      screen.type("r")
      try await screen.see("This is a new shell")
      // Ctrl-U first: if the link was back by itself before the key, the shell has an "r".
      screen.type("\u{15}exit 0\r")
      #expect(await screen.end() == 0)
    }
  }

  @Test(arguments: ["aa", "\u{3}\u{3}"])
  func thereIsAlwaysAWayOut(_ keys: String) async throws {
    try await withShell { server, _, screen in
      await server.kill()
      try await screen.see("[a] Abort")
      screen.type(keys)
      #expect(await screen.end() == 130)
      #expect(screen.isRestored)
    }
  }

  @Test func aChangedHostKeyEndsIt() async throws {
    try await withShell { server, _, screen in
      try await server.swapHostKeys()
      #expect(await screen.end() == 79)
      #expect(screen.transcript.contains("\r\nbridgectl: [sshHostKeyMismatch] "))
      #expect(screen.isRestored)
    }
  }

  @Test func aSilentLinkIsSuspectedAndMayRecover() async throws {
    try await withShell(["--keepalive", "500ms"]) { server, _, screen in
      await server.freeze()
      try await screen.see("has not responded for")
      screen.type("echo he''ld\r")
      await server.thaw()
      try await screen.see("held")
      screen.type("exit 2\r")
      #expect(await screen.end() == 2)
    }
  }

  /// A program that draws nothing anew, on the alternate screen or at the end of the main one.
  @Test(arguments: ["\\033[?1049h", ""])
  func whatABannerCoversIsThereAgain(_ start: String) async throws {
    try await withShell(["--keepalive", "500ms"]) { server, _, screen in
      let program =
        "printf '\(start)\\033[H\\033[2Jfir''st\\033[23;1HAllow this?\\033[24;1H1. Yes'; "
        + "sleep 100"
      screen.type("exec sh -c \"\(program)\"\r")
      let drawn = ["first"] + Array(repeating: "", count: 21) + ["Allow this?", "1. Yes"]
      while rows(screen) != drawn { try await screen.readMore() }
      await server.freeze()
      try await untilBanner(&screen)
      await server.thaw()
      while rows(screen) != drawn { try await screen.readMore() }
      screen.type("\u{3}")
      #expect(await screen.end() == 130)
      #expect(screen.isRestored)
    }
  }

  /// The local shell's prompt comes where the banner stood.
  @Test func aBannerGoesBeforeAStop() async throws {
    try await withShell(["--keepalive", "500ms"], inShell: true) { server, _, screen in
      await server.freeze()
      try await untilBanner(&screen)
      screen.signal(SIGTSTP)
      await screen.untilStopped()
      screen.type("local")
      try await screen.see("local")
      #expect(!hasBanner(screen), "\(rows(screen))")
      screen.signal(SIGCONT)
      try await untilBanner(&screen)
      screen.type("\r~.")
      #expect(await screen.end() == 130)
      #expect(screen.isRestored)
      await server.thaw()
    }
  }

  private func untilBanner(_ screen: inout Screen) async throws {
    while !hasBanner(screen) { try await screen.readMore() }
  }

  private func hasBanner(_ screen: Screen) -> Bool {
    // A busy machine may have given the link up meanwhile.
    rows(screen).contains {
      $0.contains("has not responded for") || $0.contains("econnecting") || $0.contains("No link")
    }
  }

  private func rows(_ screen: Screen) -> [String] {
    var terminal = TerminalScreen(rows: 24, columns: 80)
    terminal.track(Array(screen.transcript.utf8))
    return (0..<24).map { terminal.text(ofRow: $0) }
  }

  /// What a ProxyCommand writes then is in the banner, and not across the screen of a program.
  @Test func aProxyCommandWritesOverNoShell() async throws {
    try await withServer { server, home in
      let (down, way) = (home.file("down"), server.options(home).joined(separator: " "))
      let port = server.port
      let proxy = """
        test -e \(down) && { echo no way >&2; exit 9; }; echo hello way >&2; \
        exec \(Child.program) \(way) -W 127.0.0.1:\(port) 127.0.0.1
        """
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["-o", "ProxyCommand=sh -c '\(proxy)'", "127.0.0.1"], on: terminal)
      screen.type("PS1=; stty -echo; echo rea''dy\r")
      try await screen.see("ready\r\n")
      try Data().write(to: URL(filePath: down))
      await server.killSessions()
      try await screen.see("ended with status 9: no way")
      screen.type("s")
      try await screen.see("may never have been reached")
      try FileManager.default.removeItem(atPath: down)
      try await screen.see("This is a new shell")
      screen.type("exit 4\r")
      #expect(await screen.end() == 4)
      let words = screen.transcript
      #expect(words.components(separatedBy: "\nhello way").count == 1, "\(words)")
      #expect(!words.contains("\nno way"))
    }
  }

  @Test func anIdempotentCommandRunsAgain() async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      let mark = home.file("mark")
      let command =
        "if [ -e \(mark) ]; then echo again; else touch \(mark); echo once; sleep 99; fi"
      var screen = try home.start(
        server.options(home) + ["--idempotent", "127.0.0.1", "--", command], on: terminal)
      try await screen.see("once")
      await server.killSessions()
      try await screen.see("The command runs again")
      try await screen.see("again\r\n")
      #expect(await screen.end() == 0)
    }
  }

  /// The link goes at places all over the last packets before a command's status: from before it is
  /// sent to after it has run.
  @Test func anyOtherCommandNeverRunsTwice() async throws {
    try await withServer { server, home in
      let whole = try await runs(server, home, cutAfter: nil)
      #expect(whole.code == 3)
      #expect(whole.count == 1)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for place in stride(from: whole.bytes - 500 + 12 * worker, to: whole.bytes, by: 48) {
              let run = try await self.runs(server, home, cutAfter: place)
              let isRetried = run.code == 3 && run.count == 1
              let isReported = run.code == 74 && run.count <= 1
              #expect(isRetried || isReported, "after \(place) bytes: \(run)")
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// With the last connection gone, 74 is said only of a command that may have run.
  @Test func aCommandThatWasNotSentHasNoUnknownOutcome() async throws {
    try await withServer { server, home in
      let whole = try await runs(server, home, cutAfter: nil)
      let run = try await runs(
        server, home, cutAfter: whole.bytes - 500, options: ["--no-reconnect"])
      #expect(run.code == 69)
      #expect(run.count == 0)
    }
  }

  /// How often a command ran whose first connection ends after so many bytes to the client.
  private func runs(
    _ server: SSHServer, _ home: Home, cutAfter place: Int?, options: [String] = []
  ) async throws -> (code: Int32, count: Int, bytes: Int) {
    let proxy = try await FaultProxy(to: server.port)
    if let place { try await proxy.inject(.cut(after: place)) }
    let mark = home.file("mark-\(proxy.port)")
    let outcome = try await home.run(
      server.options(home, port: proxy.port) + options + [
        "--host-key", "accept-new", "127.0.0.1", "--", "echo ran >> \(mark); exit 3",
      ])
    let closed = try await proxy.first { if case .closed = $0.kind { true } else { false } }
    await proxy.stop()
    let bytes = if case .closed(_, let count) = closed.kind { count } else { 0 }
    let lines = (try? String(contentsOfFile: mark, encoding: .utf8))?.split(separator: "\n") ?? []
    return (outcome.code, lines.count, bytes)
  }

  /// A second run has the input from its beginning, or there is none.
  @Test(arguments: [(300_000, 0), (9_000_000, 74)] as [(Int, Int32)])
  func anotherRunHasTheSameInput(size: Int, code: Int32) async throws {
    try await withServer { server, home in
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: size * 3 / 4, .toServer))
      let input = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 5) }
      let outcome = try await home.run(
        server.options(home, port: proxy.port) + [
          "--host-key", "accept-new", "--idempotent", "127.0.0.1", "--", "cat > \(home.file("in"))",
        ], input: input)
      #expect(outcome.code == code, "\(outcome.error)")
      if code == 0 {
        let arrived = try Data(contentsOf: URL(fileURLWithPath: home.file("in")))
        let isWhole = arrived == Data(input)
        #expect(isWhole)
      } else {
        #expect(outcome.error.contains("input was too long to be kept for another run"))
      }
      await proxy.stop()
    }
  }

  /// What follows in a script is not for another shell.
  @Test func aShellThatReadsAScriptIsNotReplaced() async throws {
    try await withServer { server, home in
      let script =
        "echo one >> \(home.file("log")); kill -9 $PPID\necho two >> \(home.file("log"))\n"
      let outcome = try await home.run(
        server.options(home) + ["127.0.0.1"], input: Array(script.utf8))
      #expect(outcome.code == 74, "\(outcome.error)")
      let log = try String(contentsOfFile: home.file("log"), encoding: .utf8)
      #expect(log.split(separator: "\n").count { $0 == "one" } == 1, "\(log)")
      #expect(!outcome.error.contains("new shell"))
    }
  }

  @Test func anIdempotentCommandMovesOffALinkThatFroze() async throws {
    try await withServer { server, home in
      let proxy = try await FaultProxy(to: server.port)
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home, port: proxy.port)
          + [
            "--host-key", "accept-new", "--idempotent", "--keepalive", "300ms", "127.0.0.1", "--",
            "echo here; sleep 99",
          ],
        on: terminal)
      try await screen.see("here")
      try await proxy.inject(.freeze())
      try await screen.see("The command runs again")
      try await screen.see("here\r\n")
      screen.type("\u{3}\u{3}")
      #expect(await screen.end() == 130)
      await proxy.stop()
    }
  }

  @Test func theFirstDialIsRetriedOnlyWithWait() async throws {
    try await withServer { server, home in
      await server.kill()
      let options = server.options(home)
      #expect(try await home.run(options + ["127.0.0.1", "--", "true"]).code == 69)
      let late = try await home.run(options + ["--wait=10s", "127.0.0.1", "--", "true"])
      #expect(late.code == 69)
      let running = try home.start(options + ["--wait", "127.0.0.1", "--", "echo up"])
      try await server.restart()
      #expect(try await running.outcome().text == "up\n")
    }
  }

  @Test func everyStepIsAnEvent() async throws {
    try await withServer { server, home in
      let mark = home.file("mark")
      let command = "[ -e \(mark) ] || { touch \(mark); sleep 1; kill -9 $PPID; }"
      let outcome = try await home.run(
        server.options(home) + ["--json", "--idempotent", "127.0.0.1", "--", command])
      #expect(outcome.code == 0)
      let events = try outcome.error.split(separator: "\n").map { line in
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      }
      let names = events.compactMap { $0["event"] as? String }
      let steps = names.filter { ["attempt", "failed", "recovered", "started"].contains($0) }
      let once = ["attempt", "recovered", "started"]
      #expect(steps == once + ["failed"] + once)
      let counters = events.first { $0["event"] as? String == "counters" }
      #expect(counters?["retries"] as? Int == 1)
      #expect(counters?["reconnects"] as? Int == 1)
    }
  }
}
