import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `run --detach`, `sessions`, `logs`, `wait` and `kill` over a real sshd.
@Suite(.timeLimit(.minutes(5))) struct SessionVerbTests {
  private func start(
    _ server: SSHServer, _ home: Home, _ command: String, options: [String] = []
  ) async throws -> String {
    let outcome = try await home.run(
      ["run", "--detach"] + options + server.link(home) + ["127.0.0.1", "--", command])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.error.isEmpty)
    return outcome.text.trimmingCharacters(in: .newlines)
  }

  @Test func aCommandIsStartedAndItsOutputAndStatusAreReadLater() async throws {
    try await withSessions { server, home, folder in
      let id = try await start(
        server, home, "echo out; echo err >&2; exit 3", options: ["--name", "build"])
      #expect(folder.ids == [id])
      let link = server.link(home)
      // By its id, the beginning of it, and its name.
      for session in [id, String(id.prefix(6)), "build"] {
        let wait = try await home.run(["wait"] + link + ["127.0.0.1", session])
        #expect(wait.code == 3, "\(wait.error)")
        #expect(wait.output.isEmpty && wait.error.isEmpty)
        let logs = try await home.run(["logs"] + link + ["127.0.0.1", session])
        #expect(logs.code == 0)
        #expect(logs.text == "out\n" && logs.error == "err\n")
      }
      let list = try await home.run(["sessions"] + link + ["127.0.0.1"])
      let row = list.text.split(separator: "\n").first { $0.hasPrefix(id.prefix(12)) }
      #expect(row?.contains("build  exit 3") == true)
    }
  }

  /// While another client writes it would go nowhere.
  @Test func inputOfAClientThatOnlyReadsIsRefused() async throws {
    try await withSessions { server, home, folder in
      let link = server.link(home)
      let writer = try home.start(
        ["connect", "--name", "job"] + link + ["127.0.0.1", "--", "echo up; exec sleep 600"])
      try await eventually { home.read("out-" + writer.name) == "up\n" }
      let attach = ["attach"] + link + ["127.0.0.1", "job"]
      let refused = try await home.run(attach, input: Array("lost\n".utf8))
      #expect(refused.code == 64, "\(refused.error)")
      #expect(
        refused.error.contains("this input would go nowhere: `attach --take`"), "\(refused.error)")
      await folder.killAll(home)
      #expect(try await writer.outcome().code == 137)
    }
  }

  /// Another session gets the name while the link is down.
  @Test(arguments: [("wait", [], 3), ("logs", ["-f"], 0)] as [(String, [String], Int32)])
  func aNameMeansOneSessionThroughoutARun(
    _ verb: String, _ options: [String], _ code: Int32
  ) async throws {
    try await withSessions { server, home, folder in
      let go = home.file("go")
      let id = try await start(
        server, home, "echo first; until [ -e \(go) ]; do sleep 0.02; done; echo last; exit 3",
        options: ["--name", "job"])
      let proxy = try await FaultProxy(to: server.port)
      let running = try home.start(
        [verb] + options + server.link(home, port: proxy.port) + ["127.0.0.1", "job"])
      let answer = verb == "logs" ? "read" : verb
      try await eventually { folder.isAsked(answer, about: id) }
      try await proxy.inject(.refuse())
      try await proxy.inject(.reset)
      try home.write("", to: "go")
      try await eventually { folder.keepers.isEmpty }
      let other = try await start(
        server, home, "echo first; echo other; sleep 600", options: ["--name", "job"])
      try await proxy.heal()
      let outcome = try await running.outcome()
      await proxy.stop()
      #expect(outcome.code == code, "\(outcome.error)")
      #expect(outcome.text == (verb == "logs" ? "first\nlast\n" : ""))
      #expect(folder.ids.contains(other))
    }
  }

  /// On a terminal it would look like a program that runs, or one that printed nothing more.
  @Test func thatAProgramHasEndedIsSaidToAPerson() async throws {
    try await withSessions { server, home, folder in
      _ = try await start(server, home, "echo last words; exit 9", options: ["--name", "job"])
      try await eventually { folder.keepers.isEmpty }
      var attached = try home.start(
        ["attach"] + server.link(home) + ["127.0.0.1", "job"], on: Terminal())
      try await attached.see("job has ended; this is what it left.")
      try await attached.see("last words")
      #expect(await attached.end() == 9)
      var followed = try home.start(
        ["logs", "-f"] + server.link(home) + ["127.0.0.1", "job"], on: Terminal())
      try await followed.see("last words")
      try await followed.see("the program has ended: exit 9.")
      #expect(await followed.end() == 0)
    }
  }

  @Test func theListForAScriptIsJSON() async throws {
    try await withSessions { server, home, folder in
      let id = try await start(server, home, "exec sleep 600", options: ["--name", "sleeper"])
      let list = try await home.run(["sessions", "--json"] + server.link(home) + ["127.0.0.1"])
      #expect(list.code == 0)
      let line = try list.session(id)
      #expect(line["name"] as? String == "sleeper")
      #expect(line["state"] as? String == "running" && line["attached"] as? Int == 0)
      #expect(list.error.contains(#""event":"exit","code":0"#))
    }
  }

  /// One that runs stays, and one that is read.
  @Test func endedSessionsAreRemovedWhereThatIsWanted() async throws {
    try await withSessions { server, home, folder in
      let first = try await start(server, home, "echo one", options: ["--name", "first"])
      let second = try await start(server, home, "echo two")
      let running = try await start(server, home, "exec sleep 600", options: ["--name", "runs"])
      try await eventually { folder.keepers.count == 1 }
      func prune(_ session: String...) async throws -> Outcome {
        try await home.run(["prune"] + server.link(home) + ["127.0.0.1"] + session)
      }
      let refused = try await prune("runs")
      #expect(refused.code == 64 && refused.error.contains("runs runs: `bridgectl kill` ends it."))
      let one = try await prune("first")
      #expect(one.code == 0 && one.error == "bridgectl: 1 ended session removed (4 B).\n")
      #expect(folder.ids == [running, second].sorted())
      let unknown = try await prune(first)
      #expect(unknown.code == 66, "\(unknown.error)")
      let rest = try await prune()
      #expect(rest.code == 0 && rest.error.contains("ended session"), "\(rest.error)")
      #expect(folder.ids == [running])
    }
  }

  /// A cut of the answer changes nothing.
  @Test func aSessionGetsAnotherName() async throws {
    try await withSessions { server, home, folder in
      let command = "until [ -e \(home.file("go")) ]; do sleep 0.02; done; exit 4"
      let id = try await start(server, home, command, options: ["--name", "job"])
      _ = try await start(server, home, "exec sleep 600", options: ["--name", "other"])
      func rename(_ words: String..., port: Int? = nil) async throws -> Outcome {
        let link = port.map { server.link(home, port: $0) } ?? server.link(home)
        return try await home.run(["rename"] + link + ["127.0.0.1"] + words)
      }
      let taken = try await rename("job", "other")
      #expect(taken.code == 64, "\(taken.error)")
      #expect(taken.error.contains("NAME: Another session that runs on 127.0.0.1 has it."))
      let bad = try await rename("job", "two words")
      #expect(bad.code == 64 && bad.error.contains("without spaces"), "\(bad.error)")
      let missing = try await rename("nothing", "x")
      #expect(missing.code == 66, "\(missing.error)")
      let proxy = try await FaultProxy(to: server.port)
      for (old, new) in [("job", "a1"), ("a1", "a2"), ("a2", "a3")] {
        try await proxy.inject(.cut(after: 4_000, .toClient), on: .next)
        let done = try await rename(old, new, port: proxy.port)
        #expect(done.code == 0, "\(done.error)")
      }
      try await proxy.heal()
      await proxy.stop()
      let list = try await home.run(["sessions", "--json"] + server.link(home) + ["127.0.0.1"])
      #expect(try list.session(id)["name"] as? String == "a3")
      try home.write("", to: "go")
      let ended = try await home.run(["wait"] + server.link(home) + ["127.0.0.1", "a3"])
      #expect(ended.code == 4, "\(ended.error)")
    }
  }

  /// What a client says of its session at the end must not mean another one.
  @Test func aClientThatIsAttachedSaysTheNewName() async throws {
    try await withSessions { server, home, _ in
      let terminal = try Terminal(columns: 80, rows: 24)
      let words = ["connect", "-t", "--name", "old"] + server.link(home) + ["127.0.0.1"]
      var screen = try home.start(words + ["echo it-runs; exec cat"], on: terminal)
      try await screen.see("it-runs\r\n")
      let renamed = try await home.run(
        ["rename"] + server.link(home) + ["127.0.0.1", "old", "--", "-x"])
      #expect(renamed.code == 0, "\(renamed.error)")
      _ = try await start(server, home, "exec sleep 600", options: ["--name", "old"])
      screen.type("\r~.")
      _ = await screen.end()
      #expect(screen.words.contains("session -x goes on"), "\(screen.words)")
      #expect(screen.transcript.contains("127.0.0.1:\(server.port) -- -x"))
    }
  }

  /// A reader that has not taken all yet keeps it, and the words say so: it does not run.
  @Test func anEndedSessionThatIsStillReadIsNotSaidToRun() async throws {
    try await withSessions { server, home, folder in
      let reading = try home.start(
        ["connect", "--name", "job"] + server.link(home)
          + ["127.0.0.1", "--", "seq 1 2000000; exit 3"],
        through: """
          mkfifo "$HOME/gate"; "$0" "$@" | { read go <"$HOME/gate"; cat; }; exit ${PIPESTATUS[0]}
          """)
      try await eventually { folder.keepers.count == 1 }
      #expect(try await home.run(["wait"] + server.link(home) + ["127.0.0.1", "job"]).code == 3)
      let prune = ["prune"] + server.link(home) + ["127.0.0.1", "job"]
      let refused = try await home.run(prune)
      #expect(refused.code == 64)
      #expect(refused.error.contains("job has ended, and a client still reads its output"))
      try FileHandle(forWritingTo: URL(fileURLWithPath: home.file("gate")))
        .write(contentsOf: Data("go\n".utf8))
      let outcome = try await reading.outcome()
      #expect(outcome.code == 3 && outcome.text.hasSuffix("\n2000000\n"))
      // A client that has read all of a session removes it.
      try await eventually { folder.ids.isEmpty }
    }
  }

  /// The answer is cut off at many places: what was done is not said to have failed.
  @Test func aRemovalWhoseAnswerIsLostIsDone() async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port)
      for count in stride(from: 3_000, to: 5_000, by: 250) {
        _ = try await start(server, home, "true", options: ["--name", "job"])
        try await eventually { folder.keepers.isEmpty }
        try await proxy.inject(.cut(after: count, .toClient), on: .next)
        let outcome = try await home.run(
          ["prune"] + server.link(home, port: proxy.port) + ["127.0.0.1", "job"])
        try await proxy.heal()
        #expect(outcome.code == 0, "\(count): \(outcome.error)")
        #expect(outcome.error.contains("1 ended session removed"), "\(count): \(outcome.error)")
        #expect(folder.ids.isEmpty)
      }
      await proxy.stop()
    }
  }

  @Test func thoseThatRunAreListedAlone() async throws {
    try await withSessions { server, home, folder in
      let ended = try await start(server, home, "exit 3")
      try await eventually { folder.keepers.isEmpty }
      let running = try await start(server, home, "exec sleep 600")
      func list(_ options: [String]) async throws -> String {
        try await home.run(["sessions"] + options + server.link(home) + ["127.0.0.1"]).text
      }
      let (all, some) = (try await list([]), try await list(["--running"]))
      #expect([ended, running].allSatisfy { all.contains($0.prefix(12)) }, "\(all)")
      #expect(some.contains(running.prefix(12)) && !some.contains(ended.prefix(12)), "\(some)")
    }
  }

  @Test func killEndsItAndTheStatusSaysHow() async throws {
    try await withSessions { server, home, folder in
      let link = server.link(home)
      let id = try await start(server, home, "exec sleep 600")
      let other = try await start(server, home, "trap 'exit 9' INT; while :; do sleep 0.1; done")
      let kill = try await home.run(["kill"] + link + ["127.0.0.1", id])
      #expect(kill.code == 0, "\(kill.error)")
      #expect(try await home.run(["wait"] + link + ["127.0.0.1", id]).code == 129)
      let signal = try await home.run(
        ["kill", "--signal", "SIGKILL"] + link + ["127.0.0.1", other])
      #expect(signal.code == 0, "\(signal.error)")
      #expect(try await home.run(["wait"] + link + ["127.0.0.1", other]).code == 137)
      let late = try await home.run(["kill"] + link + ["127.0.0.1", other])
      #expect(late.code == 0 && late.error.contains("had ended before: SIGKILL"))
    }
  }

  @Test func logsFollowsOverLinksThatAreCut() async throws {
    try await withSessions { server, home, folder in
      let id = try await start(
        server, home,
        "n=0; while [ $n -lt 400 ]; do n=$((n+1)); echo \"line $n of many words\"; sleep 0.01; done"
      )
      let proxy = try await FaultProxy(to: server.port)
      // A login takes 5 KB, and the output twice that.
      try await proxy.inject(.cut(after: 6_000), on: .all)
      let running = try home.start(
        ["logs", "-f"] + server.link(home, port: proxy.port) + ["127.0.0.1", id])
      _ = try await proxy.first { $0.connection == 3 && $0.kind == .connected }
      try await proxy.heal()
      let outcome = try await running.outcome()
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.text == (1...400).map { "line \($0) of many words\n" }.joined())
      #expect(outcome.error.contains("The link is back after"), "\(outcome.error)")
      await proxy.stop()
    }
  }

  /// As tail(1) has them, also where more is read than the first look back brings.
  @Test func logsBeginAtTheLastLines() async throws {
    try await withSessions { server, home, _ in
      let id = try await start(
        server, home, "seq 1 100; head -c 100000 /dev/zero | tr '\\0' x; echo; printf end")
      let link = server.link(home) + ["127.0.0.1", id]
      _ = try await home.run(["wait"] + link)
      let long = String(repeating: "x", count: 100_000) + "\nend"
      let all = (1...100).map { "\($0)\n" }.joined() + long
      for (count, text) in [
        ("1", "end"), ("2", long), ("3", "100\n" + long), ("1000", all), ("0", ""),
      ] {
        let outcome = try await home.run(["logs", "-n", count] + link)
        #expect(outcome.code == 0 && outcome.text == text, "\(count): \(outcome.error)")
      }
      let both = try await home.run(["logs", "-n", "1", "--from", "1"] + link)
      #expect(both.code == 64 && both.error.contains("--from"), "\(both.error)")
    }
  }

  /// The program reads none of it.
  @Test func inputThatATakeoverLeavesUnreadIsCounted() async throws {
    try await withSessions { server, home, folder in
      let id = try await start(server, home, "echo ready; exec sleep 1000")
      let attach = server.link(home) + ["127.0.0.1", id]
      let first = try home.start(
        ["attach"] + attach, input: [UInt8](repeating: 120, count: 300_000))
      try await eventually {
        try await home.run(["sessions", "--json"] + server.link(home) + ["127.0.0.1"])
          .text.contains(#""attached":1"#)
      }
      let second = try home.start(["attach", "--take"] + attach)
      let outcome = try await first.outcome()
      #expect(outcome.code == 75)
      #expect(
        outcome.error.contains("bytes of input may not have reached the program"),
        "\(outcome.error)")
      _ = try await home.run(["kill"] + attach)
      _ = try await second.outcome()
    }
  }

  @Test func whatIsNoLongerKeptIsSaid() async throws {
    try await withSessions { server, home, folder in
      let id = try await start(server, home, "echo one; echo two")
      _ = try await home.run(["wait"] + server.link(home) + ["127.0.0.1", id])
      // The first segment is gone, as after a ring that went round.
      let session = "\(folder.root)/\(id)"
      for file in try FileManager.default.contentsOfDirectory(atPath: session)
      where file.hasPrefix("out.") {
        try FileManager.default.removeItem(atPath: "\(session)/\(file)")
      }
      let logs = try await home.run(["logs"] + server.link(home) + ["127.0.0.1", id])
      #expect(logs.code == 74 && logs.output.isEmpty)
      #expect(logs.error.hasPrefix("bridgectl: bytes 0 to 8 are no longer kept.\n"))
      let exact = try await home.run(
        ["logs", "--from", "2"] + server.link(home) + ["127.0.0.1", id])
      #expect(exact.code == 74)
      #expect(exact.lastLine.hasPrefix("bridgectl: [durableSessionGap] "))
      // Nothing of a program that ended with 0 is there: no success, and never silently.
      let attach = try await home.run(["attach", "-q"] + server.link(home) + ["127.0.0.1", id])
      #expect(attach.code == 74 && attach.output.isEmpty)
      #expect(attach.error.contains("bytes 0 to 8 are no longer kept."), "\(attach.error)")
      let list = try await home.run(["sessions", "--json"] + server.link(home) + ["127.0.0.1"])
      let row = try list.session(id)
      #expect(row["oldest"] as? Int == 8 && row["newest"] as? Int == 8, "\(row)")
    }
  }

  @Test func theKeepersDeathAndAMissingSessionAreDifferentThings() async throws {
    try await withSessions { server, home, folder in
      let link = server.link(home)
      let id = try await start(server, home, "echo before; exec sleep 600")
      var printed = ""
      while printed != "before\n" {
        printed = try await home.run(["logs"] + link + ["127.0.0.1", id]).text
      }
      for keeper in folder.keepers { kill(keeper, SIGKILL) }
      let wait = try await home.run(["wait"] + link + ["127.0.0.1", id])
      #expect(wait.code == 74)
      #expect(wait.lastLine.hasPrefix("bridgectl: [durableSessionOutcomeUnknown] "))
      let logs = try await home.run(["logs"] + link + ["127.0.0.1", id])
      #expect(logs.code == 0 && logs.text == "before\n")
      #expect(logs.error.contains("keeper died: the program still runs, out of reach"))
      // Without bridge-host no signal would reach it.
      let uninstall = try await home.run(["uninstall"] + link + ["127.0.0.1"])
      #expect(uninstall.code == 64 && uninstall.error.contains("1 durable session runs there"))
      let attach = try await home.run(["attach"] + link + ["127.0.0.1"])
      #expect(attach.code == 64 && attach.error.contains("Only orphaned programs run: "))
      #expect(try await home.run(["kill"] + link + ["127.0.0.1", id]).code == 0)
      let later = try await home.run(["logs"] + link + ["127.0.0.1", id])
      #expect(later.error.contains("keeper died: exit status unknown"))
      // Who follows it waits for an end.
      let followed = try await home.run(["logs", "-f"] + link + ["127.0.0.1", id])
      #expect(followed.code == 74 && followed.text == "before\n")
      #expect(followed.lastLine.hasPrefix("bridgectl: [durableSessionOutcomeUnknown] "))
      let missing = try await home.run(["wait"] + link + ["127.0.0.1", "nosuch"])
      #expect(missing.code == 66)
      #expect(missing.lastLine.hasPrefix("bridgectl: [durableSessionNotFound] "))
    }
  }

  @Test func aRebootIsSaidAsSuch() async throws {
    try await withSessions { server, home, folder in
      let link = server.link(home)
      let id = try await start(server, home, "echo before; exec sleep 600")
      var printed = ""
      while printed != "before\n" {
        printed = try await home.run(["logs"] + link + ["127.0.0.1", id]).text
      }
      let programs = try await home.run(["sessions", "--json"] + link + ["127.0.0.1"])
      let process = try #require(try programs.session(id)["process"] as? Int)
      for keeper in folder.keepers { kill(keeper, SIGKILL) }
      kill(Int32(process), SIGKILL)
      try folder.pretendReboot(of: id)
      let wait = try await home.run(["wait"] + link + ["127.0.0.1", id])
      #expect(wait.code == 74 && wait.lastLine.contains("lost by a reboot"), "\(wait.error)")
      let attach = try await home.run(["attach"] + link + ["127.0.0.1", id])
      #expect(attach.code == 74 && attach.text == "before\n", "\(attach.error)")
      #expect(attach.lastLine.contains("lost by a reboot"))
      let list = try await home.run(["sessions"] + link + ["127.0.0.1"])
      #expect(list.text.contains("\nrebooted: "), "\(list.text)")
    }
  }

  @Test func aHostWithoutBridgeHostSaysSo() async throws {
    try await withSessions(installs: false) { server, home, _ in
      for verb in [["sessions"], ["run", "--detach"]] {
        let command = verb[0] == "run" ? ["--", "true"] : []
        let outcome = try await home.run(verb + server.link(home) + ["127.0.0.1"] + command)
        #expect(outcome.code == 78)
        #expect(outcome.error.contains("bridgectl install"))
        #expect(outcome.lastLine.hasPrefix("bridgectl: [durableSessionHostUnusable] "))
      }
    }
  }

  /// The answer to the start is lost again and again: the command runs once.
  @Test func aStartWhoseAnswerIsLostIsDoneOnce() async throws {
    try await withSessions { server, home, folder in
      let mark = home.file("mark")
      for place in stride(from: 2_600, to: 4_200, by: 200) {
        let proxy = try await FaultProxy(to: server.port)
        try await proxy.inject(.cut(after: place))
        let outcome = try await home.run(
          ["run", "--detach"] + server.link(home, port: proxy.port)
            + ["127.0.0.1", "--", "echo ran >> \(mark)"])
        #expect(outcome.code == 0, "after \(place): \(outcome.error)")
        let id = outcome.text.trimmingCharacters(in: .newlines)
        #expect(try await home.run(["wait"] + server.link(home) + ["127.0.0.1", id]).code == 0)
        #expect(home.read("mark") == "ran\n", "after \(place)")
        try FileManager.default.removeItem(atPath: mark)
        await proxy.stop()
      }
    }
  }
}
