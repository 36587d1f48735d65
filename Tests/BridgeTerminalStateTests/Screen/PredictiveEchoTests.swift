import BridgeFaults
import BridgeTerminalState
import Testing

/// What is typed is shown before it is echoed, where its echo is all but certain.
@Suite struct PredictiveEchoTests {
  /// A user's terminal over a link with a round trip of 200 ms.
  private struct Terminal {
    var echo: PredictiveEcho
    /// What the user sees.
    var shown: TerminalScreen
    /// What output alone would show.
    var plain: TerminalScreen
    var now = Duration.zero

    /// - Parameter old: what the terminals show before the first output.
    init(rows: Int = 10, columns: Int = 40, old: String = "") {
      echo = PredictiveEcho(rows: rows, columns: columns, roundTrip: .milliseconds(200))
      shown = TerminalScreen(rows: rows, columns: columns)
      shown.track(Array(old.utf8))
      plain = shown
    }

    /// With the prompt of a shell that edits its lines.
    init(columns: Int = 40, prompt: String) {
      self.init(columns: columns)
      print("\r\n\u{1B}[?2004h" + prompt)
    }

    /// A round trip later.
    mutating func print(_ text: String) { print(Array(text.utf8)) }

    mutating func print(_ bytes: [UInt8]) {
      now += .milliseconds(200)
      plain.track(bytes)
      shown.track(echo.take(bytes, at: now))
    }

    mutating func type(_ text: String) { shown.track(echo.type(Array(text.utf8), at: now)) }

    mutating func wait(milliseconds: Int) {
      now += .milliseconds(milliseconds)
      shown.track(echo.expire(at: now))
    }

    var row: String { shown.text(ofRow: shown.position.row) }
    /// The screen, and what output alone would show, as a terminal draws them.
    var difference: [String] {
      let both = [shown, plain].map { screen in
        // In the first column, what REP would repeat counts no more.
        let position = screen.position
        var screen = screen
        screen.track([0x0D])
        return "\(position) " + String(decoding: screen.render(), as: UTF8.self)
      }
      return both[0] == both[1] ? [] : both
    }
  }

  /// A shell whose first key was echoed.
  private func shell(_ prompt: String = "$ ") -> Terminal {
    var terminal = Terminal(prompt: prompt)
    terminal.type("l")
    terminal.print("l")
    return terminal
  }

  @Test func afterTheFirstEchoOfALineKeysAreShownAtOnceAndUnderlined() {
    var terminal = Terminal(prompt: "\u{1B}[1m$ \u{1B}[m")
    terminal.type("l")
    #expect(terminal.row == "$", "nothing is known of the line")
    terminal.print("l")
    terminal.type("s é")
    #expect(terminal.row == "$ ls é" && terminal.shown.position == (1, 6))
    #expect(String(decoding: terminal.shown.render(), as: UTF8.self).contains("\u{1B}[4m"))
    terminal.print("s")
    #expect(terminal.row == "$ ls é")
    terminal.print(" é")
    #expect(terminal.difference == [] && !terminal.echo.isShown)
  }

  /// As behind a shell that had the terminal while this job was stopped.
  @Test func whatAnotherProgramHasWrittenOverIsNotTakenBack() {
    var terminal = shell()
    terminal.type("s")
    #expect(terminal.echo.isShown)
    terminal.echo.forget()
    #expect(!terminal.echo.isShown)
    #expect(terminal.echo.take(Array("s".utf8), at: terminal.now) == Array("s".utf8))
    #expect(terminal.echo.type(Array("x".utf8), at: terminal.now) == [])
  }

  @Test func keysThatWereTypedBeforeTheFirstEchoAreShownWithIt() {
    var terminal = Terminal(prompt: "$ ")
    terminal.type("make")
    #expect(terminal.row == "$")
    terminal.print("m")
    #expect(terminal.row == "$ make")
  }

  @Test func keysTypedWhileACommandRunsAreShownWithTheEchoBehindItsPrompt() {
    var terminal = shell()
    terminal.type("s\r")
    terminal.type("pwd")
    terminal.print("s\r\nfile\r\n$ ")
    #expect(terminal.row == "$")
    terminal.print("p")
    #expect(terminal.row == "$ pwd")
  }

