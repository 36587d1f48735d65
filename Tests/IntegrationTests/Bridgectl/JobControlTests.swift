import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl` as a job of a local shell: in the background the terminal is that shell's.
@Suite(.timeLimit(.minutes(5))) struct JobControlTests {
  /// With an interactive bash, where `./job` is `bridgectl connect` to the server.
  ///
  /// - Parameter signals: what the job ignores, by name.
  private func withLocalShell(
    ignoring signals: String = "", isKnown: Bool = true,
    _ body: (Home, Terminal, inout Screen) async throws -> Void
  ) async throws {
    try await withServer(isKnown: isKnown) { server, home in
      let words = [Child.program] + server.options(home) + ["127.0.0.1"]
      let command = words.map { "'\($0)'" }.joined(separator: " ")
      let trap = signals.isEmpty ? "" : "trap '' \(signals)\n"
      try home.write("\(trap)exec \(command) \"$@\"\n", to: "job")
      let terminal = try Terminal()
      let child = try Child(
        ["--norc", "-i"], program: "/bin/bash",
        environment: home.environment.merging(["TERM": "dumb", "PS1": "local> "]) { $1 },
        streams: .terminal(terminal.path), onEnd: terminal.hangUp)
      var screen = Screen(terminal, child)
      screen.type("cd; set +o history; job() { exec sh ./job \"$@\"; }\n")
      try await screen.see("local> ")
      try await screen.see("local> ")
      try await body(home, terminal, &screen)
    }
  }

  /// Waits until the shell has stopped the only job.
  private func seeStop(_ screen: inout Screen) async throws {
    screen.type("until jobs | grep Stop''ped; do sleep 0.05; done; echo stop''ped\n")
    try await screen.see("stopped\r\n")
  }

  /// A line for the local shell that it gets.
  private func seeLocalLine(_ screen: inout Screen) async throws {
    screen.type("echo lo''cal\n")
    try await screen.see("local\r\n")
  }

  /// Brings the job to the foreground.
  private func bringBack(_ screen: inout Screen) async throws {
    screen.type("fg\n")
    try await screen.see("fg\r\n")
    try await screen.see("job")
  }

  /// Waits until the job's shell, which is in the foreground, gets what is typed.
  private func seeRemoteShell(_ screen: inout Screen) async throws {
    screen.type("PS1=; stty -echo; echo rea''dy\r")
    try await screen.see("ready\r\n")
  }

  /// Suspends the job in the foreground and continues it in the background.
  private func sendToBackground(_ screen: inout Screen) async throws {
    screen.type("\r~\u{1A}")
    try await screen.see("local> ")
    screen.type("bg\n")
  }

  @Test(arguments: ["", "TTIN"])
  func aCommandReadsInTheForegroundOnly(_ ignored: String) async throws {
    try await withLocalShell(ignoring: ignored) { home, terminal, screen in
      screen.type("job -- 'echo up; cat; echo end; exit 3' &\n")
      try await screen.see("up\r\n")
      try await seeLocalLine(&screen)
      try await bringBack(&screen)
      #expect(!screen.transcript.contains("end\r\n"))
      screen.type("typed\n\u{4}")
      // Its echo and what comes back.
      try await screen.see("typed\r\n")
      try await screen.see("typed\r\n")
      try await screen.see("end\r\n")
      try await screen.see("local> ")
      screen.type("exit $?\n")
      #expect(await screen.end() == 3)
    }
  }

  /// The modes that a program has set are not those of the local shell.
  @Test func aSuspendedShellGivesTheTerminalBackAndTakesItAgain() async throws {
    try await withLocalShell { home, terminal, screen in
      screen.type("(job)\n")
      try await seeRemoteShell(&screen)
      screen.type("printf '\\033[?1049h\\033[2J\\033[?1000h\\033[5;5Hpro''gram'\r")
      try await screen.see("program")
      screen.type("\r~\u{1A}")
      try await screen.see("\u{1B}[?1049l")
      try await screen.see("\u{1B}[?1000l")
      try await screen.see("local> ")
      try await seeLocalLine(&screen)
      try await bringBack(&screen)
      try await screen.see("\u{1B}[?1000h")
      screen.type("printf '\\033[?1049l\\033[1;24rba''ck'\r")
      try await screen.see("back")
      // A region moves the cursor.
      screen.type("\r~\u{1A}")
      try await screen.see("local> ")
      try await bringBack(&screen)
      try await screen.see("\u{1B}7")
      try await screen.see("\u{1B}8")
      screen.type("exit 7\r")
      try await screen.see("local> ")
      screen.type("exit $?\n")
      #expect(await screen.end() == 7)
    }
  }

  @Test func aShellIsStoppedUntilItIsInTheForeground() async throws {
    try await withLocalShell { home, terminal, screen in
      screen.type("job &\n")
      try await seeStop(&screen)
      try await bringBack(&screen)
      try await seeRemoteShell(&screen)
      try await eventually { !terminal.isCooked }
      try await sendToBackground(&screen)
      try await seeStop(&screen)
      try await seeLocalLine(&screen)
      try await bringBack(&screen)
      screen.type("echo two$((1 + 1))\r")
      try await screen.see("two2")
      try await eventually { !terminal.isCooked }
      screen.type("exit 5\r")
      try await screen.see("local> ")
      screen.type("exit $?\n")
      #expect(await screen.end() == 5)
      #expect(screen.isRestored)
    }
  }

  /// A shell that brings a running job back sends it no signal.
  @Test func aShellThatCannotBeStoppedWaits() async throws {
    try await withLocalShell(ignoring: "TTIN TTOU") { home, terminal, screen in
      screen.type("job &\n")
      try await seeLocalLine(&screen)
      try await bringBack(&screen)
      try await seeRemoteShell(&screen)
      try await eventually { !terminal.isCooked }
      try await sendToBackground(&screen)
      try await seeLocalLine(&screen)
      try await bringBack(&screen)
      try await eventually { !terminal.isCooked }
      screen.type("echo two$((1 + 1))\r")
      try await screen.see("two2")
      screen.type("exit 5\r")
      try await screen.see("local> ")
      screen.type("exit $?\n")
      #expect(await screen.end() == 5)
      #expect(screen.isRestored)
    }
  }

  @Test func aQuestionIsAskedInTheForeground() async throws {
    try await withLocalShell(isKnown: false) { home, terminal, screen in
      screen.type("job -- 'exit 4' &\n")
      try await seeStop(&screen)
      #expect(!screen.transcript.contains("[yes/NO"))
      try await bringBack(&screen)
      try await screen.see("[yes/NO/fingerprint] ")
      screen.type("yes\r")
      try await screen.see("local> ")
      screen.type("exit $?\n")
      #expect(await screen.end() == 4)
      #expect(screen.isRestored)
    }
  }

  /// A shell continues a stopped job that it sends a signal.
  @Test(arguments: ["TERM", "HUP"])
  func aStoppedJobEndsByASignal(_ signal: String) async throws {
    try await withLocalShell { home, terminal, screen in
      screen.type("sh ./job\n")
      try await seeRemoteShell(&screen)
      try await sendToBackground(&screen)
      try await seeStop(&screen)
      try await seeEnd(by: signal, &screen)
    }
  }

  @Test(arguments: ["TERM", "HUP"])
  func aStoppedQuestionEndsByASignal(_ signal: String) async throws {
    try await withLocalShell(isKnown: false) { home, terminal, screen in
      screen.type("job -- 'exit 4' &\n")
      try await seeStop(&screen)
      try await seeEnd(by: signal, &screen)
      #expect(!screen.transcript.contains("[yes/NO"))
    }
  }

  private func seeEnd(by signal: String, _ screen: inout Screen) async throws {
    screen.type(
      "kill -\(signal) %1; until [ -z \"$(jobs -p)\" ]; do sleep 0.05; done; echo go''ne\n")
    try await screen.see("gone\r\n")
    screen.type("exit 7\n")
    #expect(await screen.end() == 7)
  }

  /// The modes of the local shell stay when a job in the background ends.
  @Test func aJobThatEndsInTheBackgroundLeavesTheTerminal() async throws {
    try await withLocalShell(ignoring: "TTIN TTOU") { home, terminal, screen in
      screen.type("sh ./job\n")
      try await seeRemoteShell(&screen)
      try await sendToBackground(&screen)
      try await seeLocalLine(&screen)
      screen.type("jobs -p >pid; echo writ''ten\n")
      try await screen.see("written\r\n")
      try await screen.see("local> ")
      try await eventually { !terminal.isCooked }
      let pid = try #require(
        pid_t(home.read("pid").trimmingCharacters(in: .whitespacesAndNewlines)))
      kill(pid, SIGTERM)
      try await eventually { kill(pid, 0) != 0 }
      // While it waits for a line, the shell has modes of its own.
      #expect(!terminal.isCooked)
      screen.type("exit 6\n")
      #expect(await screen.end() == 6)
    }
  }
}
