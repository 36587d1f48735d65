import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl connect HOST` in front of a real terminal, where the host has `bridge-host`.
@Suite(.timeLimit(.minutes(5))) struct DurableShellTests {
  /// A durable shell that is ready, with a quiet prompt.
  private func withShell(
    _ options: [String] = [], environment: [String: String] = [:],
    _ body: (Scene, inout Screen) async throws -> Void
  ) async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port)
      let terminal = try Terminal()
      var screen = try home.start(
        ["connect", "--durable=require"] + server.link(home, port: proxy.port) + options
          + ["127.0.0.1"], on: terminal, environment: environment)
      screen.type("PS1=; stty -echo; echo rea''dy\r")
      try await screen.see("ready\r\n")
      let scene = Scene(proxy: proxy, home: home, folder: folder, link: server.link(home))
      try await body(scene, &screen)
      await proxy.stop()
    }
  }

  private struct Scene {
    /// Between the client and the server.
    let proxy: FaultProxy
    let home: Home
    let folder: SessionFolder
    /// How another client reaches the server.
    let link: [String]
  }

  @Test func theShellIsTheSameAfterTheLinkWasLost() async throws {
    try await withShell { scene, screen in
      screen.type("kept=value; sleep 0.2; echo \"pid $$\"\r")
      try await screen.see("pid ")
      try await scene.proxy.inject(.reset)
      screen.type("echo after=$kept; exit 6\r")
      try await screen.see("after=value\r\n")
      #expect(await screen.end() == 6)
      #expect(!screen.words.contains("new shell"))
      #expect(screen.isRestored)
      try await eventually { scene.folder.ids.isEmpty }
    }
  }

  /// Nothing can be erased there: what was said to be retried is said to be over.
  @Test func aTerminalThatCannotDrawLearnsOfTheReturn() async throws {
    try await withShell(environment: ["TERM": "dumb"]) { scene, screen in
      try await scene.proxy.inject(.refuse())
      try await scene.proxy.inject(.reset)
      try await screen.see("Retrying; changes are reported.")
      try await scene.proxy.inject(.lift)
      try await screen.see("bridgectl: The link is back after")
      screen.type("exit 6\r")
      #expect(await screen.end() == 6)
    }
  }

  @Test func whatWasPrintedMeanwhileComesOnceAndInOrder() async throws {
    try await withShell { scene, screen in
      let go = scene.home.file("go")
      screen.type(
        "until [ -e \(go) ]; do sleep 0.02; done; for i in 1 2 3 4 5; do echo line$i; done\r")
      try await scene.proxy.inject(.refuse())
      try await scene.proxy.inject(.reset)
      try scene.home.write("", to: "go")
      try await screen.see("Connection refused")
      try await scene.proxy.inject(.lift)
      screen.type("\r~r")
      try await screen.see("line1\r\nline2\r\nline3\r\nline4\r\nline5\r\n")
      screen.type("exit\r")
      #expect(await screen.end() == 0)
      #expect(screen.transcript.components(separatedBy: "line3\r\n").count == 2)
    }
  }

  @Test func whatIsTypedWhileTheLinkIsDownIsHeldCountedAndSent() async throws {
    try await withShell { scene, screen in
      try await scene.proxy.inject(.refuse())
      try await scene.proxy.inject(.reset)
      try await screen.see(" is held")
      // No bare key is a command: "r" and "a" are typed text.
      screen.type("echo ar''rived\r")
      try await screen.seeHeld(15)
      try await scene.proxy.inject(.lift)
      screen.type("~r")
      try await screen.see("arrived\r\n")
      screen.type("exit 2\r")
      #expect(await screen.end() == 2)
      #expect(screen.transcript.components(separatedBy: "arrived\r\n").count == 2)
    }
  }

  /// A black hole: the link falls silent, and so does every dial after it. The time is one that a
  /// busy machine keeps, too: a link that is declared dead before holds what was typed.
  @Test func anOutageIsOnTheScreenFromTheSuspicionToTheEnd() async throws {
    try await withShell(["--keepalive", "1s", "--dead-after", "8s"]) { scene, screen in
      try await scene.proxy.inject(.partition())
      screen.type("echo in the so''cket\r")
      try await screen.see("has not responded for")
      // What is in the socket has not arrived.
      try await screen.seeHeld(21)
      screen.type("~s")
      try await screen.see(" at 127.0.0.1:\(scene.proxy.port)")
      // The link is dead, the next one is dialed, and nothing has failed that could be shown.
      try await screen.see("; reconnecting (attempt 1).")
      screen.type("half a line")
      try await screen.see("Enter ~. disconnects.")
      screen.type("\r~s")
      try await screen.seeHeld(33)
      screen.type("~.")
      #expect(await screen.end() == 130)
      #expect(screen.isRestored)
    }
  }

  /// Without its session the banner would be that of a plain shell, with keys that are closed.
  @Test func detachingInAnOutageSaysHowToReturnAndNoMore() async throws {
    try await withShell { scene, screen in
      try await scene.proxy.inject(.refuse())
      try await scene.proxy.inject(.reset)
      try await screen.see("; the session goes on")
      screen.type("\r~d")
      #expect(await screen.end() == 0)
      #expect(screen.isRestored)
      #expect(screen.words.contains("detached from session"))
      #expect(!screen.words.contains("Abort"), "\(screen.words)")
    }
  }

  /// As after Ctrl-S: the words of the end are not waited for. As ssh does.
  @Test(arguments: [("~.", 130), ("~d", 0)] as [(String, Int32)])
  func aTerminalThatTakesNothingIsLeft(_ escape: String, _ code: Int32) async throws {
    try await withSessions { server, home, folder in
      let terminal = try Terminal()
      var screen = try home.start(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1"], on: terminal)
      screen.type("PS1=; stty -echo; echo rea''dy\r")
      try await screen.see("ready\r\n")
      terminal.stopOutput()
      screen.type("yes\r")
      screen.type(escape)
      #expect(await screen.end() == code)
      #expect(screen.isRestored)
      #expect(folder.keepers.count == 1)
    }
  }

  @Test func detachingLeavesItRunningAndAttachingReturns() async throws {
    try await withShell { scene, screen in
      screen.type("kept=yes; echo ke''pt\r")
      try await screen.see("kept\r\n")
      screen.type("~d")
      #expect(await screen.end() == 0)
      #expect(screen.isRestored)
      let short = try #require(scene.folder.ids.first).prefix(12)
      #expect(screen.words.contains("detached from session \(short)"))
      #expect(!screen.words.contains("may not have reached"), "it did")
      #expect(scene.folder.keepers.count == 1)
      let terminal = try Terminal()
      var again = try scene.home.start(
        ["attach"] + scene.link + ["127.0.0.1"], on: terminal)
      again.type("echo again=$kept; exit 4\r")
      try await again.see("again=yes\r\n")
      #expect(await again.end() == 4)
      #expect(again.isRestored)
    }
  }

  @Test func afterTheClientWasKilledTheNextShellSaysHowToReturn() async throws {
    try await withShell { scene, screen in
      screen.signal(SIGKILL)
      #expect(await screen.end() == 1009)
      // The keeper learns of it from the end of the channel.
      let id = try #require(scene.folder.ids.first)
      var attached = 1
      while attached > 0 {
        let list = try await scene.home.run(["sessions", "--json"] + scene.link + ["127.0.0.1"])
        attached = try #require(try list.session(id)["attached"] as? Int)
      }
      let short = id.prefix(12)
      // The shell waits a second for the list: a slow host has the next one.
      var shown = ""
      while !shown.contains("another shell goes on there without a client") {
        try Task.checkCancellation()
        let terminal = try Terminal()
        var next = try scene.home.start(["connect"] + scene.link + ["127.0.0.1"], on: terminal)
        next.type("exit 0\r")
        #expect(await next.end() == 0)
        shown = next.words
      }
      #expect(shown.contains(" \(short)` returns to it."))
    }
  }

  /// An old query of the replay is not answered into the shell; a program's screen is drawn again.
  @Test func aNewClientGetsTheScreen() async throws {
    try await withShell { scene, screen in
      let program =
        "trap 'stty size' WINCH; "
        + "printf '\\033[?1049h\\033[2J\\033[cdrawn'; while :; do sleep 0.05; done"
      screen.type("exec sh -c \"\(program)\"\r")
      try await screen.see("drawn")
      screen.type("\r~d")
      #expect(await screen.end() == 0)
      #expect(screen.transcript.contains("\u{1B}[?1049l"))
      let terminal = try Terminal(columns: 100, rows: 30)
      var again = try scene.home.start(
        ["attach"] + scene.link + ["127.0.0.1"], on: terminal)
      try await again.see("\u{1B}[?1049h")
      try await again.see("drawn")
      try await again.see("30 100\r\n")
      let shown = again.words
      #expect(!shown.contains("\u{1B}[c"))
      again.type("\r~.")
      #expect(await again.end() == 130)
      #expect(again.isRestored)
      #expect(again.words.contains("goes on. To return to it, or end it:"))
      #expect(again.transcript.contains("\n    bridgectl attach"))
    }
  }

  @Test func ofSeveralSessionsAPersonSaysWhich() async throws {
    try await withSessions { server, home, _ in
      let link = server.link(home) + ["127.0.0.1"]
      for name in ["one", "two"] {
        var screen = try home.start(["connect", "--name", name] + link, on: Terminal())
        screen.type("PS1=; stty -echo; word=\(name); echo rea''dy\r")
        try await screen.see("ready\r\n")
        screen.type("~d")
        #expect(await screen.end() == 0)
      }
      let script = try await home.run(["attach"] + link)
      #expect(script.code == 64 && script.error.contains("Several sessions run"))
      var screen = try home.start(["attach"] + link, on: Terminal())
      try await screen.see("Several sessions run:")
      try await screen.see("Which one? [1-")
      screen.type("neither\r")
      try await screen.see("Which one? [1-")
      screen.type("two\r")
      try await screen.see("ready")
      screen.type("echo this is $word; exit 6\r")
      try await screen.see("this is two")
      #expect(await screen.end() == 6)
    }
  }

  @Test func twoClientsAndATakeover() async throws {
    try await withShell { scene, screen in
      let terminal = try Terminal()
      var other = try scene.home.start(
        ["attach"] + scene.link + ["127.0.0.1"], on: terminal)
      try await other.see("from 127.0.0.1 writes to this session (attached ")
      try await other.see("ago); you only read")
      screen.type("echo from''first\r")
      try await other.see("fromfirst")
      other.type("echo ignored\r\r~d")
      #expect(await other.end() == 0)
      let second = try Terminal()
      var taker = try scene.home.start(
        ["attach", "--take"] + scene.link + ["127.0.0.1"], on: second)
      try await screen.see("[durableSessionReplaced] Taken Over")
      try await screen.see("from 127.0.0.1")
      #expect(await screen.end() == 75)
      // The command that is offered does what is said of it.
      #expect(screen.words.contains("goes on with the other client. To take it back, or end it:"))
      #expect(screen.words.contains("bridgectl attach --take "))
      #expect(screen.isRestored)
      taker.type("echo from''taker; exit 3\r")
      try await taker.see("fromtaker")
      #expect(await taker.end() == 3)
      #expect(!taker.words.contains("ignored"))
    }
  }

  @Test func theTerminalIsTheUsers() async throws {
    try await withSessions { server, home, _ in
      let terminal = try Terminal(columns: 90, rows: 20)
      var screen = try home.start(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1"], on: terminal)
      screen.type("PS1=; stty -echo; stty size; echo $TERM; stty -a | grep -o 'erase = [^;]*'\r")
      try await screen.see("20 90\r\n")
      try await screen.see("xterm-256color\r\n")
      try await screen.see("erase = ")
      terminal.resize(columns: 111, rows: 33)
      screen.type("until stty size | grep '33 111'; do sleep 0.05; done; exit 5\r")
      try await screen.see("33 111\r\n")
      #expect(await screen.end() == 5)
      #expect(screen.isRestored)
    }
  }

  /// A program that is left, its link or its screen with it, would leave the keyboard in its mode;
  /// and what is said on its screen goes with that.
  @Test(arguments: [("require", "d"), ("require", "."), ("never", ".")])
  func whatAProgramSetIsUndoneBeforeTheLastWords(durable: String, escape: String) async throws {
    try await withSessions { server, home, _ in
      let terminal = try Terminal()
      var screen = try home.start(
        ["connect", "--durable=\(durable)"] + server.link(home) + ["127.0.0.1"], on: terminal)
      let set = ["[>1u", "[?1049h", "[>4;2m", "[?1000h"].map { "\\033" + $0 }.joined()
      screen.type("PS1=; stty -echo; printf '\(set)'; echo rea''dy; cat\r")
      try await screen.see("ready")
      screen.type("\r~\(escape)")
      _ = await screen.end()
      let words = try #require(
        screen.transcript.range(of: escape == "d" ? "detached from" : "disconnected from"))
      for undo in ["[?1049l", "[<1u", "[>4m", "[?1000l"] {
        let undone = try #require(screen.transcript.range(of: "\u{1B}\(undo)"), "\(undo)")
        #expect(undone.upperBound <= words.lowerBound, "\(undo)")
      }
      #expect(screen.isRestored)
    }
  }

  /// An answer would be typed at the prompt.
  @Test func whatWasAskedDuringAnOutageIsNotAnsweredAfterIt() async throws {
    try await withShell { scene, screen in
      let (go, mark) = (scene.home.file("go"), scene.home.file("mark"))
      let begun = scene.home.file("begun")
      screen.type(
        "echo >\(begun); until [ -e \(go) ]; do sleep 0.02; done; "
          + "printf '\\033[6nde''af'; echo >\(mark)\r")
      // Else the line may be held, and would run after the outage.
      try await eventually { FileManager.default.fileExists(atPath: begun) }
      try await scene.proxy.inject(.refuse())
      try await scene.proxy.inject(.reset)
      try await screen.see("Connection refused")
      try scene.home.write("", to: "go")
      try await eventually { FileManager.default.fileExists(atPath: mark) }
      try await scene.proxy.inject(.lift)
      screen.type("\r~r")
      try await screen.see("deaf")
      #expect(!screen.transcript.contains("\u{1B}[6n"))
      screen.type("exit\r")
      #expect(await screen.end() == 0)
    }
  }

  /// As with ssh, with a session as without one.
  @Test(arguments: ["never", "require"])
  func theModesOfTheTerminalAreTheUsers(durable: String) async throws {
    try await withSessions { server, home, _ in
      let terminal = try Terminal()
      let changed = try await home.run(
        ["-F", terminal.path, "-icrnl", "ixany", "erase", "^H"], program: "/bin/stty")
      #expect(changed.code == 0)
      let command = "stty -a; [ \"$SSH_TTY\" = \"$(tty)\" ] && echo same device"
      var screen = try home.start(
        ["connect", "-t", "--durable=\(durable)"] + server.link(home) + ["127.0.0.1", command],
        on: terminal)
      #expect(await screen.end() == 0)
      for word in ["erase = ^H", " -icrnl", " ixany", "same device"] {
        #expect(screen.words.contains(word), "\(screen.transcript)")
      }
    }
  }

  @Test func theEscapesAreListed() async throws {
    try await withShell { _, screen in
      screen.type("\r~?")
      try await screen.see("~d   detach; the session goes on")
      screen.type("exit\r")
      #expect(await screen.end() == 0)
    }
  }

  /// One hint, at the start, where a shell is plain because the host cannot do better.
  @Test func aPlainShellSaysHowItCouldBeDurable() async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      var screen = try home.start(server.options(home) + ["127.0.0.1"], on: terminal)
      try await screen.see("127.0.0.1:\(server.port)` makes the next one last.")
      screen.type("exit 0\r")
      #expect(await screen.end() == 0)
      #expect(screen.transcript.components(separatedBy: "bridgectl install").count == 2)
    }
  }

  @Test func theLinksEndIsNoEndOfTheShell() async throws {
    try await withShell(["--no-reconnect"]) { scene, screen in
      try await scene.proxy.inject(.reset)
      #expect(await screen.end() == 69)
      #expect(screen.isRestored)
      #expect(screen.words.contains("goes on. To return to it, or end it:"))
      #expect(screen.transcript.contains("\n    bridgectl attach"))
      #expect(scene.folder.keepers.count == 1)
    }
  }
}

extension Screen {
  /// Waits until so many typed bytes are shown as held, or those of the first line of the shell
  /// beside them: what was sent just before an outage may not be acknowledged yet.
  fileprivate mutating func seeHeld(_ count: Int) async throws {
    let first = "PS1=; stty -echo; echo rea''dy\r".utf8.count
    while true {
      for bytes in [count, count + first]
      where words.contains("Typed input is held (\(bytes) bytes)") { return }
      try await readMore()
    }
  }
}