  @Test func whatIsTypedStaysUntilTheEchoOfReturnComes() {
    var terminal = shell()
    terminal.type("s\r")
    #expect(terminal.row == "$ ls")
    terminal.print("s")
    terminal.print("\r\nfile\r\n$ ")
    #expect(terminal.difference == [])
  }

  @Test func aPasswordIsNotShown() {
    var terminal = shell()
    terminal.type("s\r")
    terminal.print("s\r\nPassword: ")
    for key in ["s", "e", "c", "r", "e", "t"] {
      terminal.type(key)
      #expect(terminal.row == "Password:")
      terminal.wait(milliseconds: 150)
    }
    terminal.type("\r")
    terminal.print("\r\n$ ")
    #expect(terminal.difference == [])
  }

  @Test(arguments: ["*", "•"])
  func aPasswordIsNotShownBehindAsterisks(_ mask: String) {
    var terminal = Terminal(prompt: "Password: ")
    for (key, count) in zip("*a*bc", 1...) {
      terminal.type("\(key)")
      #expect(terminal.row.allSatisfy { !$0.isLetter || "Password".contains($0) })
      terminal.print(mask)
      #expect(terminal.row == "Password: " + String(repeating: mask, count: count))
    }
    terminal.type("\r")
    terminal.print("\r\n$ ")
    terminal.type("l")
    terminal.print("l")
    terminal.type("s")
    #expect(terminal.row == "$ ls", "the next line is another one")
  }

  @Test func whatIsNotEchoedInTimeIsTakenBack() {
    var terminal = shell()
    terminal.type("x")
    #expect(terminal.row == "$ lx")
    terminal.wait(milliseconds: 240)
    #expect(terminal.row == "$ lx")
    terminal.wait(milliseconds: 20)
    #expect(terminal.difference == [] && terminal.row == "$ l")
    terminal.type("y")
    #expect(terminal.row == "$ l", "nothing is sure any more")
  }

  /// Echoes that take unequal times are awaited longer.
  @Test func onAnUnevenLinkItIsAwaitedLonger() {
    var terminal = shell()
    for (index, key) in "somewhat".enumerated() {
      terminal.type(String(key))
      terminal.wait(milliseconds: index.isMultiple(of: 2) ? 0 : 200)
      terminal.print(String(key))
    }
    terminal.type("x")
    terminal.wait(milliseconds: 450)
    #expect(terminal.row == "$ lsomewhatx")
    terminal.wait(milliseconds: 700)
    #expect(terminal.row == "$ lsomewhat")
  }

  /// A program stops to echo in the middle of a line: `read -n 3 a; read -s b`.
  @Test func laterKeysDoNotKeepWhatIsNotEchoed() {
    var terminal = shell()
    terminal.type("s")
    terminal.print("s")
    for key in "secret" {
      terminal.type(String(key))
      for _ in 0..<3 { terminal.wait(milliseconds: 50) }
    }
    #expect(terminal.row == "$ ls")
  }

  /// `sleep 4; read -s X`: what is typed ahead is echoed, and what comes after the pause is not.
  @Test func aPasswordBehindLettersThatWereTypedAheadIsNotShown() {
    var terminal = Terminal()
    terminal.print("\r\n")
    terminal.type("s")
    terminal.print("s")
    terminal.type("e")
    terminal.print("e")
    terminal.type("c")
    #expect(terminal.row == "sec", "the line shows what is typed")
    terminal.print("c")
    terminal.wait(milliseconds: 3000)
    for key in "ret" {
      terminal.type(String(key))
      terminal.wait(milliseconds: 50)
      #expect(terminal.row == "sec")
    }
    // A shell that edits its lines echoes them all.
    var shell = shell()
    shell.wait(milliseconds: 3000)
    shell.type("s")
    #expect(shell.row == "$ ls")
  }

  /// The keys of a password have no echo, and one of them comes again.
  @Test func whatWasTypedBeforeDoesNotKeepWhatIsNotEchoed() {
    var terminal = Terminal(prompt: "$ ")
    for _ in 0..<3 {
      terminal.type("robot\r")
      terminal.wait(milliseconds: 1300)
      terminal.print("\r\n$ ")
    }
    for key in ["b", "c"] {
      terminal.type(key)
      terminal.print(key)
    }
    terminal.type("x")
    #expect(terminal.row == "$ bcx")
    terminal.wait(milliseconds: 450)
    #expect(terminal.row == "$ bc")
  }

