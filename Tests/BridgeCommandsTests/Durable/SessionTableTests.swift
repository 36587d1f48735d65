import BridgeCommands
import BridgeSessionProtocol
import BridgeTerminal
import Testing

@Suite("The table of sessions") struct SessionTableTests {
  private static func status(
    _ id: UInt64, _ state: SessionStatus.State, _ command: String? = nil, name: String? = nil,
    at time: UInt64 = 100, end: ProgramEnd? = nil
  ) -> SessionStatus {
    var status = SessionStatus(session: Identifier(high: id << 32, low: id), state: state)
    status.command = command.map { Array($0.utf8) }
    status.name = name.map { Array($0.utf8) }
    (status.startedAt, status.end) = (time, end)
    status.survivesLogout = "yes"
    return status
  }

  /// Every state, with a long name and a long command.
  private static let all = [
    status(
      1, .ended, "make\u{1B}[2J " + String(repeating: "x ", count: 90), end: .exited(status: 255)),
    status(2, .running, "sleep 600", name: "nightly-build-of-the-branch-main", at: 200),
    status(3, .keeperDied, "cat"), status(4, .rebooted, "日本語 日本語 日本語 日本語"), status(5, .running),
    status(6, .ended, "yes", end: .signaled(number: 9, dumpedCore: true)), status(7, .claimed, "a"),
  ]

  @Test func thoseThatRunComeFirst() {
    let lines = SessionTable.text(Self.all, now: 260).split(separator: "\n")
    #expect(
      lines[0].split(separator: " ").joined(separator: " ")
        == "ID NAME STATE AGE KEPT CLIENTS ENDS COMMAND")
    #expect(lines[1].hasPrefix("000000050000 ") && lines[1].contains(" running "))
    #expect(lines[2].hasPrefix("000000020000  nightly-build-of-the-branch-main  running"))
    #expect(lines.dropFirst(3).allSatisfy { !$0.contains(" running ") })
    #expect(!lines.joined().contains("\u{1B}"))
    #expect(SessionTable.text([], now: 0, width: 80).isEmpty)
  }

  @Test func longStatesAreShortWordsWithANote() {
    let lines = SessionTable.text(Self.all, now: 260).split(separator: "\n")
    let notes = lines.filter { $0.hasPrefix("no keeper: ") || $0.hasPrefix("rebooted: ") }
    #expect(notes.count == 2 && lines.count == 1 + Self.all.count + 2)
    #expect(lines.contains { $0.contains("  no keeper  ") })
    let few = SessionTable.text([Self.all[1]], now: 260)
    #expect(few.split(separator: "\n").count == 2, "no note without need")
  }

  @Test func sizesHaveAUnitAndWhatEndsItIsSaid() {
    var status = Self.status(1, .running, "a")
    status.newest = 17
    #expect(
      SessionTable.text([status], now: 160).contains("running  1m   17B   0        -     a\n"))
    status.survivesLogout = "no"
    #expect(SessionTable.text([status], now: 160).contains("17B   0        logout  a\n"))
  }

  @Test func whatIsNotKnownOfALogoutIsNotCalledAnEnd() {
    var status = Self.status(1, .running, "a")
    for (answer, word) in [("yes", "-"), ("no: x", "logout"), ("unknown: x", "unknown")] {
      status.survivesLogout = answer
      #expect(SessionTable.text([status], now: 160).contains("  \(word)  "))
    }
  }

  @Test func theTimeWithoutAClientIsSaid() {
    var status = Self.status(1, .running, "a")
    status.hangsUpAt = 160 + 3 * 3600
    for (now, text) in [(160, "3h"), (159, "4h"), (161, "3h"), (160 + 10_799, "1s")] {
      #expect(SessionTable.text([status], now: UInt64(now)).contains("  in \(text)  "), "\(now)")
    }
    status.hangsUpAt = 160 + 7 * 86_400
    #expect(SessionTable.text([status], now: 170).contains("  in 7d  "))
  }

  /// The clock of this machine may be wrong: both times are of the host's.
  @Test func agesAndEndsAreOfTheClockOfTheHost() {
    var status = Self.status(1, .running, "a")
    status.startedAt = 1000
    status.hangsUpAt = 1000 + 1800
    status.now = 1000 + 600
    for now: UInt64 in [0, 1600, 1_000_000] {
      let table = SessionTable.text([status], now: now)
      #expect(table.contains("  10m  ") && table.contains("  in 20m  "), "\(table)")
    }
  }

  @Test func aProgramThatWaitsOrRunsElsewhereIsNotJustRunning() {
    var status = Self.status(1, .running, "a")
    status.node = "node7"
    #expect(SessionTable.text([status], now: 160).contains("  on node7  "))
    status.waitsForReader = true
    let table = SessionTable.text([status], now: 160)
    #expect(table.contains("  waiting  ") && table.contains("\nwaiting: "))
  }

  @Test func aProgramThatLostItsKeeperIsAmongThoseThatRun() {
    var status = Self.status(1, .keeperDied, "a")
    #expect(!status.isRunning)
    status.end = .orphaned
    #expect(status.isRunning)
    let table = SessionTable.text([status], now: 160)
    #expect(table.contains("  orphaned  ") && table.contains("\norphaned: "))
  }

  @Test(arguments: [40, 60, 80, 132])
  func noLineIsLongerThanTheTerminal(_ width: Int) {
    for sessions in [Self.all, [Self.all[1]], [Self.all[0]], [Self.all[3]]] {
      let lines = SessionTable.text(sessions, now: 260, width: width).split(separator: "\n")
      for line in lines { #expect(TerminalText.width(of: line) <= width, "\(line)") }
      #expect(lines[0].hasPrefix("ID ") && lines[0].contains("STATE"))
      if width >= 80 { #expect(lines[0].contains("COMMAND") && lines[0].contains("AGE")) }
    }
  }

  @Test func onAWideTerminalNothingIsLeftOut() {
    #expect(
      SessionTable.text(Self.all, now: 260, width: 500) == SessionTable.text(Self.all, now: 260))
  }
}
