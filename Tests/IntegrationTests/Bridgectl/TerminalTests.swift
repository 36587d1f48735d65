import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl connect host` in front of a real terminal: whatever happens, the terminal is as it
/// was.
@Suite(.timeLimit(.minutes(5))) struct TerminalTests {
  @Test(arguments: [("no\r", 79), ("\r", 79), ("what\r", 79), ("yes\r", 0)] as [(String, Int32)])
  func aPersonDecidesAboutAnUnknownHost(_ answer: String, _ code: Int32) async throws {
    try await withServer(isKnown: false) { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["127.0.0.1", "--", "true"], on: terminal)
      try await screen.see("ED25519 key is")
      try await screen.see("SHA256:")
      try await screen.see("[yes/NO/fingerprint] ")
      screen.type(answer)
      if answer == "what\r" {
        try await screen.see("Type yes, no or the fingerprint")
        screen.type("no\r")
      }
      #expect(await screen.end() == code)
      // Nothing was drawn over the question: what follows it is the answer's echo.
      let asked = try #require(screen.transcript.range(of: "[yes/NO/fingerprint] "))
      let echo = answer.replacing("\r", with: "\r\n")
      #expect(screen.transcript[asked.upperBound...].hasPrefix(echo))
      #expect(home.read("known_hosts").isEmpty == (code != 0))
      #expect(screen.words.contains("added the ED25519 key SHA256:") == (code == 0))
      #expect(screen.isRestored)
    }
  }

  /// As `--batch`: neither about an unknown key nor for a password.
  @Test(arguments: [["-o", "BatchMode=yes"], ["--batch"]])
  func aBatchAsksNothingOnATerminal(_ options: [String]) async throws {
    try await withServer(isKnown: false) { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + options + ["127.0.0.1", "--", "true"], on: terminal)
      #expect(await screen.end() == 79)
      #expect(!screen.transcript.contains("[yes/NO/fingerprint]"))
    }
  }

  @Test func aShellHasTheTerminalAndGivesItBack() async throws {
    try await withShell { server, terminal, screen in
      screen.type("stty size; echo $TERM\r")
      try await screen.see("24 80")
      try await screen.see("xterm-256color")
      #expect(!terminal.isCooked)
      terminal.resize(columns: 111, rows: 33)
      screen.type("until stty size | grep '33 111'; do sleep 0.05; done\r")
      try await screen.see("33 111")
      screen.type("exit 5\r")
      #expect(await screen.end() == 5)
      #expect(screen.isRestored)
    }
  }

  private static let withoutTerminals: SSHServerConfiguration = {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["PermitTTY no"]
    return configuration
  }()

  /// As with ssh: the shell goes on, and the terminal here edits each line.
  @Test(arguments: [("exit 5\r", 5), ("\u{4}", 0), ("~.\r", 130)] as [(String, Int32)])
  func aShellOnAHostWithoutTerminalsGoesOn(_ last: String, _ code: Int32) async throws {
    try await withServer(Self.withoutTerminals) { server, home in
      let terminal = try Terminal()
      var screen = try home.start(server.options(home) + ["127.0.0.1"], on: terminal)
      try await screen.see("gives no terminal; the shell goes on without one")
      screen.type("tty; echo ca''me\r")
      try await screen.see("tty; echo ca''me\r\n")
      try await screen.see("not a tty\r\ncame\r\n")
      #expect(terminal.isCooked)
      screen.type(last)
      #expect(await screen.end() == code)
      #expect(screen.isRestored)
    }
  }

  /// As with ssh: one that was asked for by name is a condition.
  @Test func aTerminalThatIsAskedForAndRefusedEndsTheRun() async throws {
    try await withServer(Self.withoutTerminals) { server, home in
      let terminal = try Terminal()
      var screen = try home.start(server.options(home) + ["-t", "127.0.0.1"], on: terminal)
      #expect(await screen.end() == 76)
      #expect(screen.words.contains("`-T` asks for no terminal."))
      #expect(screen.isRestored)
    }
  }

  @Test func escapesAreOurs() async throws {
    try await withShell { server, terminal, screen in
      screen.type("\r~?")
      try await screen.see("~.   disconnect")
      screen.type("\r~s")
      try await screen.see("round trip")
      screen.type("\r~.")
      #expect(await screen.end() == 130)
      #expect(screen.isRestored)
    }
  }

  @Test func controlCGoesToTheShell() async throws {
    try await withShell { server, terminal, screen in
      screen.type(
        "sh -c 'trap \"echo caught; exit 9\" INT; echo begin; while :; do sleep 9; done'\r")
      try await screen.see("begin\r\n")
      screen.type("\u{3}")
      try await screen.see("caught\r\n")
      screen.type("echo status=$?\r")
      try await screen.see("status=9")
      screen.type("exit\r")
      _ = await screen.end()
      #expect(screen.isRestored)
    }
  }

  @Test func aCutLinkPutsTheScreenBack() async throws {
    try await withShell(["--no-reconnect"]) { server, terminal, screen in
      screen.type("printf '\\033[?1049h\\033[?25l\\033[?1000h'; echo al''ternate; cat\r")
      try await screen.see("alternate")
      await server.killSessions()
      #expect(await screen.end() == 74)
      for sequence in ["[?1049l", "[?25h", "[?1000l"] {
        #expect(screen.transcript.contains("\u{1B}\(sequence)"))
      }
      #expect(screen.transcript.contains("\r\nbridgectl: [sshConnectionFailed] "))
      #expect(screen.isRestored)
    }
  }

  @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130)] as [(Int32, Int32)])
  func aSignalGivesTheTerminalBack(_ number: Int32, _ code: Int32) async throws {
    try await withShell { server, terminal, screen in
      screen.signal(number)
      #expect(await screen.end() == code)
      #expect(screen.isRestored)
    }
  }

  /// What waits to be written does not hold up the end, nor the modes that are put back.
  @Test(
    arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130), (SIGQUIT, 131)] as [(Int32, Int32)])
  func aTerminalThatTakesNoOutputDoesNotHoldUpTheEnd(
    _ number: Int32, _ code: Int32
  ) async throws {
    let folder = try Home()
    let mark = folder.file("mark")
    try await withShell(["--durable=never"]) { server, terminal, screen in
      terminal.stopOutput()
      // Half a second for what is under way.
      screen.type("(sleep 0.5; echo >\(mark)) & seq 1 200000\r")
      try await eventually { FileManager.default.fileExists(atPath: mark) }
      screen.signal(number)
      #expect(await screen.end() == code)
      #expect(screen.isRestored)
    }
  }

  /// The status of the process is the signal's: nothing of ours answers it.
  @Test(arguments: [SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGPROF, 34, 64])
  func aSignalThatKillsGivesTheTerminalBack(_ number: Int32) async throws {
    try await withShell { server, terminal, screen in
      #expect(!terminal.isCooked)
      screen.signal(number)
      #expect(await screen.end() == 1000 + number)
      #expect(screen.isRestored)
    }
  }

  @Test func aStatusThatTakesLongDoesNotHoldUpTheKeyboard() async throws {
    try await withShell(["--keepalive", "0s"]) { server, terminal, screen in
      await server.freeze()
      screen.type("\r~s\r~.")
      #expect(await screen.end() == 130)
      #expect(!screen.words.contains("no answer within"))
      #expect(screen.isRestored)
      await server.thaw()
    }
  }

  @Test func aStoppedShellHasItsTerminalAgain() async throws {
    try await withShell(inShell: true) { server, terminal, screen in
      screen.signal(SIGTSTP)
      await screen.untilStopped()
      #expect(terminal.isCooked)
      screen.signal(SIGCONT)
      screen.type("\rexit 3\r")
      #expect(await screen.end() == 3)
      #expect(screen.isRestored)
    }
  }

  /// In a window of its own, or by `ssh -t`: nothing could continue it, and as ssh it goes on.
  @Test func withoutAShellNothingStops() async throws {
    try await withShell { _, _, screen in
      screen.type("\r~\u{1A}")
      screen.signal(SIGTSTP)
      screen.type("\recho go''ne on\r")
      try await screen.see("gone on\r\n")
      screen.type("\r~\u{1A}\rexit 3\r")
      #expect(await screen.end() == 3)
      #expect(screen.isRestored)
    }
  }

  @Test func progressIsPlainWhereTheLocaleIs() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let terminal = try Terminal()
    var screen = try Home().start(
      ["connect", "-p", "\(peer.port)", "127.0.0.1"], on: terminal, environment: ["LANG": "C"])
    try await screen.see("waiting for the server's banner ...")
    screen.type("\u{3}")
    #expect(await screen.end() == 130)
    #expect(screen.transcript.utf8.allSatisfy { $0 < 0x80 })
    await peer.stop()
  }

  @Test func controlCCancelsAConnect() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let terminal = try Terminal()
    var screen = try Home().start(
      ["connect", "-p", "\(peer.port)", "127.0.0.1"], on: terminal)
    try await screen.see("waiting for the server")
    screen.type("\u{3}")
    #expect(await screen.end() == 130)
    #expect(screen.isRestored)
    await peer.stop()
  }

  /// Gives three wrong passwords on a terminal, on which none of them is shown. `act` comes before
  /// the first, at the question.
  private func guess(
    inShell: Bool = false, after act: (Terminal, inout Screen) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersPassword = true
    try await withServer(configuration) { server, home in
      try await server.revokeIdentities()
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["127.0.0.1", "--", "true"], on: terminal, inShell: inShell)
      try await act(terminal, &screen)
      for round in 1...3 {
        try await seeQuestion(on: &screen)
        screen.type("guess-\(round)\r")
      }
      #expect(await screen.end() == 77)
      #expect(!screen.transcript.contains("guess"))
      #expect(screen.isRestored)
    }
  }

  private func seeQuestion(on screen: inout Screen) async throws {
    try await screen.see("Password of ")
    try await screen.see(": ")
  }

  @Test func aPasswordIsNotShown() async throws { try await guess { _, _ in } }

  /// Nothing could continue it; the question is asked again, and what was typed is dropped.
  @Test func aQuestionWithoutAShellIsNotStopped() async throws {
    try await guess { _, screen in
      try await seeQuestion(on: &screen)
      screen.type("guess\u{1A}")
    }
  }

  /// Between the stop and the going on, the terminal is the shell's.
  @Test(arguments: [SIGTSTP, SIGSTOP])
  func aPasswordIsNotShownAfterAStopEither(_ stop: Int32) async throws {
    try await guess(inShell: stop == SIGTSTP) { terminal, screen in
      try await seeQuestion(on: &screen)
      if stop == SIGTSTP { screen.type("\u{1A}") } else { screen.signal(stop) }
      await screen.untilStopped()
      if stop == SIGTSTP { #expect(terminal.isCooked) }
      terminal.cook()
      screen.signal(SIGCONT)
    }
  }
}