  @Test func anotherEchoIsShownAsItComes() {
    var terminal = shell()
    terminal.type("s")
    terminal.print("S")
    #expect(terminal.row == "$ ls", "the rest may come")
    terminal.wait(milliseconds: 500)
    #expect(terminal.row == "$ lS" && terminal.difference.isEmpty)
  }

  @Test func backspaceAndArrowsMoveInWhatWasTyped() {
    var terminal = shell()
    terminal.type("sx\u{7F}")
    #expect(terminal.row == "$ ls" && terminal.shown.position == (1, 4))
    terminal.type("\u{1B}[D")
    #expect(terminal.shown.position == (1, 3))
    terminal.type("\u{1B}OC")
    #expect(terminal.shown.position == (1, 4))
    terminal.print("sx\u{8} \u{8}")
    terminal.print("\u{8}")
    terminal.print("\u{1B}[C")
    #expect(terminal.difference == [] && terminal.row == "$ ls")
  }

  /// A prompt is not erased, and no cursor goes into it.
  @Test(arguments: ["\u{7F}", "\u{1B}[D"])
  func nothingGoesIntoThePrompt(_ key: String) {
    var terminal = shell()
    terminal.type(key)
    #expect(terminal.shown.position == (1, 2))
    terminal.type(key)
    #expect(terminal.shown.position == (1, 2))
  }

  @Test func inTheMiddleOfALineTextMovesWhereItWasSeenToMove() {
    var terminal = shell()
    terminal.print("s file\u{1B}[6D")
    #expect(terminal.shown.position == (1, 3))
    terminal.type("a")
    #expect(terminal.row == "$ ls file", "it may insert or overwrite")
    terminal.print("as file\u{1B}[6D")
    #expect(terminal.row == "$ las file")
    terminal.type("b")
    #expect(terminal.row == "$ labs file")
    terminal.type("\u{7F}\u{7F}")
    #expect(terminal.row == "$ ls file")
    terminal.type("\u{7F}")
    #expect(terminal.row == "$ ls file", "the line before is not known")
  }

  @Test func aSuggestionBehindTheCursorStays() {
    var terminal = Terminal(prompt: "> \u{1B}[2mgit status\u{1B}[m\u{1B}[10D")
    terminal.type("g")
    terminal.print("g")
    #expect(terminal.row == "> git status")
    terminal.type("i")
    #expect(terminal.row == "> git status" && terminal.shown.position == (1, 4))
    terminal.type("x")
    #expect(terminal.row == "> gix status")
  }

  @Test func theLastColumnIsNotWrittenTo() {
    var terminal = Terminal(columns: 6, prompt: "$ ")
    terminal.type("a")
    terminal.print("a")
    terminal.type("bcdefg")
    #expect(terminal.row == "$ abc" && terminal.shown.position == (1, 5))
    terminal.print("bcdefg")
    #expect(terminal.difference == [])
  }

  /// Nor is anything drawn while a sequence is under way, or is the program's cursor not shown.
  @Test(arguments: ["\u{1B}[3", "\u{1B}]0;ti", "\u{1B}[?25l", "\u{1B}[?2026h", "\u{1B}(0"])
  func nothingIsDrawnWhereItWouldBreak(_ output: String) {
    var terminal = shell()
    terminal.print(output)
    terminal.type("s")
    #expect(terminal.difference == [])
  }

  @Test func whatIsPastedIsNotPredicted() {
    var terminal = shell()
    terminal.type(String(repeating: "x", count: 65))
    #expect(terminal.difference == [])
  }

  @Test func withdrawnOrLostNothingIsShownBeforeTheNextEcho() {
    var terminal = shell()
    terminal.type("s")
    terminal.shown.track(terminal.echo.withdraw())
    #expect(terminal.difference == [])
    terminal.type("x")
    #expect(terminal.difference == [])
    terminal = shell()
    terminal.shown.track(terminal.echo.lose())
    for text in ["s", "t"] {
      terminal.type(text)
      terminal.print(text)
      #expect(!terminal.echo.isShown, "the column of the cursor is not known")
    }
    terminal.print("\r\n$ ")
    terminal.type("x")
    terminal.print("x")
    terminal.type("y")
    #expect(terminal.row == "$ xy")
  }

