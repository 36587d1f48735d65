import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSessionProtocol
import Testing

@Suite("What is said of durable sessions") struct SessionTextTests {
  @Test(
    arguments: [
      (0, "0B"), (1023, "1023B"), (1024, "1.0K"), (4 << 20, "4.0M"), (64 << 20, "64M"),
      (1 << 63 - 1, "8388608T"),
    ] as [(UInt64, String)])
  func sizes(_ bytes: UInt64, _ text: String) { #expect(SessionText.size(bytes) == text) }

  @Test(
    arguments: [(0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (7200, "2h"), (172_800, "2d")]
      as [(UInt64, String)])
  func ages(_ seconds: UInt64, _ text: String) { #expect(SessionText.age(seconds) == text) }

  /// Ended, killed, without its keeper, lost by a reboot: four different things.
  @Test func everyEndIsAnotherText() {
    let ends: [ProgramEnd] = [
      .exited(status: 3), .signaled(number: 9, dumpedCore: false), .unknownKeeperDied,
      .unknownRebooted,
    ]
    let texts = ends.map(SessionText.end)
    #expect(Set(texts).count == 4)
    #expect(texts[0] == "exit 3" && texts[1] == "SIGKILL")
    #expect(texts[2] == "keeper died: exit status unknown")
    #expect(texts[3] == "lost by a reboot: exit status unknown")
  }

  @Test func aFullDiskOfTheHostIsPartOfTheState() {
    var status = SessionStatus(session: Identifier(high: 1, low: 1), state: .running)
    status.kind = .terminal
    status.memory = .output
    #expect(SessionText.state(status) == "running: disk full, newest output in memory")
    #expect(SessionText.line(status).text.contains(#""memory":"output""#))
    #expect(SessionText.forgotten([status], host: "h", now: 0) != nil)
    status.memory = .end
    #expect(SessionText.state(status) == "ended: disk full, output and status in memory")
    #expect(SessionText.forgotten([status], host: "h", now: 0) == nil, "no shell goes on")
  }

  @Test func aProgramThatWaitsForAReaderIsNotJustRunning() {
    var status = SessionStatus(session: Identifier(high: 1, low: 1), state: .running)
    #expect(!SessionText.line(status).text.contains("waitsForReader"))
    status.waitsForReader = true
    #expect(SessionText.state(status).contains("waits for a reader"))
    #expect(SessionText.line(status).text.contains(#""waitsForReader":true"#))
  }

  @Test func aProgramThatLostItsKeeperRuns() {
    var status = SessionStatus(session: Identifier(high: 1, low: 1), state: .keeperDied)
    #expect(!SessionText.line(status).text.contains("orphaned"))
    #expect(SessionText.state(status) == "keeper died: exit status unknown")
    status.end = .orphaned
    #expect(SessionText.state(status).contains("still runs"))
    #expect(SessionText.line(status).text.contains(#""orphaned":true"#))
  }

  @Test func aSessionOfAnotherMachineNamesIt() {
    var status = SessionStatus(session: Identifier(high: 1, low: 1), state: .running)
    status.node = "node7"
    #expect(SessionText.state(status) == "running on node7")
    #expect(SessionText.line(status).text.contains(#""node":"node7""#))
  }

  @Test func onlyShellsWithoutAClientAreForgotten() {
    var shell = SessionStatus(session: Identifier(high: 1, low: 1), state: .running)
    shell.kind = .terminal
    shell.startedAt = 100
    var attached = shell
    attached.attached = 1
    var ended = shell
    ended.state = .ended
    var build = shell
    build.kind = .pipes
    #expect(SessionText.forgotten([attached, ended, build], host: "h", now: 160) == nil)
    #expect(
      SessionText.forgotten([attached, shell], host: "me@h", now: 160)
        == "another shell goes on there without a client, started 1m ago: "
        + "`bridgectl attach me@h 000000000000` returns to it.")
    var named = shell
    named.name = Array("work".utf8)
    named.startedAt = 130
    let two = SessionText.forgotten([named, shell], host: "h", now: 160)
    #expect(two?.hasPrefix("2 other shells go on there without a client, the newest") == true)
    #expect(two?.contains("`bridgectl attach h work`") == true)
    // What is advised can be typed, whatever the name is.
    for (name, words) in [("a b", "'a b'"), ("-x", "-- -x"), ("-x y", "-- '-x y'")] {
      named.name = Array(name.utf8)
      let one = SessionText.forgotten([named], host: "h", now: 160)
      #expect(one?.contains("`bridgectl attach h \(words)`") == true, "\(one ?? "none")")
    }
  }

  @Test func aLineHasWhatIsKnown() {
    var status = SessionStatus(session: Identifier(high: 0, low: 1), state: .ended)
    status.end = .signaled(number: 15, dumpedCore: true)
    let text = SessionText.line(status).text
    #expect(text.hasPrefix(#"{"v":1,"id":"00000000000000000000000000000001","state":"ended""#))
    #expect(text.contains(#""signal":15,"core":true"#))
  }

  @Test func aLogKnowsWhetherWhatIsMissingWasAskedFor() {
    var whole = OutputProgress()
    whole.begin(at: nil)
    whole.skip(to: 10)
    #expect(whole.missing == 0..<10, "nothing of it was printed")
    whole.print(through: 20)
    #expect(whole.missing == nil)
    whole.skip(to: 30)
    #expect(whole.missing == 20..<30 && whole.position == 30)
    var screen = OutputProgress()
    screen.begin(at: nil)
    screen.go(to: 100)
    screen.skip(to: 110)
    #expect(screen.missing == 100..<110, "it was to follow what is on the screen")
    var exact = OutputProgress()
    exact.begin(at: 0)
    exact.skip(to: 10)
    // The next generation of the link goes on where the last one was.
    exact.begin(at: 0)
    #expect(exact.position == 10 && exact.missing == 0..<10)
  }

  @Test func signalsHaveTheirNamesWithAndWithoutPrefix() throws {
    #expect(try KillCommand.signal("sigterm") == .terminate)
    #expect(try KillCommand.signal("KILL") == .kill)
    #expect(try KillCommand.signal(nil) == nil)
    #expect(throws: AppError.self) { try KillCommand.signal("SEGV") }
  }

  @Test(arguments: [
    ["h", "--", "make"], ["--detach", "h"], ["--detach", "ws://h", "--", "make"],
    ["--detach", "--name", "a b", "h", "--", "make"],
    ["--detach", "--name", "00112233445566778899aabbccddeeff", "h", "--", "make"],
    ["--detach", "--when-full", "stop", "h", "--", "make"],
    ["--detach", "--cap", "1k", "h", "--", "make"],
  ])
  func runRefusesWhatMakesNoSense(_ words: [String]) throws {
    let command = try RunCommand.parse(BridgeCommand.normalized(words))
    #expect(throws: AppError.self) { try command.request() }
  }

  @Test func runTakesItsCommandAsConnectDoes() throws {
    let words = BridgeCommand.normalized(
      [
        "run", "--detach", "--name", "b", "--cap", "2M", "--when-full", "drop", "h", "make", "-C",
        "src",
      ])
    let request = try RunCommand.parse(Array(words.dropFirst())).request()
    #expect(request.command == "make -C src")
    #expect(request.start.name == "b" && request.start.whenFull == .drop)
    #expect(request.start.cap == 2 << 20)
  }

  /// No client reads what it prints: it would wait for good.
  @Test(arguments: [([], .drop), (["--when-full", "wait"], .wait)] as [([String], WhenFull)])
  func runDropsTheOldestOutputUnlessItIsToldToWait(options: [String], whenFull: WhenFull) throws {
    let words = BridgeCommand.normalized(["run", "--detach"] + options + ["h", "--", "make"])
    let request = try RunCommand.parse(Array(words.dropFirst())).request()
    #expect(RunCommand.whenFull(request.start) == whenFull)
  }
}
