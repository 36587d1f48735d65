import BridgeFaults
import BridgeTerminalState
import Foundation
import Testing

/// What is typed shows before the far side has echoed it.
@Suite(.timeLimit(.minutes(2))) struct PredictionTests {
  /// A shell behind a link that can be frozen, whose line begins with an `ech` that was echoed: one
  /// key is enough where the round trip was not measured on a busy machine.
  private func withLine(
    _ options: [String], _ body: (FaultProxy, Home, inout Screen) async throws -> Void
  ) async throws {
    try await withSessions { server, home, _ in
      let proxy = try await FaultProxy(to: server.port)
      var screen = try home.start(
        ["connect"] + server.link(home, port: proxy.port) + options + ["127.0.0.1"],
        on: Terminal())
      screen.type("PS1='> '; echo rea''dy\r")
      try await screen.see("ready\r\n")
      try await screen.see("> ")
      for key in ["e", "ec", "ech"] { try await type(key, on: &screen) }
      try await body(proxy, home, &screen)
      await proxy.stop()
    }
  }

  /// Types the last key of a line, and waits until the far side has echoed it.
  private func type(_ line: String, on screen: inout Screen) async throws {
    screen.type(String(line.suffix(1)))
    while true {
      let terminal = terminal(screen)
      let isEchoed = (0..<24).contains { terminal.text(ofRow: $0) == "> " + line }
      if isEchoed, !isUnderlined(terminal) { return }
      try await screen.readMore()
    }
  }

  private func terminal(_ screen: Screen) -> TerminalScreen {
    var terminal = TerminalScreen(rows: 24, columns: 80)
    terminal.track(Array(screen.transcript.utf8))
    return terminal
  }

  private func isUnderlined(_ terminal: TerminalScreen) -> Bool {
    String(decoding: terminal.render(), as: UTF8.self).contains("\u{1B}[4m")
  }

  @Test(arguments: ["--durable=require", "--durable=never"])
  func aKeyIsShownWhileNothingComesFromTheHost(_ durable: String) async throws {
    try await withLine([durable, "--predict=always"]) { proxy, _, screen in
      try await proxy.inject(.freeze([.toClient]))
      screen.type("o")
      try await screen.see("\u{1B}[4mo")
      try await proxy.inject(.lift)
      screen.type(" th''ere\r")
      try await screen.see("there\r\n")
      let terminal = terminal(screen)
      let rows = (0..<24).map { terminal.text(ofRow: $0) }
      #expect(rows.contains("> echo th''ere") && rows.contains("there"))
      #expect(!isUnderlined(terminal))
      screen.type("exit 3\r")
      #expect(await screen.end() == 3)
      #expect(screen.isRestored)
    }
  }

  @Test func aPasswordIsNot() async throws {
    try await withLine(["--predict=always"]) { _, _, screen in
      screen.type("o ea''sy; read -rs word; echo ${#word} lett''ers\r")
      try await screen.see("easy\r\n")
      for key in ["s", "e", "c", "r", "e", "t", "\r"] { screen.type(key) }
      try await screen.see("6 letters")
      screen.type("exit\r")
      #expect(await screen.end() == 0)
      #expect(!screen.transcript.contains("sec") && !screen.transcript.contains("\u{1B}[4ms"))
    }
  }

  @Test func nothingIsPredictedWhereThatIsNotWanted() async throws {
    try await withLine(["--predict=never"]) { _, _, screen in
      screen.type("o th''ere; exit\r")
      #expect(await screen.end() == 0)
      #expect(!screen.transcript.contains("\u{1B}[4m"))
    }
  }
}