  /// An outage: the lines that tell of it are drawn from where output has left the cursor.
  @Test func whileSomethingElseIsDrawnNothingIsShown() {
    var terminal = shell()
    terminal.type("s -l")
    terminal.shown.track(terminal.echo.withdraw())
    terminal.echo.isHidden = true
    terminal.print("s")
    terminal.type("a")
    #expect(terminal.difference == [] && !terminal.echo.isShown)
    terminal.echo.isHidden = false
    terminal.print(" -la")
    terminal.type("x")
    #expect(terminal.row == "$ ls -lax")
  }

  // MARK: Whose echo it is

  /// Return was typed before the echo of the key before it came: that is not of the password.
  @Test func theEchoOfAnEarlierLineShowsNoPassword() {
    var terminal = Terminal(prompt: "> ")
    terminal.type("q\r")
    terminal.type("quiet")
    terminal.print("q")
    #expect(terminal.row == "> q")
    terminal.print("\r\nPassword: ")
    #expect(terminal.difference == [])
  }

  /// A key was given up, and its echo comes after all.
  @Test func aLateEchoShowsNoPassword() {
    var terminal = shell()
    terminal.type("n\r")
    terminal.wait(milliseconds: 500)
    terminal.type("nightfall")
    terminal.print("n")
    #expect(terminal.row == "$ ln")
    terminal.print("\r\nPassword: ")
    #expect(terminal.difference == [])
  }

  /// Without a line that is edited one character may be anything: progress, a part of a prompt.
  @Test func aDotOfProgressShowsNoPassword() {
    var terminal = Terminal(prompt: "$ ")
    terminal.print("\r\n\u{1B}[?2004lworking")
    terminal.type("a.secret")
    for _ in 0..<3 {
      terminal.print(".")
      #expect(terminal.difference == [])
    }
  }

  @Test func withoutALineEditorTwoKeysAreWaitedFor() {
    var terminal = Terminal()
    terminal.print("\r\n>>> ")
    terminal.type("ab")
    terminal.print("a")
    #expect(terminal.row == ">>> a")
    terminal.print("b")
    terminal.type("c")
    #expect(terminal.row == ">>> abc")
  }

  /// It comes no sooner than a round trip after its key.
  @Test func whatWasPrintedBeforeTheKeyCouldArriveIsNotItsEcho() {
    var terminal = Terminal(prompt: "> ")
    terminal.now += .milliseconds(170)
    terminal.type("a")
    terminal.now -= .milliseconds(170)
    terminal.print("a")
    terminal.type("b")
    #expect(terminal.row == "> a")
  }

  /// The host was busy when the round trip was measured. What a program prints has the keys that
  /// were typed by accident, but not several in a row.
  @Test(arguments: ["\u{1B}[?2004h", ""])
  func aRoundTripThatIsShorterThanWasMeasuredIsSeenByThreeEchoes(_ editor: String) {
    var terminal = Terminal()
    terminal.print("\r\n\(editor)> ")
    terminal.echo.roundTrip = .seconds(2)
    for key in ["m", "a"] {
      terminal.type(key)
      terminal.print(key)
      #expect(terminal.difference == [])
    }
    terminal.type("k")
    #expect(terminal.row == "> ma")
    terminal.print("k")
    terminal.type("e")
    #expect(terminal.row == "> make")
    terminal.print("e")
    #expect(terminal.difference == [] && terminal.echo.roundTrip == .milliseconds(200))
  }

  @Test func anEchoOfAnotherKeyBetweenThemCountsFromTheStart() {
    var terminal = Terminal(prompt: "> ")
    terminal.echo.roundTrip = .seconds(2)
    terminal.type("make")
    for text in ["m", "x", "a", "k"] { terminal.print(text) }
    terminal.type("e")
    #expect(terminal.row == "> mxak" && terminal.echo.roundTrip == .seconds(2))
  }

  /// It was typed ahead of the first prompt.
  @Test func aLineThatTheScreenShowsIsAwaitedNoMore() {
    var terminal = Terminal()
    terminal.type("make it so\r")
    terminal.print("\u{1B}[?2004h$ make it so\r\n")
    terminal.print("$ ")
    terminal.type("i")
    terminal.print("i")
    terminal.type("t")
    #expect(terminal.row == "$ it")
  }

  // MARK: What the terminal shows

  @Test func nothingIsDrawnWhereTheCursorMayBeAnywhere() {
    var terminal = Terminal(old: "half a line")
    terminal.print("\u{1B}[?2004h$ ")
    terminal.type("l")
    terminal.print("l")
    terminal.type("s")
    #expect(terminal.difference == [])
  }

