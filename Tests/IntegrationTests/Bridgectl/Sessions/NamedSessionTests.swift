import BridgeFaults
import Foundation
import Testing

/// A name is one session: who asks for it again returns to it.
@Suite(.timeLimit(.minutes(2))) struct NamedSessionTests {
  @Test func aShellIsReturnedToByItsName() async throws {
    try await withSessions { server, home, folder in
      let arguments = ["connect", "--name", "work"] + server.link(home) + ["127.0.0.1"]
      var first = try home.start(arguments, on: Terminal())
      first.type("PS1=; stty -echo; kept=value; echo rea''dy\r")
      try await first.see("ready\r\n")
      first.type("~d")
      #expect(await first.end() == 0)
      var second = try home.start(arguments, on: Terminal())
      try await second.see("bridgectl: back in work, which was started ")
      second.type("echo is=$kept; exit 4\r")
      try await second.see("is=value\r\n")
      #expect(await second.end() == 4)
      #expect(folder.ids.count == 1)
    }
  }

  @Test func aCommandIsReturnedToAndNoOtherOneIsTakenForIt() async throws {
    try await withSessions { server, home, folder in
      let go = home.file("go")
      let options = ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--"]
      let command = "echo here; until [ -e \(go) ]; do sleep 0.02; done; exit 3"
      let first = try home.start(options + [command])
      try await first.prints("here\n")
      first.child.signal(SIGTERM)
      #expect(try await first.outcome().code == 143)
      let other = try await home.run(options + ["true"])
      #expect(other.code == 64)
      #expect(other.error.contains("job runs another command: --new starts this one beside it"))
      let beside = try await home.run(["connect", "--new"] + options.dropFirst() + ["exit 5"])
      #expect(beside.code == 5)
      let second = try home.start(options + [command])
      try await second.prints("here\n")
      try home.write("", to: "go")
      let outcome = try await second.outcome()
      #expect(outcome.code == 3 && outcome.text == "here\n", "\(outcome.error)")
    }
  }

  /// The link breaks while the host is asked whether it has the session, and before and after that:
  /// what is left of the answer says nothing of the host.
  @Test func aLinkThatIsLostInTheSearchIsNoHostWithoutSessions() async throws {
    try await withSessions { server, home, folder in
      for count in stride(from: 2200, through: 4200, by: 100) {
        let proxy = try await FaultProxy(to: server.port)
        try await proxy.inject(.cut(after: count, .toClient), on: .next)
        let outcome = try await home.run(
          ["connect", "--name", "n\(count)"] + server.link(home, port: proxy.port)
            + ["127.0.0.1", "--", "echo run >>\(home.file("ran")); exit 5"])
        #expect(outcome.code == 5, "\(count): \(outcome.error)")
        #expect(!outcome.error.contains("ends with its link"), "\(count): \(outcome.error)")
        await proxy.stop()
      }
      #expect(home.read("ran") == String(repeating: "run\n", count: 21))
    }
  }

  /// The same command line does the same, whether it starts the session or finds it.
  @Test func theEndOfItsInputIsPassedOn() async throws {
    try await withSessions { server, home, folder in
      let (link, kept) = (server.link(home), home.file("kept"))
      let command = ["127.0.0.1", "--", "cat >\(kept); exit 6"]
      let started = try await home.run(["run", "--detach", "--name", "job"] + link + command)
      #expect(started.code == 0, "\(started.error)")
      try home.write("input\n", to: "in")
      let outcome = try await home.start(
        ["connect", "--name", "job"] + link + command,
        through: #"exec "$0" "$@" <"$HOME/in""#
      ).outcome()
      #expect(outcome.code == 6, "\(outcome.error)")
      #expect(outcome.error.contains("back in job"))
      #expect(home.read("kept") == "input\n")
    }
  }

  /// A script that runs twice has its job once.
  @Test func theNameOfASessionThatRunsIsRefusedToAnother() async throws {
    try await withSessions { server, home, folder in
      let (link, go) = (server.link(home), home.file("go"))
      let command = "echo run >>\(home.file("ran")); until [ -e \(go) ]; do sleep 0.02; done"
      let run = ["run", "--detach", "--name", "job"] + link + ["127.0.0.1", "--", command]
      let first = try await home.run(run)
      #expect(first.code == 0, "\(first.error)")
      let second = try await home.run(run)
      #expect(second.code == 64 && second.output.isEmpty)
      #expect(
        second.error.contains("--name: Another session that runs on 127.0.0.1 has it."),
        "\(second.error)")
      try home.write("", to: "go")
      #expect(try await home.run(["wait"] + link + ["127.0.0.1", "job"]).code == 0)
      #expect(home.read("ran") == "run\n")
      #expect(try await home.run(run).code == 0)
    }
  }

  /// Nothing is lost in silence.
  @Test func inputForAProgramWhoseInputHasEndedIsRefused() async throws {
    try await withSessions { server, home, folder in
      let (kept, go) = (home.file("kept"), home.file("go"))
      let command = "cat >\(kept); echo read; until [ -e \(go) ]; do sleep 0.02; done; exit 3"
      let arguments =
        ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--", command]
      try home.write("input\n", to: "in")
      let first = try home.start(arguments, through: #"exec "$0" "$@" <"$HOME/in""#)
      try await first.prints("read\n")
      first.child.signal(SIGKILL)
      _ = try await first.outcome()
      let second = try await home.start(
        arguments, through: #"exec "$0" "$@" <"$HOME/in""#
      ).outcome()
      #expect(second.code == 64)
      #expect(
        second.error.contains("Its input was ended before, so this input would go nowhere"),
        "\(second.error)")
      let third = try home.start(arguments, through: #"exec "$0" "$@" </dev/null"#)
      try await third.prints("read\n")
      try home.write("", to: "go")
      let outcome = try await third.outcome()
      #expect(outcome.code == 3, "\(outcome.error)")
      #expect(home.read("kept") == "input\n")
    }
  }

  /// Its other client removes it at that moment.
  @Test func oneThatEndsBeforeItIsReturnedToIsStartedAgain() async throws {
    try await withSessions { server, home, folder in
      let (runs, go) = (home.file("runs"), home.file("go"))
      let command =
        "echo run | tee -a \(runs); until [ -e \(go) ]; do sleep 0.02; done; "
        + "exit $(grep -c . \(runs))"
      let arguments =
        ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--", command]
      let first = try home.start(arguments)
      try await first.prints("run\n")
      // From here on an attachment comes late.
      let program = "\(folder.path)/.local/lib/bridge/bin/bridge-host"
      try FileManager.default.removeItem(atPath: program)
      try """
      #!/bin/sh
      case "$1" in attach)
        touch \(go)
        while [ -n "$(ls \(folder.root) | grep -v names)" ]; do sleep 0.02; done
        ln -sf \(SessionFolder.program) \(program);;
      esac
      exec \(SessionFolder.program) "$@"
      """.write(toFile: program, atomically: true, encoding: .utf8)
      FileDetails.setMode(program, 0o755)
      let second = try await home.run(arguments)
      #expect(try await first.outcome().code == 1)
      #expect(second.code == 2, "\(second.error)")
      #expect(home.read("runs") == "run\nrun\n")
    }
  }

  /// Whose run has a name is to be returned to.
  @Test func withoutBridgeHostTheNameIsSaidToBeNone() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--", "echo ran; exit 3"])
      #expect(outcome.code == 3 && outcome.text == "ran\n")
      #expect(
        outcome.error.contains("has no bridge-host, so what runs now ends with its link, and"))
      #expect(outcome.error.contains("job names nothing there: `bridgectl install "))
    }
  }

  @Test func withoutOneThatRunsANewOneIsStarted() async throws {
    try await withSessions { server, home, folder in
      let options = ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--"]
      for status: Int32 in [3, 4] {
        let outcome = try await home.run(options + ["exit \(status)"])
        #expect(outcome.code == status, "\(outcome.error)")
      }
      #expect(folder.ids.isEmpty)
    }
  }

  @Test func withoutBridgeHostItRunsPlainly() async throws {
    try await withSessions(installs: false) { server, home, _ in
      let options = ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--"]
      let outcome = try await home.run(options + ["echo here; exit 6"])
      #expect(outcome.code == 6 && outcome.text == "here\n", "\(outcome.error)")
    }
  }
}
