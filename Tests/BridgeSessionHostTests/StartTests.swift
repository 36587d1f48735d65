import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

@Suite struct StartTests {
  @Test func aCommandRunsOnPipesAndItsStreamsStayApart() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo out; read word; echo got $word; echo problem >&2; exit 7")
    var configuration = ClientSession.Configuration(session: spec.session, client: bench.client)
    configuration.role = .writer
    let client = AttachedClient(ClientSession(configuration), bench: bench)
    try client.connect(starting: spec)
    try client.greet()
    try client.type("yes\n")
    #expect(try client.close() == 0)
    #expect(client.end == .exited(status: 7))
    #expect(client.output[.standardOutput] == Array("out\ngot yes\n".utf8))
    #expect(client.output[.standardError] == Array("problem\n".utf8))
    // A session whose client has committed everything is removed, after the client was answered.
    try waitUntil { bench.names.isEmpty }
  }

  @Test func theSameIdAndProgramGiveTheSameAnswerAnyNumberOfTimesAndOneRun() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo run >>runs; read word; exit 4")
    for _ in 0..<5 {
      guard case .status(let status) = try bench.start(spec) else { Issue.record("none"); return }
      #expect(status.state == .running && status.session == spec.session)
    }
    let client = try bench.attach(spec.session)
    try client.greet()
    try client.type("go\n")
    try client.pump { $0.end != nil }
    client.cut()
    guard case .status(let ended) = try bench.start(spec) else { Issue.record("none"); return }
    #expect(ended.end == .exited(status: 4))
    #expect(bench.text("runs") == "run\n")
  }

  @Test func theSameIdWithAnotherProgramIsAConflict() throws {
    let bench = try SessionBench()
    var spec = bench.spec("read word")
    _ = try bench.start(spec)
    spec.command = Array("echo other >other".utf8)
    let (frames, status) = try bench.run(["start"], input: Frame.start(spec).encoded)
    guard case .refused(let refusal)? = frames.last else { Issue.record("\(frames)"); return }
    #expect(refusal.code == .conflict && status == 64)
    #expect(bench.text("other").isEmpty)
  }

  @Test func aProgramThatCannotBeExecutedLeavesNoSession() throws {
    let bench = try SessionBench()
    bench.environment["BRIDGE_SHELL"] = "/nonexistent/shell"
    let answer = try bench.start(bench.spec("true"))
    guard case .refused(let refusal) = answer else { Issue.record("\(answer)"); return }
    #expect(refusal.code == .cannotExecute)
    #expect(refusal.text.contains("/nonexistent/shell"))
    #expect(bench.names.isEmpty)
  }

  /// A start-up file may name another: `ssh` runs the command with the account's all the same.
  @Test func theShellIsTheAccountsAndNotTheOneOfTheEnvironment() throws {
    let bench = try SessionBench()
    bench.environment["BRIDGE_SHELL"] = nil
    bench.environment["SHELL"] = "/bin/false"
    let spec = bench.spec("echo $SHELL >ran")
    _ = try bench.start(spec)
    try waitUntil { bench.text("ran") == "/bin/false\n" }
  }

  @Test(arguments: [
    ("root:x:0:0:root:/root:/bin/bash\nann:x:7:7::/home/ann:/usr/bin/fish\n", "/usr/bin/fish"),
    ("ann:x:7:7::/home/ann:\n", "/bin/sh"), ("root:x:0:0:root:/root:/bin/bash\n", nil), ("", nil),
    ("bob:x:7:7::/:/bin/dash\nann:x:7:7::/:/bin/zsh", "/bin/zsh"),
    ("bob:x:7:7::/:/bin/dash\n", "/bin/dash"), ("+::::::\nann:x:7:7:/bin/zsh\n", nil),
    ("ann:x:70:7::/home/ann:/bin/zsh\n", nil),
  ])
  func theShellOfAnAccountIsInItsLine(file: String, shell: String?) {
    #expect(AccountFile.shell(of: 7, named: "ann", in: Array(file.utf8)) == shell)
  }

  /// What starts a session comes with the command: where it does not, that is not waited for.
  @Test(arguments: [0, 7, 40])
  func aStartThatDoesNotComeIsGivenUp(length: Int) throws {
    let (pipe, spec) = (try BridgeSessionHost.Pipe(), try SessionBench().spec("true"))
    let frame = Frame.start(spec).encoded
    Machine.write(frame + frame.prefix(length), to: pipe.writer.number)
    #expect(StartVerb.readSpec(from: pipe.reader.number, within: 10) == spec)
    #expect(StartVerb.readSpec(from: pipe.reader.number, within: 10) == nil)
  }

  @Test(arguments: [0, 7, 40])
  func aStartThatDoesNotComeWholeIsDeclined(length: Int) throws {
    let bench = try SessionBench()
    let frame = Frame.start(bench.spec("echo ran >ran")).encoded
    let process = try bench.launch(["start", "--marker", SessionBench.marker])
    let (output, status) = process.finish(Array(frame.prefix(length)))
    guard case .refused(let refusal)? = try SessionBench.frames(in: output).last else {
      Issue.record("\(output)")
      return
    }
    #expect(refusal.code == .noStart && status == 76)
    #expect(refusal.text.contains("start-up file"))
    #expect(bench.text("ran").isEmpty && bench.names.isEmpty)
  }

  @Test func tenStartsAtOnceRunTheProgramOnce() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo run >>runs; read word")
    let starts = try (0..<10).map { _ in
      try bench.launch(["start", "--marker", SessionBench.marker])
    }
    for start in starts { _ = start.input?.write(Frame.start(spec).encoded, from: 0) }
    for start in starts {
      let (output, status) = start.finish()
      #expect(status == 0)
      guard case .status(let answer)? = try SessionBench.frames(in: output).last else {
        Issue.record("no answer")
        continue
      }
      #expect(answer.state == .running)
    }
    #expect(bench.keepers(of: spec.session).count == 1)
    // The program may not have got to its first line yet; it has once it has ended.
    let client = try bench.attach(spec.session)
    try client.greet()
    try client.type("go\n")
    #expect(try client.close() == 0)
    #expect(bench.text("runs") == "run\n")
  }

  /// 60 cuts, or as many as BRIDGE_START_CUTS says.
  private static let cuts =
    ProcessInfo.processInfo.environment["BRIDGE_START_CUTS"].flatMap { Int($0) } ?? 60

  /// The starting process is killed at a moment that moves through the whole start. Whatever it had
  /// done, the next start answers and the program has run once.
  @Test(arguments: 0..<4) func aStartThatIsCutAnywhereRunsTheProgramOnce(part: Int) throws {
    let bench = try SessionBench()
    for cut in 0..<(Self.cuts / 4) {
      let spec = bench.spec("echo run >>runs-\(part)-\(cut); read word")
      let start = try bench.launch(["start"])
      _ = start.input?.write(Frame.start(spec).encoded, from: 0)
      // A start takes some 10 to 30 ms: the first cuts lie close together.
      for _ in 0..<(cut * 4 + part) * 20 { _ = Machine.milliseconds }
      if cut > 2 { Poller.pause(Int32((cut * 2 + part) % 40)) }
      start.end()
      guard case .status(let status) = try bench.start(spec) else {
        Issue.record("cut \(cut): not started")
        continue
      }
      #expect(status.state == .running, "cut \(cut)")
      let client = try bench.attach(spec.session)
      try client.greet()
      try client.type("go\n")
      #expect(try client.close() == 0)
      #expect(bench.text("runs-\(part)-\(cut)") == "run\n", "cut \(cut)")
    }
  }

  /// 20 killed keepers, or as many as BRIDGE_KEEPER_KILLS says.
  private static let kills =
    ProcessInfo.processInfo.environment["BRIDGE_KEEPER_KILLS"].flatMap { Int($0) } ?? 20

  /// The keeper is killed at a moment that moves through the start: then the program was not
  /// started and is started now, or its outcome is unknown and it is not started again.
  @Test func aKeeperThatIsKilledAroundTheStartNeverRunsTheProgramTwice() throws {
    let bench = try SessionBench()
    for cut in 0..<Self.kills {
      let spec = bench.spec("echo run >>runs-\(cut); read word")
      let start = try bench.launch(["start"])
      _ = start.input?.write(Frame.start(spec).encoded, from: 0)
      var keepers: [Int32] = []
      while keepers.isEmpty, TestMachine.isAlive(start.process), cut % 2 == 0 {
        keepers = bench.keepers(of: spec.session)
      }
      if cut % 2 == 1 { _ = start.finish() }
      if keepers.isEmpty { keepers = bench.keepers(of: spec.session) }
      for keeper in keepers { TestMachine.kill(keeper) }
      start.end()
      let answer = try bench.start(spec)
      let runs = bench.text("runs-\(cut)")
      #expect(runs == "run\n" || runs.isEmpty, "cut \(cut)")
      guard case .status(let status) = answer else { continue }
      if status.state == .running { #expect(status.end == nil) }
      if status.state == .keeperDied { #expect(status.end?.isUnknown == true) }
    }
  }

  /// What the starting process answers decides whether its client may run the command elsewhere.
  @Test(arguments: [1, 3])
  func aStartWhoseKeepersAreKilledSaysWhatBecameOfTheProgram(most: Int) throws {
    let bench = try SessionBench()
    for cut in 0..<Self.kills {
      let spec = bench.spec("echo run >>runs-\(cut); read word")
      let start = try bench.launch(["start", "--marker", SessionBench.marker])
      _ = start.input?.write(Frame.start(spec).encoded, from: 0)
      var killed: Set<Int32> = []
      while TestMachine.isAlive(start.process), bench.text("runs-\(cut)").isEmpty,
        killed.count < most
      {
        for keeper in bench.keepers(of: spec.session) where killed.insert(keeper).inserted {
          TestMachine.kill(keeper)
        }
      }
      let answer = try SessionBench.frames(in: start.finish().output).last
      guard case .status(let status) = answer else {
        // Three keepers that did not come to the program: the session is removed.
        #expect(most == 3 && killed.count == 3, "cut \(cut): \(String(describing: answer))")
        #expect(try bench.status(spec.session) == nil && bench.text("runs-\(cut)").isEmpty)
        continue
      }
      if status.state == .keeperDied { #expect(status.end?.isUnknown == true) }
      #expect(["", "run\n"].contains(bench.text("runs-\(cut)")), "cut \(cut)")
    }
  }

  @Test func aSessionThatWasClaimedAndNeverStartedIsStartedByTheNextStart() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo run >>runs; read word")
    // What a starter leaves that died after its claim: no lock is held.
    let place = bench.sessionsFolder.appending(path: spec.session.description)
    for folder in [bench.sessionsFolder.deletingLastPathComponent(), bench.sessionsFolder, place] {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    let files = SessionFiles(spec.session, directory: try Directory(place.path))
    try files.directory.replace("spec", spec.payload, syncs: false)
    _ = try files.directory.create("lock")
    let state = StateRecord(phase: .claimed, boot: Machine.boot, epoch: 5)
    try files.record(state, syncs: false)
    #expect(try bench.status(spec.session)?.state == .claimed)
    let attach = try bench.run(["attach", "--session", spec.session.description])
    guard case .refused(let refusal)? = attach.frames.last else { Issue.record("none"); return }
    #expect(refusal.code == .notStarted)
    guard case .status(let status) = try bench.start(spec) else { Issue.record("none"); return }
    #expect(status.state == .running)
  }

  @Test func aProgramInheritsItsThreeDescriptorsTheHomeDirectoryAndDefaultSignals() throws {
    let bench = try SessionBench()
    var spec = bench.spec(
      "ls /proc/self/fd | wc -l; pwd; grep SigIgn /proc/self/status; echo $ADDED")
    spec.environment = [Array("ADDED=from the client".utf8)]
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    let lines = client.text.split(separator: "\n")
    // 0, 1, 2 and the directory that ls reads.
    #expect(lines.first?.trimmingCharacters(in: .whitespaces) == "4")
    #expect(lines.dropFirst().first.map(String.init) == bench.folder.path)
    let ignored = client.text.firstMatch(of: /SigIgn:\t([0-9a-f]+)/).flatMap {
      UInt64($0.output.1, radix: 16)
    }
    #expect(ignored == 0)
    #expect(client.text.contains("from the client"))
  }

  @Test func theAnswerIsFoundAfterWhatStartUpFilesPrint() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    let command =
      "echo Welcome to this host; exec \(SessionBench.program) start --marker "
      + SessionBench.marker
    let process = try RunningProcess(
      ["/bin/sh", "-c", command], environment: bench.environment)
    let (output, status) = process.finish(Frame.start(spec).encoded)
    #expect(String(decoding: output.prefix(7), as: UTF8.self) == "Welcome")
    #expect(status == 0)
    guard case .status? = try SessionBench.frames(in: output).last else {
      Issue.record("no answer")
      return
    }
  }
}
