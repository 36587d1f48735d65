import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl connect host -- COMMAND` as a script sees it.
@Suite(.timeLimit(.minutes(5))) struct CommandTests {
  @Test func theRemoteStatusIsOurs() async throws {
    try await withServer { server, home in
      for (command, code) in [("true", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137)] {
        let outcome = try await home.run(server.options(home) + ["127.0.0.1", "--", command])
        #expect(outcome.code == code, "\(command): \(outcome.error)")
      }
    }
  }

  @Test func theTerminatorMayBeLeftOut() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + ["127.0.0.1", "-T", "echo", "-p", "--json", "--", "x", ";exit 5"])
      #expect(outcome.text == "-p --json -- x\n")
      #expect(outcome.code == 5, "\(outcome.error)")
    }
  }

  /// Each line is marked as the host's; -q hides it.
  @Test func theNoticeOfTheHostIsShown() async throws {
    var configuration = SSHServerConfiguration()
    configuration.banner = "Only for members.\n\u{1B}[2Jbridgectl: all is well.\n"
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(server.options(home) + ["127.0.0.1", "--", "echo out"])
      #expect((outcome.code, outcome.text) == (0, "out\n"))
      let lines = outcome.error.split(separator: "\n")
      #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("| ") }, "\(outcome.error)")
      #expect(lines.first == "| Only for members." && !outcome.error.contains("\u{1B}"))
      let silent = try await home.run(
        server.options(home) + ["-q", "127.0.0.1", "--", "echo out"])
      #expect((silent.code, silent.text, silent.error) == (0, "out\n", ""))
    }
  }

  @Test func streamsStayApart() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + ["127.0.0.1", "--", "echo out;", "echo err >&2"])
      #expect(outcome.text == "out\n")
      #expect(outcome.error == "err\n")
    }
  }

  @Test func inputGoesThereAndComesBackWhole() async throws {
    try await withServer { server, home in
      var generator = SeededNumbers(seed: 1)
      let input = (0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let outcome = try await home.run(
        server.options(home) + ["127.0.0.1", "--", "cat"], input: input)
      #expect(outcome.code == 0)
      let isWhole = outcome.output == input
      #expect(isWhole)
    }
  }

  @Test func aClosedOutputEndsIt() async throws {
    try await withServer { server, home in
      let ends = try ClosedPipe()
      let child = try Child(
        server.options(home) + ["127.0.0.1", "--", "yes"], environment: home.environment,
        streams: .descriptors(input: 0, output: ends.writing, error: 2))
      #expect(await child.ending.code() == 141)
    }
  }

  /// As with ssh: its output belongs to the command's.
  @Test func aChildThatKeepsTheOutputOpenIsWaitedFor() async throws {
    try await withServer { server, home in
      let child = "until [ -e \(home.file("go")) ]; do sleep 0.1; done; echo late; echo later >&2"
      let running = try home.start(
        server.options(home) + ["127.0.0.1", "--", "(\(child)) & echo now; exit 3"])
      try await running.reports("waiting for the end of its output")
      try home.write("", to: "go")
      let outcome = try await running.outcome()
      #expect(outcome.code == 3)
      #expect(outcome.text == "now\nlate\n")
      #expect(outcome.error.contains("waiting for the end of its output"))
      #expect(outcome.error.contains("later\n"))
    }
  }

  @Test(
    arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129), (SIGQUIT, 131)] as [(Int32, Int32)])
  func aSignalEndsIt(_ number: Int32, _ code: Int32) async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["-T", "127.0.0.1", "--", "echo up; sleep 1000"], on: terminal)
      try await screen.see("up")
      screen.signal(number)
      #expect(await screen.end() == code)
    }
  }

  @Test func aSignalIsTheCodeInItsEventToo() async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["--json", "-T", "127.0.0.1", "--", "sleep 1000"], on: terminal)
      try await screen.see("\"started\"")
      screen.signal(SIGTERM)
      #expect(await screen.end() == 143)
      #expect(screen.transcript.contains("\"exitCode\":143"))
    }
  }

  @Test func aLostLinkLeavesTheOutcomeUnknown() async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["127.0.0.1", "--", "echo up; sleep 1000"], on: terminal)
      try await screen.see("up")
      await server.killSessions()
      #expect(await screen.end() == 74)
      #expect(screen.transcript.contains("\nbridgectl: [sshOutcomeUnknown] Outcome Unknown: "))
    }
  }

  /// Nothing of ours is in a line of the program's.
  @Test(arguments: [("kill -9 $$", 137), ("sleep 0.2; kill -9 $PPID; sleep 9", 74)])
  func whatWeSayHasALineOfItsOwn(_ end: String, code: Int32) async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        ["connect", "--durable=never"] + server.link(home)
          + ["127.0.0.1", "--", "printf partial >&2; \(end)"])
      #expect(outcome.code == code)
      #expect(outcome.error.hasPrefix("partial\n"), "\(outcome.error)")
    }
  }

  @Test func nothingToRunStaysUntilItIsLost() async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["-N", "--no-reconnect", "127.0.0.1"], on: terminal)
      try await screen.see("connected")
      await server.killSessions()
      #expect(await screen.end() == 69)
      #expect(screen.isRestored)
    }
  }

  @Test func nothingToRunIsLeftWithoutAnError() async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      var screen = try home.start(server.options(home) + ["-N", "127.0.0.1"], on: terminal)
      try await screen.see("Ctrl-C disconnects")
      screen.type("\u{3}")
      #expect(await screen.end() == 130)
      #expect(screen.transcript.contains("\nbridgectl: disconnected from 127.0.0.1."))
      #expect(!screen.transcript.contains("[cancelled]"))
      #expect(screen.isRestored)
    }
  }

  @Test func whatCannotBeSentIsAUsageError() async throws {
    try await withServer { server, home in
      let command = String(repeating: "x", count: 100_000)
      let outcome = try await home.run(server.options(home) + ["127.0.0.1", "--", command])
      #expect(outcome.code == 64, "\(outcome.error)")
      #expect(outcome.lastLine.hasPrefix("bridgectl: [validationError] "))
    }
  }

  @Test(arguments: ["$(exit 3)", "'exit' 3", "exit\n3", "exit 3;\"\""])
  func wordsAreSentAsTheyAre(_ command: String) async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + ["127.0.0.1", "--", command, "; echo $?"])
      let here = Process()
      let pipe = Pipe()
      here.executableURL = URL(fileURLWithPath: "/bin/bash")
      here.arguments = ["-c", "\(command) ; echo $?"]
      (here.standardOutput, here.standardError) = (pipe, FileHandle.nullDevice)
      try here.run()
      let expected = try pipe.fileHandleForReading.readToEnd() ?? Data()
      let isWhole = outcome.output == Array(expected)
      #expect(isWhole)
    }
  }

  @Test func aShellWithoutATerminalReadsItsInput() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + ["127.0.0.1"], input: Array("echo from input; exit 9\n".utf8))
      #expect(outcome.code == 9, "\(outcome.error)")
      #expect(outcome.text.contains("from input\n"))
    }
  }

  @Test func closedStandardStreamsAreNotOurs() async throws {
    try await withServer { server, home in
      let options = server.options(home) + ["127.0.0.1", "--", "cat; exit 4"]
      let script = "exec \"$0\" \"$@\" <&- >&- 2>&-"
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/bin/bash")
      shell.arguments = ["-c", script, Child.program] + options
      shell.environment = home.environment
      await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
        shell.terminationHandler = { _ in ended.resume() }
        do { try shell.run() } catch { ended.resume() }
      }
      #expect(shell.terminationStatus == 4)
    }
  }

  @Test func ourWordsGoToAFileAndThoseOfTheRemoteSideDoNot() async throws {
    try await withServer { server, home in
      let options = server.options(home) + ["-v", "-E", home.file("log"), "127.0.0.1", "--"]
      for _ in 0..<2 {
        let outcome = try await home.run(options + ["echo said >&2; exit 3"])
        #expect(outcome.code == 3)
        #expect(outcome.error == "said\n")
      }
      #expect(home.read("log").components(separatedBy: "bridgectl: connected").count == 3)
      let refused = try await home.run(
        server.options(home) + ["-E", home.file("no/log"), "127.0.0.1", "true"])
      #expect(refused.code == 73, "\(refused.error)")
    }
  }

  @Test(arguments: [(command: "true", code: Int32(73)), ("exit 4", 4)])
  func aRunThatCannotWriteHowItEndedIsNoSuccess(command: String, code: Int32) async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + [
          "--exit-status-file", "/dev/full", "--json", "127.0.0.1", "--", command,
        ])
      #expect(outcome.code == code)
      #expect(outcome.error.contains("/dev/full"), "\(outcome.error)")
      #expect(outcome.lastLine.contains("\"exit\""), "\(outcome.error)")
    }
  }

  @Test func theRemoteStatusIsToldApartFromOurs() async throws {
    try await withServer { server, home in
      let file = home.file("end")
      let options = server.options(home) + ["--exit-status-file", file, "127.0.0.1", "--"]
      for (command, line) in [
        ("exit 69", #""exit":69,"remote":69}"#), ("kill -9 $$", #""exit":137,"signal":"KILL"}"#),
      ] {
        _ = try await home.run(options + [command])
        #expect(home.read("end").contains(line), "\(home.read("end"))")
      }
      await server.kill()
      #expect(try await home.run(options + ["true"]).code == 69)
      #expect(home.read("end").hasSuffix("\"exit\":69,\"case\":\"sshConnectionFailed\"}\n"))
    }
  }

  /// It would wait for a reader, and say nothing.
  @Test func aPipeThatNoProgramReadsIsNoStatusFile() async throws {
    let home = try Home()
    let pipe = home.file("pipe")
    _ = try await home.run([pipe], program: "/usr/bin/mkfifo")
    let outcome = try await home.run(["connect", "--exit-status-file", pipe, "h", "--", "true"])
    #expect(outcome.code == 73, "\(outcome.error)")
    #expect(outcome.error.contains("it is a pipe that no program reads"), "\(outcome.error)")
  }

  /// The end of an earlier run would be taken for this one's.
  @Test func theEndIsWrittenOfARunThatNeverBegan() async throws {
    let home = try Home()
    for (verb, arguments, code) in [
      ("cp", [home.file("absent"), "127.0.0.1:x"], 66),
      ("connect", ["-C", "127.0.0.1", "true"], 78),
    ] {
      try home.write(#"{"v":1,"exit":0,"remote":0}"#, to: "end")
      let outcome = try await home.run(
        [verb, "--exit-status-file", home.file("end")] + arguments)
      #expect(outcome.code == Int32(code), "\(outcome.error)")
      #expect(home.read("end").contains("\"exit\":\(code),\"case\""), "\(home.read("end"))")
    }
  }

  @Test func onlyAddressesOfTheFamilyThatIsAskedForAreDialed() async throws {
    try await withServer { server, home in
      let four = try await home.run(server.options(home) + ["-4", "127.0.0.1", "true"])
      #expect(four.code == 0)
      let six = try await home.run(server.options(home) + ["-6", "127.0.0.1", "true"])
      #expect(six.error.contains("no address of the family that is asked for"))
      #expect(six.code == 69, "\(six.error)")
      let configured = try await home.run(
        server.options(home) + ["-o", "AddressFamily=inet6", "127.0.0.1", "true"])
      #expect(configured.code == 69)
    }
  }
}

/// `Match exec`, read by connect as by config.
@Suite(.timeLimit(.minutes(5))) struct MatchExecCommandTests {
  @Test func theCommandDecidesForConfigAsForConnect() async throws {
    try await withServer { server, home in
      try home.write(
        """
        Match originalhost web exec "echo x >>\(home.file("ran")); test -e \(home.file("flag"))"
          HostName 127.0.0.1
          Port \(server.port)
          User \(server.user)
          IdentityFile \(server.identityFile)
          UserKnownHostsFile \(home.file("known_hosts"))
        Match originalhost web !exec "test -e \(home.file("flag"))"
          HostName name.invalid
        """, to: "config")
      let options = ["-F", home.file("config"), "web"]
      let without = try await home.run(["config"] + options)
      #expect(without.text.contains("\nhostname name.invalid "))
      #expect(try await home.run(["connect"] + options + ["true"]).code == 68)
      try home.write("", to: "flag")
      let with = try await home.run(["config"] + options)
      #expect(with.text.contains("\nport \(server.port)  # \(home.file("config")):3\n"))
      #expect(home.read("ran") == "x\nx\nx\n", "once a run")
      let outcome = try await home.run(["connect"] + options + ["echo", "there"])
      #expect(outcome.text == "there\n" && outcome.code == 0, "\(outcome.error)")
    }
  }

  /// As with ssh: there is nothing to be ended in order yet.
  /// A script reads both outputs line by line.
  @Test func everyLineOfTheSettingsInJSONIsAnObject() async throws {
    let home = try Home()
    try home.write("ForwardX11 yes\nServerAliveCountMax 9\n", to: "config")
    let outcome = try await home.run(["config", "--json", "-F", home.file("config"), "h"])
    #expect(outcome.code == 0 && outcome.error.contains("ForwardX11"))
    for line in (outcome.text + outcome.error).split(separator: "\n") {
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
      #expect(value is [String: Any], "\(line)")
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP], ["connect", "config"])
  func aSignalEndsTheProgramWhileTheCommandRuns(signal: Int32, verb: String) async throws {
    let home = try Home()
    let (began, pipe) = (home.file("began"), home.file("pipe"))
    try home.write("Match exec \"mkfifo \(pipe); >\(began); read x <\(pipe)\"\n", to: "config")
    let running = try home.start([verb, "-F", home.file("config"), "h"])
    try await eventually { FileManager.default.fileExists(atPath: began) }
    running.child.signal(signal)
    #expect(try await running.outcome().code == 1000 + signal)
    // Its command goes on until then.
    let end = try await home.run(["-c", ">\(pipe)"], program: "/bin/sh")
    #expect(end.code == 0)
  }

  @Test func whatACommandWritesIsNoOutput() async throws {
    let home = try Home()
    try home.write("Match exec \"echo out; echo err >&2; kill -KILL $$\"\n", to: "config")
    let outcome = try await home.run(["connect", "-F", home.file("config"), "h", "true"])
    #expect(outcome.code == 78 && outcome.output.isEmpty, "\(outcome.error)")
    #expect(outcome.error.hasPrefix("err\n"))
    #expect(outcome.lastLine.contains("ended by signal 9 (\(home.file("config")):1)"))
  }
}

/// The environment of a remote command.
@Suite(.timeLimit(.minutes(5))) struct CommandEnvironmentTests {
  @Test func variablesOfTheConfigurationReachTheCommand() async throws {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["AcceptEnv MINE_*"]
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(
        server.options(home) + [
          "-o", "SendEnv=MINE_* OTHER", "-o", "SetEnv=MINE_B=\"two words\"", "127.0.0.1", "--",
          #"echo "$MINE_A-$MINE_B-$OTHER""#,
        ], environment: ["MINE_A": "one", "MINE_B": "local", "OTHER": "x"])
      #expect(outcome.text == "one-two words-\n", "\(outcome.error)")
      #expect(outcome.code == 0 && outcome.error.isEmpty, "\(outcome.error)")
    }
  }
}