  @Test(arguments: ["\u{1B}[2A\r", "\u{1B}[3;1H", "\u{1B}[4d\r"])
  func nothingIsDrawnOverWhatWasThereBefore(_ move: String) {
    var terminal = Terminal(old: "one\r\ntwo\r\nthree\r\nfour\r\nfive\u{1B}[3;1H")
    terminal.print("\r\n\u{1B}[?2004h\u{1B}[K$ ")
    terminal.print(move)
    terminal.type("l")
    terminal.print("l")
    terminal.type("s\u{7F}\u{7F}")
    #expect(terminal.difference == [])
    // A screen that is cleared is known; keys that had no echo are forgotten.
    terminal.wait(milliseconds: 5000)
    terminal.print("\u{1B}[H\u{1B}[2J$ ")
    terminal.type("l")
    terminal.print("l")
    terminal.type("s")
    #expect(terminal.row == "$ ls")
  }

  /// The terminal has two columns for a character that is one or more of others.
  @Test func whatIsDrawnBeginsAtTheCursor() {
    var terminal = Terminal(prompt: "$ ")
    terminal.shown.track(Array("\u{1B}[1;1H.\u{1B}[2;9H".utf8))
    terminal.type("l")
    terminal.print("l")
    terminal.type("s\u{7F}")
    #expect(terminal.shown.text(ofRow: 1) == "$       l" && terminal.shown.position == (1, 9))
  }

  @Test func nothingIsWrittenWhereNothingChanges() {
    var terminal = shell()
    terminal.type("s")
    #expect(terminal.echo.isShown && terminal.echo.expire(at: terminal.now) == [])
  }

  /// Whatever is typed and printed, cut anywhere: what was shown can be taken back, cell by cell.
  @Test func nothingStays() {
    let shown = (0..<60).count { nothingStays(UInt64($0)) }
    #expect(shown > 45, "most of them show something")
  }

  /// - Returns: whether something was shown.
  private func nothingStays(_ seed: UInt64) -> Bool {
    var random = SplitMix64(seed: seed)
    var terminal = Terminal(rows: 6, columns: 20)
    let start =
      "\u{1B}[4l\u{1B}(B\u{F}\u{1B}[r\u{1B}[?6l\u{1B}[?25h\u{1B}[H\u{1B}[2J\u{1B}[?2004h$ "
    terminal.print(start)
    let keys = ["a", "b", "é", " ", "\u{7F}", "\u{1B}[D", "\u{1B}[C", "\r", "\t", "\u{1B}"]
    let output =
      [
        "a", "b", "é", "漢", " ", "\u{8} \u{8}", "\u{1B}[D", "\u{1B}[C", "\r\n$ ", "\r", "\n",
        "\u{1B}[1;31m", "\u{1B}[m", "\u{1B}[K", "\u{1B}[2J\u{1B}[H", "\u{1B}[?25l", "\u{1B}[?25h",
        "\u{1B}[4h", "\u{1B}[4l", "\u{1B}[3;5H", "\u{1B}7", "\u{1B}8", "\u{1B}[2;4r", "\u{1B}[r",
        "\u{1B}(0", "\u{1B}(B", "\u{1B}[?6h", "\u{1B}[?6l", "\u{1B}[?1049h", "\u{1B}[?1049l", "abc",
      ] + Array(repeating: start, count: 10)
    var wasShown = false
    for _ in 0..<400 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<3: terminal.type(keys.randomElement(using: &random) ?? "")
      case 3: terminal.wait(milliseconds: Int.random(in: 0..<300, using: &random))
      case 4:
        terminal.type("a")
        terminal.print("a")
      case 5:
        let bytes = Array((output.randomElement(using: &random) ?? "").utf8)
        let cut = Int.random(in: 0...bytes.count, using: &random)
        terminal.print(Array(bytes[..<cut]))
        terminal.print(Array(bytes[cut...]))
      case _: terminal.print(output.randomElement(using: &random) ?? "")
      }
      guard !terminal.echo.isShown else {
        wasShown = true
        continue
      }
      #expect(terminal.difference == [], "\(seed)")
    }
    terminal.shown.track(terminal.echo.withdraw())
    #expect(terminal.difference == [], "\(seed)")
    return wasShown
  }
}
