import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl connect HOST -- COMMAND` where the host has `bridge-host`.
@Suite(.timeLimit(.minutes(5))) struct DurableCommandTests {
  /// Slow enough that no packet is longer than what a link brings before it is cut.
  private static let counter =
    "n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo \"line $n of the count\"; sleep 0.01; done; "
    + "echo done >&2; exit 7"
  private static let counted = (1...300).map { "line \($0) of the count\n" }.joined()

  @Test func streamsInputAndStatusAreThoseOfTheCommand() async throws {
    try await withSessions { server, home, folder in
      let outcome = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "cat; echo err >&2; exit 5"],
        input: Array("typed\n".utf8))
      #expect(outcome.code == 5)
      #expect(outcome.text == "typed\n" && outcome.error == "err\n")
      // Its own client saw the end: nothing is left, once the host has read its last wish.
      try await eventually { folder.ids.isEmpty }
    }
  }

  @Test func aSignalIsTheStatus() async throws {
    try await withSessions { server, home, _ in
      let outcome = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "kill -KILL $$"])
      #expect(outcome.code == 137)
      #expect(outcome.error == "bridgectl: SIGKILL ended it.\n")
    }
  }

  /// `bridge-host` passes on what sshd would not take.
  @Test func variablesOfTheConfigurationReachADurableCommand() async throws {
    try await withSessions { server, home, _ in
      let outcome = try await home.run(
        ["connect"] + server.link(home) + [
          "-o", "SetEnv=MINE_A=\"two words\"", "127.0.0.1", "--", "echo \"$MINE_A\"",
        ])
      #expect(outcome.text == "two words\n" && outcome.code == 0, "\(outcome.error)")
    }
  }

  @Test func muchInputGoesThereAndComesBackWhole() async throws {
    try await withSessions { server, home, _ in
      var generator = SeededNumbers(seed: 1)
      let input = (0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let outcome = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "cat"], input: input)
      #expect(outcome.code == 0)
      let isWhole = outcome.output == input
      #expect(isWhole)
    }
  }

  /// Each link is reset at a random byte: every line once, and the status of that run.
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func everyLineArrivesOnceWhereverTheLinkIsCut(seed: UInt64) async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port, seed: seed)
      var generator = SeededNumbers(seed: seed)
      // A login takes 3 KB down and 2 KB up: some cuts are in the middle of it. After more of them
      // in a row the circuit breaker would take its time.
      let cuts = (0..<6).map { number in
        let isUp = number > 0 && Int.random(in: 0..<4, using: &generator) == 0
        let count = Int.random(in: isUp ? 1_600...2_600 : 3_000...7_000, using: &generator)
        return Cut.cut(after: count, isUp ? .toServer : .toClient)
      }
      // Each meets the next connection.
      try await proxy.inject(cuts[0])
      let cutting = Task {
        for (number, cut) in cuts.enumerated().dropFirst() {
          _ = try await proxy.first { $0.connection == number && $0.kind == .connected }
          try await proxy.inject(cut)
        }
      }
      let outcome = try await home.run(
        ["connect"] + server.link(home, port: proxy.port)
          + ["--wait", "127.0.0.1", "--", Self.counter])
      cutting.cancel()
      #expect(outcome.code == 7, "\(outcome.error)")
      #expect(outcome.text == Self.counted, "seed \(seed)")
      #expect(outcome.error.split(separator: "\n").count { $0 == "done" } == 1)
      #expect(await proxy.log.compactMap(\.connection).max() ?? 0 > 1)
      await proxy.stop()
    }
  }

  /// Nothing comes any more and no socket ends: the supervisor closes the link by itself.
  @Test func aFrozenLinkIsReplacedAndTheCommandGoesOn() async throws {
    try await withSessions { server, home, _ in
      let proxy = try await FaultProxy(to: server.port)
      let go = home.file("go")
      let running = try home.start(
        ["connect", "--keepalive", "300ms"] + server.link(home, port: proxy.port)
          + [
            "127.0.0.1", "--",
            "echo first; until [ -e \(go) ]; do sleep 0.02; done; echo last; exit 3",
          ])
      try await running.prints("first\n")
      try await proxy.inject(.freeze())
      try home.write("", to: "go")
      let outcome = try await running.outcome()
      #expect(outcome.code == 3, "\(outcome.error)")
      #expect(outcome.text == "first\nlast\n")
      await proxy.stop()
    }
  }

  /// What it was sent has arrived, and the answer has not: the command may run.
  @Test(
    arguments: [
      (["connect"], nil), (["connect", "--name", "kept"], "kept"), (["run", "--detach"], nil),
      (["run", "--detach", "--name", "kept"], "kept"),
    ] as [([String], String?)], [SIGINT, SIGTERM])
  func aSignalBeforeTheAnswerToAStartSaysThatItMayRun(
    _ verb: ([String], name: String?), _ signal: Int32
  ) async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port)
      // The answer is still on its way when it is seen that the command runs, also on busy cores.
      try await proxy.inject(.latency(.milliseconds(1500), [.toClient]))
      let running = try home.start(
        verb.0 + server.link(home, port: proxy.port)
          + ["127.0.0.1", "--", "echo >\(home.file("runs")); exec sleep 600"])
      try await eventually { !home.read("runs").isEmpty }
      try await proxy.inject(.freeze())
      running.child.signal(signal)
      let outcome = try await running.outcome()
      await proxy.stop()
      #expect(outcome.code == 128 + signal)
      let id = try #require(folder.ids.first)
      let name = verb.name ?? String(id.prefix(12))
      #expect(
        outcome.error.contains("session \(name) may have been started. To see"),
        "\(outcome.error)")
      #expect(outcome.error.contains(" kill "), "\(outcome.error)")
      #expect(folder.keepers.count == 1)
    }
  }

  /// The link was silent already when it was passed on, and that was not known.
  @Test func anInterruptOnASilentLinkIsSaidToWait() async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port)
      let running = try home.start(
        ["connect", "--keepalive", "2s"] + server.link(home, port: proxy.port)
          + ["127.0.0.1", "--", "echo here; exec sleep 600"])
      try await running.prints("here\n")
      try await proxy.inject(.freeze())
      running.child.signal(SIGINT)
      let words = "the interrupt waits for the link; another one leaves the command running."
      try await eventually { home.read("err-\(running.name)").contains(words) }
      running.child.signal(SIGINT)
      let outcome = try await running.outcome()
      await proxy.stop()
      #expect(outcome.code == 130 && folder.keepers.count == 1, "\(outcome.error)")
      // It may arrive yet.
      #expect(outcome.error.contains("was asked to end, and no answer came in time"))
    }
  }

  /// The budget of dials is for a host that does not keep its links, not for one that is cut off
  /// while it works: no outage is as long as the budget's pause.
  @Test func aLinkThatCarriedBytesIsDialedAtOnceHoweverOftenItIsReset() async throws {
    try await withSessions { server, home, _ in
      let proxy = try await FaultProxy(to: server.port)
      let stop = home.file("stop")
      let running = try home.start(
        ["connect", "--json"] + server.link(home, port: proxy.port)
          + [
            "127.0.0.1", "--",
            "n=0; until [ -e \(stop) ]; do n=$((n+1)); echo $n; sleep 0.05; done; exit 7",
          ])
      let output = "out-\(running.name)"
      for _ in 1...14 {
        let before = home.read(output).count
        try await eventually { home.read(output).count > before }
        try await proxy.inject(.reset)
      }
      try Data().write(to: URL(filePath: stop))
      let outcome = try await running.outcome()
      await proxy.stop()
      #expect(outcome.code == 7)
      let lines = outcome.text.split(separator: "\n").map(String.init)
      #expect(lines == (1...max(1, lines.count)).map(String.init))
      let outages = try outcome.events("recovered").compactMap { $0["milliseconds"] as? Int }
      #expect(outages.count >= 12)
      #expect(outages.allSatisfy { $0 < 25_000 }, "\(outages)")
    }
  }

  /// The program ends while a signal ends the run, over a link on which nothing gets there: who
  /// reads the file must not wait for a line that never comes.
  @Test(arguments: [0, 100, 200, 300])
  func aRunThatASignalEndsHasAnEndInItsFile(milliseconds: Int) async throws {
    try await withSessions { server, home, _ in
      let proxy = try await FaultProxy(to: server.port)
      let (go, report) = (home.file("go"), home.file("report"))
      let running = try home.start(
        ["connect", "--durable=require", "--exit-status-file", report]
          + server.link(home, port: proxy.port)
          + [
            "127.0.0.1", "--",
            "trap '' HUP; echo a; until [ -e \(go) ]; do sleep 0.02; done; echo b; exit 9",
          ])
      try await running.prints("a\n")
      try await proxy.inject(.freeze([.toServer]))
      running.child.signal(SIGTERM)
      try await ContinuousClock().sleep(for: .milliseconds(milliseconds))
      try home.write("", to: "go")
      let outcome = try await running.outcome()
      #expect(outcome.code == 143 || outcome.code == 9, "\(outcome.error)")
      #expect(home.read("report").contains("\"exit\":\(outcome.code)"), "\(home.read("report"))")
      await proxy.stop()
    }
  }

  /// No run that did not bring all of the output is a success; the status of a program that failed
  /// by itself stays, and what is missing is said with it, also with -q.
  @Test(arguments: [(0, 74, "[durableSessionGap]"), (7, 7, "are no longer kept.")])
  func outputThatIsNoLongerKeptIsNoSuccess(status: Int, code: Int, words: String) async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port)
      let (go, done) = (home.file("go"), home.file("done"))
      let report = home.file("report")
      let running = try home.start(
        ["connect", "-q", "-tt", "--keepalive", "0s", "--exit-status-file", report]
          + server.link(home, port: proxy.port)
          + [
            "127.0.0.1", "--",
            "stty raw; echo first; until [ -e \(go) ]; do sleep 0.02; done; "
              + "head -c 6000000 /dev/zero; echo >\(done); exit \(status)",
          ])
      try await running.prints("first\n")
      try await proxy.inject(.freeze([.toClient]))
      try home.write("", to: "go")
      try await eventually { !home.read("done").isEmpty }
      let id = try #require(folder.ids.first)
      // The second one: what is sealed, and not on its way.
      let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.root)/\(id)")
      let segments = names.filter { $0.hasPrefix("out.") }.sorted()
      try #require(segments.count > 4)
      try FileManager.default.removeItem(
        atPath: "\(folder.root)/\(id)/\(segments[segments.count - 2])")
      try await proxy.inject(.lift)
      let outcome = try await running.outcome()
      await proxy.stop()
      #expect(outcome.code == code, "\(outcome.error)")
      #expect(outcome.error.contains(words), "\(outcome.error)")
      #expect(outcome.output.count < 5_500_000)
      #expect(home.read("report").contains(#""remote":\#(status)"#), "\(home.read("report"))")
      #expect(home.read("report").contains(#""case":"durableSessionGap""#))
    }
  }

  @Test func aClientThatWasKilledLeavesItRunningAndAnotherReadsAllOfIt() async throws {
    try await withSessions { server, home, folder in
      let link = server.link(home)
      let go = home.file("go")
      let running = try home.start(
        ["connect", "--name", "count"] + link
          + [
            "127.0.0.1", "--",
            "echo first; until [ -e \(go) ]; do sleep 0.02; done; echo last; exit 3",
          ])
      try await running.prints("first\n")
      running.child.signal(SIGKILL)
      #expect(try await running.outcome().code == 1009)
      #expect(folder.keepers.count == 1)
      let again = try home.start(["attach"] + link + ["127.0.0.1", "count"])
      try await again.prints("first\n")
      try home.write("", to: "go")
      let outcome = try await again.outcome()
      #expect(outcome.code == 3, "\(outcome.error)")
      #expect(outcome.text == "first\nlast\n")
      // Another client started it: what it printed stays for `logs`.
      #expect(folder.ids.count == 1)
    }
  }

  @Test func anEndedSessionAnswersWithItsStatus() async throws {
    try await withSessions { server, home, folder in
      let link = server.link(home)
      let start = try await home.run(
        ["run", "--detach"] + link + ["127.0.0.1", "--", "echo all; exit 4"])
      let id = start.text.trimmingCharacters(in: .newlines)
      #expect(try await home.run(["wait"] + link + ["127.0.0.1", id]).code == 4)
      let attach = try await home.run(["attach"] + link + ["127.0.0.1", id])
      #expect(attach.code == 4 && attach.text == "all\n")
      let none = try await home.run(["attach"] + link + ["127.0.0.1"])
      #expect(none.code == 66, "\(none.error)")
    }
  }

  @Test func theKeepersDeathIsNoStatus() async throws {
    try await withSessions { server, home, folder in
      let running = try home.start(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "echo before; exec sleep 600"])
      try await running.prints("before\n")
      for keeper in folder.keepers { kill(keeper, SIGKILL) }
      let outcome = try await running.outcome()
      #expect(outcome.code == 74)
      #expect(outcome.lastLine.hasPrefix("bridgectl: [durableSessionOutcomeUnknown] "))
      #expect(outcome.error.contains("killed, and the program still runs, out of reach"))
      #expect(outcome.error.contains("bridgectl sessions"))
    }
  }

  @Test func aLinkThatIsGivenUpLeavesTheCommandRunning() async throws {
    try await withSessions { server, home, folder in
      let proxy = try await FaultProxy(to: server.port)
      let running = try home.start(
        ["connect", "--no-reconnect"] + server.link(home, port: proxy.port)
          + ["127.0.0.1", "--", "echo here; exec sleep 600"])
      try await running.prints("here\n")
      try await proxy.inject(.reset)
      let outcome = try await running.outcome()
      #expect(outcome.code == 69, "\(outcome.error)")
      let short = try #require(folder.ids.first).prefix(12)
      #expect(outcome.error.contains("session \(short) goes on. To return to it, or end it:\n"))
      #expect(folder.keepers.count == 1)
      await proxy.stop()
    }
  }

  /// As with SSH: `yes | head` does not go on forever; nor on a terminal of the host.
  @Test(arguments: [[], ["-tt"]])
  func aClosedOutputEndsTheCommand(options: [String]) async throws {
    try await withSessions { server, home, folder in
      let ends = try ClosedPipe()
      let child = try Child(
        ["connect"] + options + server.link(home) + ["127.0.0.1", "--", "yes"],
        environment: home.environment,
        streams: .descriptors(input: 0, output: ends.writing, error: 2))
      #expect(await child.ending.code() == 141)
      let id = try #require(folder.ids.first)
      #expect(try await home.run(["wait"] + server.link(home) + ["127.0.0.1", id]).code == 129)
    }
  }

  @Test func aCommandThatStaysBehindAClosedOutputIsNamed() async throws {
    try await withSessions { server, home, folder in
      let (ends, errors) = (try ClosedPipe(), home.file("errors"))
      try home.write("", to: "errors")
      let file = try FileHandle(forWritingTo: URL(filePath: errors))
      let command = "trap '' HUP; while :; do echo line; sleep 0.01; done"
      let child = try Child(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", command],
        environment: home.environment,
        streams: .descriptors(input: 0, output: ends.writing, error: file.fileDescriptor))
      #expect(await child.ending.code() == 141)
      let id = try #require(folder.ids.first)
      let said = String(decoding: home.data("errors") ?? Data(), as: UTF8.self)
      let words =
        "bridgectl: session \(id.prefix(12)) was asked to end, and no answer came in time."
      #expect(said.hasPrefix(words), "\(said)")
      #expect(folder.keepers.count == 1)
    }
  }

  /// However it is started; the longest one runs.
  @Test(arguments: [["connect"], ["connect", "--name", "long"], ["run", "--detach"]])
  func aCommandThatIsTooLongIsNamed(verb: [String]) async throws {
    try await withSessions { server, home, folder in
      let long = String(repeating: "a", count: 131_072 - "true ".utf8.count)
      let start = verb + server.link(home) + ["127.0.0.1", "--", "true"]
      let outcome = try await home.run(start + [String(long.dropLast()), "a"])
      #expect(outcome.code == 64, "\(outcome.error)")
      #expect(outcome.error.contains("The command is longer than 128 KiB"), "\(outcome.error)")
      #expect(!outcome.error.contains("start-up file"), "\(outcome.error)")
      #expect(folder.ids.isEmpty)
      guard verb.count == 1 else { return }
      let longest = try await home.run(start + [String(long.dropLast())])
      #expect(longest.code == 0, "\(longest.error)")
    }
  }

  @Test func withoutBridgeHostItRunsPlainly() async throws {
    try await withSessions(installs: false) { server, home, _ in
      for option in [[], ["--durable=auto"], ["--durable=never"]] {
        let outcome = try await home.run(
          ["connect"] + option + server.link(home)
            + ["127.0.0.1", "--", "cat; echo err >&2; exit 5"], input: Array("in".utf8))
        #expect(outcome.code == 5)
        #expect(outcome.text == "in" && outcome.error == "err\n")
      }
      let required = try await home.run(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1", "--", "true"])
      #expect(required.code == 78)
      #expect(required.lastLine.hasPrefix("bridgectl: [durableSessionHostUnusable] "))
    }
  }

  /// The hint comes where it matters: with an outcome that is not known.
  @Test func theHintComesOnceAndOnlyWithALoss() async throws {
    try await withSessions(installs: false) { server, home, _ in
      let outcome = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "kill -9 $PPID; sleep 9"])
      #expect(outcome.code == 74)
      #expect(outcome.error.components(separatedBy: "bridgectl install").count == 2)
    }
  }

  /// A bridge-host that declines after it started the program is no reason to run it again.
  @Test func whatMayHaveStartedIsNotRunPlainly() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let program = "\(folder.path)/.local/lib/bridge/bin/bridge-host"
      try FileManager.default.createDirectory(
        atPath: (program as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      // It answers the marker, takes what starts the command, and dies.
      let script =
        "#!/bin/sh\nfor a; do m=$a; done; printf %s \"$m\"; head -c 16 >/dev/null; exit 78\n"
      try Data(script.utf8).write(to: URL(filePath: program))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
      let outcome = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "echo ran >> \(home.file("mark"))"])
      #expect(outcome.code == 74, "\(outcome.error)")
      #expect(home.read("mark").isEmpty)
    }
  }
}
