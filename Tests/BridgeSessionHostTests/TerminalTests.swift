import BridgeSessionProtocol
import BridgeTerminalState
import Foundation
import Testing

@testable import BridgeSessionHost

@Suite struct TerminalTests {
  /// The output of its client is behind, by more than what is under way to it.
  @Test func aKeyReachesTheProgramWhoseOutputIsNotRead() throws {
    let bench = try SessionBench()
    let spec = bench.spec("trap : INT; yes; echo done >finished") {
      $0.terminal = Array("dumb".utf8)
    }
    _ = try bench.start(spec)
    let client = try bench.launch(["attach", "--session", spec.session.description])
    var bytes = bench.hello(spec.session) { $0.window = 8 << 20 }
    #expect(client.input?.write(bytes, from: 0) == .wrote(bytes.count))
    try bench.wait(for: spec.session, toPrint: 4 << 20)
    bytes = Frame.input(offset: 0, bytes: [3]).encoded
    #expect(client.input?.write(bytes, from: 0) == .wrote(bytes.count))
    try waitUntil { !bench.text("finished").isEmpty }
  }

  private func terminal(_ bench: SessionBench, _ command: String) -> SessionSpec {
    bench.spec(command) {
      $0.terminal = Array("xterm".utf8)
      $0.size = WindowSize(columns: 100, rows: 30)
      // VERASE as ^H, no echo.
      $0.modes = [3, 0, 0, 0, 8, 53, 0, 0, 0, 0]
    }
  }

