import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// How long the session of a plain `connect` lives: as long as its client, and who asks for more
/// gets it.
@Suite(.timeLimit(.minutes(5))) struct SessionLifeTests {
  /// Runs until it is signaled, and says so.
  private static func command(_ reaction: String) -> String {
    "trap '\(reaction)' INT; echo here; while :; do sleep 0.05; done"
  }

  private func start(
    _ server: SSHServer, _ home: Home, _ command: String, _ options: [String] = []
  ) async throws -> Home.Running {
    let running = try home.start(
      ["connect"] + options + server.link(home) + ["127.0.0.1", "--", command])
    try await running.prints("here\n")
    return running
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT]) func aSignalToTheClientEndsTheProgram(
    signal: Int32
  ) async throws {
    try await withSessions { server, home, folder in
      let running = try await start(server, home, "echo here; exec sleep 600")
      running.child.signal(signal)
      let outcome = try await running.outcome()
      #expect(outcome.code == 128 + signal)
      // Nor is it said which signal the program had: this process was asked to end.
      #expect(!outcome.error.contains("ended it"), "\(outcome.error)")
      try await eventually { folder.keepers.isEmpty }
    }
  }

  /// The answer takes longer than a person waits; what was asked to end does not go on.
  @Test(arguments: [100, 400]) func overASlowPathWhatIsEndedIsNotSaidToGoOn(
    milliseconds: Int
  ) async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.latency(.milliseconds(milliseconds)))
      let running = try home.start(
        ["connect"] + server.link(home, port: proxy.port)
          + ["127.0.0.1", "--", "echo here; exec sleep 600"])
      try await running.prints("here\n")
      running.child.signal(SIGTERM)
      let outcome = try await running.outcome()
      #expect(outcome.code == 143 && !outcome.error.contains("goes on"), "\(outcome.error)")
      try await eventually { folder.keepers.isEmpty }
      await proxy.stop()
    }
  }

  /// As timeout(1) and systemd.kill(5) send them: not a second wish, which would leave at once.
  @Test(arguments: [(SIGTERM, SIGTERM), (SIGTERM, SIGHUP)], 1...4)
  func twoSignalsAtOnceAreOneWish(_ signals: (Int32, Int32), _ run: Int) async throws {
    try await withSessions { server, home, folder in
      let running = try await start(server, home, "echo here; exec sleep 600")
      running.child.signal(signals.0)
      running.child.signal(signals.1)
      let outcome = try await running.outcome()
      // Which of two that are pending comes first is not specified (signal(7)).
      #expect([signals.0, signals.1].contains { outcome.code == 128 + $0 }, "\(outcome.code)")
      try await eventually { folder.keepers.isEmpty }
    }
  }

  /// It would wait for the rest of the input for as long as it is kept.
  @Test func inputThatCannotBeReadAnyMoreEndsTheProgram() async throws {
    try await withSessions { server, home, folder in
      let outcome = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "cat; exec sleep 600"],
        through: "exec \"$0\" \"$@\" </")
      #expect(outcome.code == 66, "\(outcome.error)")
      #expect(!outcome.error.contains("goes on"), "\(outcome.error)")
      try await eventually { folder.keepers.isEmpty }
    }
  }

  /// What is hung up and stays is terminated.
  @Test func aProgramThatIgnoresTheHangupIsTerminated() async throws {
    try await withSessions { server, home, folder in
      let running = try await start(server, home, "trap '' HUP; echo here; exec sleep 600")
      running.child.signal(SIGTERM)
      #expect(try await running.outcome().code == 143)
      try await eventually { folder.keepers.isEmpty }
    }
  }

  /// A pipe of the client that is full holds up its output, not its end.
  @Test func aSignalEndsTheProgramThoughItsOutputIsNotRead() async throws {
    try await withSessions { server, home, folder in
      let ends = try UnreadPipe()
      let child = try Child(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "exec yes"],
        environment: home.environment,
        streams: .descriptors(input: 0, output: ends.writing, error: 2))
      try await eventually { ends.isFull }
      child.signal(SIGTERM)
      #expect(await child.ending.code() == 143)
      try await eventually { folder.keepers.isEmpty }
    }
  }

  @Test(arguments: [["--on-interrupt=leave"], ["--name", "kept", "--new"]])
  func whatIsToBeKeptIsLeftRunning(options: [String]) async throws {
    try await withSessions { server, home, folder in
      for signal in [SIGTERM, SIGINT] {
        let running = try await start(server, home, "echo here; exec sleep 600", options)
        running.child.signal(signal)
        let outcome = try await running.outcome()
        #expect(outcome.code == 128 + signal)
        #expect(outcome.error.contains("end it:\n    bridgectl attach"), "\(outcome.error)")
      }
      #expect(folder.keepers.count == 2)
    }
  }

  /// As with ssh: what the program prints as it ends is read, and the status is that of Ctrl-C.
  @Test func ctrlCInterruptsTheCommand() async throws {
    try await withSessions { server, home, folder in
      let running = try await start(server, home, Self.command("echo interrupted; exit 7"))
      running.child.signal(SIGINT)
      let outcome = try await running.outcome()
      #expect(outcome.code == 130 && outcome.text == "here\ninterrupted\n", "\(outcome.error)")
      #expect(outcome.error.isEmpty)
      try await eventually { folder.ids.isEmpty }
    }
  }

  @Test func aSecondCtrlCLeavesTheCommandBehind() async throws {
    try await withSessions { server, home, folder in
      let running = try await start(server, home, Self.command("echo no"))
      running.child.signal(SIGINT)
      try await running.prints("here\nno\n")
      running.child.signal(SIGINT)
      let outcome = try await running.outcome()
      #expect(outcome.code == 130)
      #expect(outcome.error.contains("end it:\n    bridgectl attach"), "\(outcome.error)")
      #expect(folder.keepers.count == 1)
    }
  }

  /// A client that vanishes says nothing; the keeper counts.
  @Test func theSessionOfAClientThatVanishedEndsAfterItsTime() async throws {
    try await withSessions { server, home, folder in
      let kept = try await start(server, home, "echo here; exec sleep 600")
      kept.child.signal(SIGKILL)
      _ = try await kept.outcome()
      let id = try #require(folder.ids.first)
      try await eventually {
        let list = try await home.run(["sessions", "--json"] + server.link(home) + ["127.0.0.1"])
        guard let time = try list.session(id)["hangsUp"] as? Double else { return false }
        return abs(time - Date().timeIntervalSince1970 - 24 * 3600) < 3600
      }
      let short = try await start(server, home, "echo here; exec sleep 600", ["--keep", "1s"])
      short.child.signal(SIGKILL)
      _ = try await short.outcome()
      let other = try #require(folder.ids.first { $0 != id })
      let wait = try await home.run(["wait"] + server.link(home) + ["127.0.0.1", other])
      #expect(wait.code == 129, "\(wait.error)")
      #expect(folder.keepers.count == 1)
    }
  }

  @Test(arguments: [["run", "--detach"], ["run", "--detach", "--keep", "forever"]])
  func whatIsRunDetachedHasNoEnd(verb: [String]) async throws {
    try await withSessions { server, home, folder in
      let start = try await home.run(
        verb + server.link(home) + ["127.0.0.1", "--", "exec sleep 600"])
      #expect(start.code == 0, "\(start.error)")
      let id = try #require(folder.ids.first)
      let list = try await home.run(["sessions", "--json"] + server.link(home) + ["127.0.0.1"])
      #expect(try list.session(id)["hangsUp"] == nil)
    }
  }
}