  @Test func aProgramHasAControllingTerminalOfTheSizeTypeAndModesAskedFor() throws {
    let bench = try SessionBench()
    let spec = terminal(bench, "tty; stty size; stty -a; echo $TERM; echo mine >/dev/tty")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.text.hasPrefix("/dev/pts/"))
    #expect(client.text.contains("30 100\r\n"))
    #expect(client.text.contains("erase = ^H;") && client.text.contains("-echo "))
    #expect(client.text.contains("xterm\r\n") && client.text.hasSuffix("mine\r\n"))
    #expect(client.output.keys.elementsEqual([.terminal]))
  }

  @Test func aNewSizeReachesTheProgramOnceForEachResize() throws {
    let bench = try SessionBench()
    let command = "trap 'stty size' WINCH; echo ready; while :; do read word && exit 0; done"
    let spec = terminal(bench, command)
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "ready\r\n" }
    _ = try client.machine.perform(.resize(WindowSize(columns: 77, rows: 11)))
    try client.pump { $0.text.contains("11 77") }
    try client.connect()
    try client.greet()
    try client.type("end\n")
    #expect(try client.close() == 0)
    #expect(client.text == "ready\r\n11 77\r\n")
  }

  @Test func controlCInterruptsTheForegroundJob() throws {
    let bench = try SessionBench()
    let spec = terminal(
      bench, "trap 'echo interrupted; exit 9' INT; echo ready; while :; do sleep 0.05; done")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "ready\r\n" }
    try client.type("\u{3}")
    #expect(try client.close() == 0)
    #expect(client.end == .exited(status: 9))
  }

  @Test func aBackgroundChildThatHoldsTheTerminalDoesNotDelayTheEnd() throws {
    let bench = try SessionBench()
    // The child lives as long as the test's directory.
    let command = "(trap '' HUP; while [ -d $HOME ]; do sleep 0.1; done) & echo bye; exit 5"
    let spec = terminal(bench, command)
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.end == .exited(status: 5) && client.text == "bye\r\n")
  }

  /// What a terminal holds when the leader has ended is kept beyond the cap.
  @Test func theEndOfTheOutputNeedsNoReader() throws {
    let bench = try SessionBench()
    let count = (1 << 20) + 9000
    let spec = bench.spec(
      "stty raw -echo; head -c \(count) /dev/zero | tr '\\0' x; echo END; exit 5"
    ) {
      ($0.terminal, $0.cap, $0.whenFull) = (Array("dumb".utf8), 1 << 20, .wait)
    }
    _ = try bench.start(spec)
    let files = try bench.files(of: spec.session)
    try waitUntil { files.state?.phase == .ended }
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(client.all.count == count + 4 && client.text.hasSuffix("xEND\n"))
    #expect(client.gaps.isEmpty && client.end == .exited(status: 5))
  }

  @Test func aLoginShellRunsWithoutACommand() throws {
    let bench = try SessionBench()
    var spec = terminal(bench, "")
    spec.command = nil
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    try client.type("echo name $0; exit 3\n")
    #expect(try client.close() == 0)
    #expect(client.text.contains("name -sh") && client.end == .exited(status: 3))
  }

  /// Only the journal is left of the screen when its keeper was killed.
  @Test func withoutAKeeperAScreenBeginsNearTheEndAtTheStartOfALine() throws {
    let bench = try SessionBench()
    let spec = terminal(bench, "seq 1 40000; echo ready; read word")
    _ = try bench.start(spec)
    while !String(
      decoding: try bench.run(["read", "--session", spec.session.description]).frames
        .reduce(into: [UInt8]()) { all, frame in
          if case .output(_, _, let bytes) = frame { all += bytes }
        }.suffix(7), as: UTF8.self
    ).contains("ready") { Poller.pause(20) }
    try bench.killKeeper(of: spec.session)
    let client = try bench.attach(spec.session) { $0.replay = .screen }
    try client.pump { $0.end != nil }
    #expect(client.text.hasSuffix("ready\r\n") && client.gaps.isEmpty)
    #expect(client.all.count <= 64 << 10 && client.all.count > 60 << 10)
    let first = try #require(client.text.split(separator: "\r\n").first)
    #expect(first.count == 5 && Int(first) != nil)
  }

  @Test func withoutAKeeperAScreenBeginsWhereItWasClearedLastWithTheModesOfThatPlace() throws {
    let bench = try SessionBench()
    // More than is shown as a whole; the cursor is in the first cell when the screen is cleared.
    let command = "seq 1 5000; printf '\\033[?1h\\033[H\\033[2Jprompt'; read word"
    let spec = terminal(bench, command)
    _ = try bench.start(spec)
    let first = try bench.attach(spec.session)
    try first.pump { $0.text.hasSuffix("prompt") }
    // What is short is sent before it is stored.
    try bench.wait(for: spec.session, toPrint: UInt64(first.all.count))
    first.cut()
    try bench.killKeeper(of: spec.session)
    let second = try bench.attach(spec.session) { $0.replay = .screen }
    try second.pump { $0.end != nil }
    #expect(second.text == "\u{1B}[2Jprompt")
    #expect(second.welcome?.modes == Array("\u{1B}[?1h".utf8))
    #expect(second.gaps.isEmpty)
  }

  @Test func theModesAreKnownFarBehindWhereTheyWereSetAndAfterTheKeepersDeath() throws {
    let bench = try SessionBench()
    let spec = terminal(
      bench, "printf '\\033[?2004h\\033[?1h'; seq 1 300000; echo ready; read word")
    _ = try bench.start(spec)
    let first = try bench.attach(spec.session)
    try first.pump { $0.text.hasSuffix("ready\r\n") }
    first.cut()
    let modes = Array("\u{1B}[?1h\u{1B}[?2004h".utf8)
    let second = try bench.attach(spec.session) { $0.replay = .screen }
    try second.pump { $0.welcome != nil }
    let drawn = String(decoding: second.welcome?.modes ?? [], as: UTF8.self)
    #expect(drawn.contains("\u{1B}[?1h") && drawn.contains("\u{1B}[?2004h"))
    #expect(drawn.contains("300000\u{1B}") || drawn.contains("300000\r\n"))
    #expect(second.all.isEmpty && drawn.utf8.count <= 16 << 10)
    second.cut()
    try bench.killKeeper(of: spec.session)
    let third = try bench.attach(spec.session) { $0.replay = .screen }
    try third.pump { $0.end != nil }
    #expect(third.welcome?.modes == modes && third.text.hasSuffix("ready\r\n"))
  }

  @Test func aFullScreenProgramIsResizedTwiceForANewScreenAndNotForTheSameClient() throws {
    let bench = try SessionBench()
    let command =
      "trap 'stty size' WINCH; printf '\\033[?1049hready'; "
      + "while :; do read word && exit 0; done"
    let spec = terminal(bench, command)
    _ = try bench.start(spec)
    let size = WindowSize(columns: 100, rows: 30)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text.hasSuffix("ready") }
    try client.connect()
    try client.greet()
    client.cut()
    let screen = try bench.attach(spec.session) {
      $0.size = size
      $0.replay = .screen
    }
    // It had this size before: no change is reported to it unless there was another in between,
    // which a slow program does not see, or sees twice as the second.
    try screen.pump { $0.text.contains("30 100\r\n") }
    let sizes = screen.text.components(separatedBy: "ready").last ?? ""
    let seen = ["29 100\r\n30 100\r\n", "30 100\r\n", "30 100\r\n30 100\r\n"]
    #expect(seen.contains(sizes), "\(sizes)")
  }

  /// It is resized twice for a new client, whose terminal has one size all the time.
  @Test func aFullScreenProgramThatDrawsNothingAnewIsShownAsItIs() throws {
    let bench = try SessionBench()
    let spec = terminal(
      bench, "yes plain | head -c 20000; printf '\\033[?1049h'; seq 50; printf end; read word")
    _ = try bench.start(spec)
    try bench.wait(for: spec.session, toPrint: 23_535)
    let drawn = try [1, 2].map { _ in
      let client = try bench.attach(
        spec.session, client: ClientID(high: Machine.entropy(), low: Machine.entropy())
      ) {
        $0.replay = .screen
        $0.takes = true
        $0.size = WindowSize(columns: 100, rows: 30)
      }
      try client.greet()
      var screen = TerminalScreen(rows: 30, columns: 100)
      screen.track(client.welcome?.modes ?? [])
      return (0..<30).map { screen.text(ofRow: $0) }
    }
    #expect(drawn[0].suffix(3) == ["49", "50", "end"])
    #expect(drawn[1] == drawn[0])
  }

  @Test func withoutAnAttachmentTheKeeperSaysWhatTerminalItIs() throws {
    let bench = try SessionBench()
    let command = "stty raw; printf '\\033[c'; head -c 9 >answer; stty sane; exit 3"
    let spec = terminal(bench, command)
    _ = try bench.start(spec)
    _ = try bench.run(["wait", "--session", spec.session.description])
    #expect(bench.text("answer") == "\u{1B}[?62;22c".prefix(9))
  }

  /// A program that draws its question once and then moves a spinner only.
  @Test func aNewTerminalIsShownWhatWasDrawnLongAgo() throws {
    let bench = try SessionBench()
    let frames =
      "awk 'BEGIN { while (n++ < 20000) printf \"\\033[9;1H\\033[3%dm*\\033[m\", n % 8 }'"
    let spec = terminal(bench, "printf 'Allow this? '; \(frames); printf done; read word")
    _ = try bench.start(spec)
    try bench.wait(for: spec.session, toPrint: 300_000)
    for role in [Role.viewer, .writer] {
      let client = try bench.attach(
        spec.session, client: ClientID(high: Machine.entropy(), low: Machine.entropy())
      ) {
        $0.replay = .screen
        $0.role = role
      }
      try client.greet()
      let welcome = try #require(client.welcome)
      #expect(welcome.modes.count < 2000)
      #expect(String(decoding: welcome.modes, as: UTF8.self).contains("Allow this?"))
    }
  }

  /// It has the lines above the screen, also those of a session that is short.
  @Test(arguments: ["seq 60", "seq 20000"])
  func aTerminalThatWasAttachedBeforeIsShownTheScreenAndWhatItMissed(_ command: String) throws {
    let bench = try SessionBench()
    let spec = terminal(bench, "\(command); printf end; read word")
    _ = try bench.start(spec)
    let newest: UInt64 = command == "seq 60" ? 234 : 128_897
    try bench.wait(for: spec.session, toPrint: newest)
    let rows = command == "seq 60" ? 60 : 158
    // The last lines of four, and of seven bytes.
    let missed: UInt64 = command == "seq 60" ? 3 + 4 * 4 : 3 + 4 * 7
    for (shown, lines) in [(nil, rows), (newest, 58), (newest - missed, 62), (0, rows)]
      as [(UInt64?, Int)]
    {
      let client = try bench.attach(
        spec.session, client: ClientID(high: Machine.entropy(), low: Machine.entropy())
      ) {
        $0.replay = .screen
        $0.role = .viewer
        $0.shown = shown
      }
      try client.pump { $0.machine.received >= $0.welcome?.newest ?? .max }
      let output = (client.welcome?.modes ?? []) + client.all
      #expect(output.count { $0 == 0x0A } == lines)
      #expect(String(decoding: output, as: UTF8.self).contains("end"))
    }
  }

  /// A program asks where the cursor is at the end of 2 MiB that its client is not sent.
  @Test func aQueryInWhatIsLeftOutReachesTheTerminal() throws {
    let bench = try SessionBench()
    let spec = terminal(
      bench, "read go; yes plain | head -c 2000000; printf '\\033[6n'; echo yes >asked; read word")
    _ = try bench.start(spec)
    let client = try bench.attach(
      spec.session, client: ClientID(high: Machine.entropy(), low: Machine.entropy())
    ) { $0.catchesUp = true }
    try client.greet()
    try client.type("go\n")
    try client.pump { $0.machine.inputTaken == 3 }
    // The client takes nothing meanwhile.
    try waitUntil { bench.text("asked") != "" }
    // 333,333 lines of 7 bytes, two bytes of the last one, and the question.
    try client.pump { $0.machine.received == 333_333 * 7 + 2 + 4 }
    let screens = client.omitted.map { String(decoding: $0.screen, as: UTF8.self) }
    let isAsked = String(decoding: client.all, as: UTF8.self).contains("\u{1B}[6n")
    #expect(!screens.isEmpty)
    #expect(isAsked != screens.contains { $0.hasSuffix("\u{1B}[6n") })
  }

  /// Two clients of a session that has printed 2 MiB: one takes them all, one is shown the screen.
  @Test func whoCatchesUpSeesWhatSheSeesWhoReadAll() throws {
    let bench = try SessionBench()
    let spec = terminal(
      bench,
      "yes plain | head -c 1000000; "
        + "printf '\\033[?1049h\\033[H\\033[3;31mAllow this? \\033[?25l'; "
        + "awk 'BEGIN { while (n++ < 200000) printf \"\\033[9;1Hx\" }'; "
        + "printf '\\033[7;5H'; read word")
    _ = try bench.start(spec)
    try bench.wait(for: spec.session, toPrint: 2_566_600)
    var drawn: [[UInt8]] = []
    for catchesUp in [false, true] {
      let client = try bench.attach(
        spec.session, client: ClientID(high: Machine.entropy(), low: Machine.entropy())
      ) {
        $0.catchesUp = catchesUp
        $0.role = .viewer
      }
      try client.pump { $0.machine.received >= $0.welcome?.newest ?? .max }
      #expect(client.omitted.map(\.range) == (catchesUp ? [0..<client.machine.received] : []))
      #expect(client.gaps.isEmpty)
      var screen = TerminalScreen(rows: 30, columns: 100, history: 0)
      screen.track(client.omitted.flatMap(\.screen) + client.all)
      drawn.append(screen.render(history: 0))
    }
    #expect(drawn[0] == drawn[1])
    #expect(String(decoding: drawn[1], as: UTF8.self).contains("Allow this?"))
  }
}
