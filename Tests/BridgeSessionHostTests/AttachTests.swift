import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

@Suite struct AttachTests {
  /// Its other client removes it at that moment: nothing is left that says whether a keeper lives.
  @Test func aSessionThatIsRemovedWhileItIsAttachedToIsMissing() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    _ = try bench.start(spec)
    try bench.killKeeper(of: spec.session)
    let place = bench.place(of: spec.session)
    for name in try FileManager.default.contentsOfDirectory(atPath: place) {
      try FileManager.default.removeItem(atPath: "\(place)/\(name)")
    }
    let attaching = try bench.launch(["attach", "--session", spec.session.description])
    try waitUntil {
      let folder = "/proc/\(attaching.process)/fd"
      let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return open.contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == place
      }
    }
    try FileManager.default.removeItem(atPath: place)
    #expect(attaching.exitStatus() == 66)
  }

  private func lines(_ range: Range<Int>) -> String {
    range.map { "line \($0)\n" }.joined()
  }

  @Test func outputIsCompleteAndInOrderAfterManyCuts() throws {
    let bench = try SessionBench()
    let spec = bench.spec("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 3")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    for cut in 1...15 {
      try client.pump { $0.all.count >= cut * 12_000 || $0.end != nil }
      // A session whose client has seen its end and taken everything is removed.
      if client.end != nil { break }
      try client.connect()
    }
    #expect(try client.close() == 0)
    #expect(client.text == lines(0..<20_000))
    #expect(client.end == .exited(status: 3) && client.gaps.isEmpty)
  }

  @Test func whatWasPrintedAndHowItEndedWithoutAnAttachmentIsDelivered() throws {
    let bench = try SessionBench()
    let spec = bench.spec("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; exit 7")
    _ = try bench.start(spec)
    let (frames, status) = try bench.run(["wait", "--session", spec.session.description])
    guard case .status(let ended)? = frames.last else { Issue.record("\(frames)"); return }
    #expect(status == 0 && ended.end == .exited(status: 7))
    // An ended session costs no process.
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.text == lines(0..<3000) && client.end == .exited(status: 7))
    #expect(bench.names.isEmpty)
  }

  @Test func inputArrivesOnceAfterManyCutsAndItsEndToo() throws {
    let bench = try SessionBench()
    let spec = bench.spec("cat >copy; echo done")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    let script = (0..<40_000).map { "input \($0)\n" }.joined()
    let bytes = Array(script.utf8)
    var written = 0
    var cuts = 0
    try client.greet()
    while written < bytes.count {
      let piece = bytes[written..<min(written + 30_000, bytes.count)]
      if (try? client.machine.write(piece)) != nil { written += piece.count }
      let goal = client.machine.inputTaken
      try client.pump { $0.machine.inputTaken > goal || $0.outboxIsIdle }
      if cuts < 12 {
        cuts += 1
        try client.connect()
        try client.greet()
      }
    }
    #expect(try client.machine.endInput())
    #expect(try client.close() == 0)
    #expect(client.text == "done\n")
    #expect(bench.text("copy") == script)
    #expect(client.losses.isEmpty)
  }

  @Test func anotherClientReadsWhileOneWritesAndMayTakeOver() throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let first = try bench.attach(spec.session)
    try first.greet()
    try first.type("one\n")
    try first.pump { $0.text == "got one\n" }
    let other = ClientID(high: 9, low: 9)
    let viewer = try bench.attach(spec.session, client: other)
    // The writer is pinged first, and answers.
    while viewer.text != "got one\n" {
      for client in [first, viewer] { try client.pumpOnce() }
    }
    #expect(viewer.welcome?.role == .viewer && viewer.welcome?.writer == bench.client)
    viewer.cut()
    let taker = try bench.attach(spec.session, client: other) { $0.takes = true }
    try taker.greet()
    #expect(taker.welcome?.role == .writer)
    try first.pump { $0.refusal != nil }
    #expect(first.refusal?.code == .replaced)
    try first.pump { _ in false }
    #expect(first.process?.exitStatus() == 75)
    try taker.type("two\n")
    try taker.pump { $0.text == "got one\ngot two\n" }
  }

  /// Its client is stopped, or its link is dead without a word.
  @Test func aWriterThatAnswersNothingMakesRoomForAnother() throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let dead = try bench.attach(spec.session)
    try dead.greet()
    let other = try bench.attach(spec.session, client: ClientID(high: 9, low: 9))
    try other.greet()
    #expect(other.welcome?.role == .writer)
    try other.type("x\n")
    try other.pump { $0.text == "got x\n" }
  }

  /// Two hosts carry an agent, one after the other; the first was frozen, and wakes up.
  @Test func aHostWhoseLeaseHasEndedWritesNothing() throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let frozen = try bench.attach(spec.session) { $0.fence = 5 }
    try frozen.greet()
    let next = try bench.attach(spec.session) { $0.fence = 6 }
    try next.greet()
    try next.type("x\n")
    try next.pump { $0.text == "got x\n" }
    let woken = try bench.attach(spec.session) { $0.fence = 5 }
    try woken.pump { $0.refusal != nil }
    #expect(woken.refusal?.code == .replaced)
    try next.type("y\n")
    try next.pump { $0.text == "got x\ngot y\n" }
  }

  @Test func aHalfOpenAttachmentOfTheSameClientIsDisplacedAtOnce() throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let stale = try bench.attach(spec.session)
    try stale.greet()
    // The stale attachment's descriptors stay open.
    let fresh = try bench.attach(spec.session)
    try fresh.greet()
    #expect(fresh.welcome?.role == .writer)
    try fresh.type("x\n")
    try fresh.pump { $0.text == "got x\n" }
    #expect(stale.process.map { TestMachine.isAlive($0.process) } != nil)
  }

  /// What a killed client had sent may arrive late.
  @Test func aHelloOfADeadClientDisplacesNoAttachment() throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    let verb = ["attach", "--session", spec.session.description, "--marker", SessionBench.marker]
    let late = try bench.launch(verb)
    // The hello, and the end of what was sent.
    let answer = late.finish(bench.hello(spec.session) { $0.client = bench.client }).output
    #expect(try SessionBench.frames(in: answer).map(\.type) == [.ping])
    try client.type("x\n")
    try client.pump { $0.text == "got x\n" }
    #expect(client.refusal == nil)
  }

  @Test func aStoppedClientDoesNotStopAProgramOnATerminalAndReadsTheRestLater() throws {
    let bench = try SessionBench()
    let spec = bench.spec("head -c 6000000 /dev/zero | tr '\\0' x; echo; echo done >finished") {
      $0.terminal = Array("dumb".utf8)
    }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    // It reads nothing: the program is held for a second and then goes on.
    try waitUntil { !bench.text("finished").isEmpty }
    try client.pump { $0.end != nil }
    #expect(client.all.count == 6_000_002 && client.gaps.isEmpty)
    #expect(try client.close() == 0)
  }

  @Test func outputBeyondTheCapIsOneTypedGapAndTheRestIsExact() throws {
    let bench = try SessionBench()
    let count = 400_000
    let spec = bench.spec("i=0; seq 1 \(count)") {
      $0.cap = 1 << 20
      $0.whenFull = .drop
    }
    _ = try bench.start(spec)
    _ = try bench.run(["wait", "--session", spec.session.description])
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    let whole = Array((1...count).map { "\($0)\n" }.joined().utf8)
    let gap = try #require(client.gaps.first)
    #expect(client.gaps.count == 1 && gap.lowerBound == 0)
    let isWhole = client.all == Array(whole[Int(gap.upperBound)...])
    #expect(isWhole)
    #expect(client.all.count >= 1 << 20 && client.all.count < 3 << 20)
  }

  @Test func onPipesAProgramWaitsAtTheCapAndNothingIsLost() throws {
    let bench = try SessionBench()
    let spec = bench.spec("seq 1 400000; echo done >finished") { $0.cap = 1 << 20 }
    _ = try bench.start(spec)
    try waitUntil { try bench.status(spec.session)?.newest ?? 0 >= 1 << 20 }
    try waitUntil { try bench.status(spec.session)?.waitsForReader == true }
    #expect(bench.text("finished").isEmpty)
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(try bench.status(spec.session)?.waitsForReader != true)
    #expect(try client.close() == 0)
    #expect(client.text == (1...400_000).map { "\($0)\n" }.joined() && client.gaps.isEmpty)
  }

  /// The program does not end by itself, and its waiting client learns that: once.
  @Test(arguments: [["wait"], ["read", "--follow"]])
  func aProgramThatWaitsForAReaderIsNamedToItsWaitingClient(_ verb: [String]) throws {
    let bench = try SessionBench()
    let spec = bench.spec("until [ -e go ]; do sleep 0.02; done; seq 1 400000") { $0.cap = 1 << 20 }
    _ = try bench.start(spec)
    let waiter = try bench.launch(
      verb + ["--session", spec.session.description, "--marker", SessionBench.marker])
    var output: [UInt8] = []
    func stalls() throws -> Int {
      if case .bytes(let more) = waiter.output.read(1 << 20) { output += more }
      let frames = try output.isEmpty ? [] : SessionBench.frames(in: output)
      return frames.filter { frame in
        if case .status(let status) = frame { status.waitsForReader } else { false }
      }.count
    }
    if verb != ["wait"] { try waitUntil { try stalls() == 0 && !output.isEmpty } }
    try Data().write(to: URL(fileURLWithPath: bench.file("go")))
    try waitUntil { try stalls() > 0 }
    let reader = try bench.attach(spec.session)
    try reader.pump { $0.end != nil }
    output += waiter.finish().output
    #expect(try stalls() == 1)
  }

  @Test func aProgramThatNeverReadsHoldsNothingElseUp() throws {
    let bench = try SessionBench()
    let spec = bench.spec("trap 'echo told; exit 5' USR1; echo ready; while :; do sleep 0.05; done")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "ready\n" }
    _ = try client.machine.write([UInt8](repeating: 120, count: Int(Limits.window)))
    try client.pump { $0.outboxIsIdle }
    #expect(client.machine.inputTaken < Limits.window)
    _ = try client.machine.perform(.signal(.user1))
    #expect(try client.close() == 0)
    #expect(client.end == .exited(status: 5))
    #expect(client.losses.first?.reason == .closed)
  }

  @Test func aProgramThatClosesItsInputIsReported() throws {
    let bench = try SessionBench()
    let spec = bench.spec("trap 'exit 6' USR1; exec <&-; echo closed; while :; do sleep 0.05; done")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "closed\n" }
    try client.type("nobody reads this\n")
    try client.pump { !$0.losses.isEmpty }
    #expect(client.notices.map(\.code) == [.inputClosed])
    #expect(client.losses.first?.accepted == 0 && client.losses.first?.written == 18)
    _ = try client.machine.perform(.signal(.user1))
    #expect(try client.close() == 0)
  }

  @Test(arguments: [0, 1, 2, 3]) func bytesThatAreNoFramesEndOneAttachmentOnly(kind: Int) throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let sound = try bench.attach(spec.session)
    try sound.greet()
    let hostile: [[UInt8]] = [
      Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), [UInt8](repeating: 255, count: 64),
      Frame.input(offset: 0, bytes: [1]).encoded,
      Frame.header(.hello, length: 0, offset: 0),
    ]
    let verb = ["attach", "--session", spec.session.description]
    let process = try bench.launch(verb + ["--marker", SessionBench.marker])
    var bytes = hostile[kind]
    while true {
      if !bytes.isEmpty, case .wrote(let count)? = process.input?.write(bytes, from: 0) {
        bytes.removeFirst(count)
      }
      guard case .end = process.output.read(4096) else { process.wait(writes: false); continue }
      break
    }
    #expect(process.exitStatus() == 76)
    try sound.type("still\n")
    try sound.pump { $0.text == "got still\n" }
  }

  @Test func aKilledKeeperLeavesItsOutputAndAnUnknownOutcome() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo run >>runs; echo before >&2; read word; exit 0")
    _ = try bench.start(spec)
    try waitUntil { try bench.status(spec.session)?.newest == 7 }
    try bench.killKeeper(of: spec.session)
    #expect(try bench.status(spec.session)?.state == .keeperDied)
    guard case .status(let again) = try bench.start(spec) else { Issue.record("none"); return }
    #expect(again.state == .keeperDied && again.end == .unknownKeeperDied)
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(client.end == .unknownKeeperDied)
    #expect(client.output[.standardError] == Array("before\n".utf8))
    #expect(bench.text("runs") == "run\n")
    let (_, status) = try bench.run(["wait", "--session", spec.session.description])
    #expect(status == 74)
  }

  /// It cannot be reached: without a word it would run on, and its session would look ended.
  @Test func aProgramThatOutlivesItsKeeperIsSaidToRunUntilASignalEndsIt() throws {
    let bench = try SessionBench()
    let spec = bench.spec("exec sleep 60")
    _ = try bench.start(spec)
    try bench.killKeeper(of: spec.session)
    let orphan = try #require(try bench.status(spec.session))
    #expect(orphan.state == .keeperDied && orphan.end == .orphaned)
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(client.end == .orphaned)
    _ = try bench.run(["kill", "--session", spec.session.description])
    #expect(try bench.status(spec.session)?.end == .unknownKeeperDied)
  }

  /// The program has ended, and its keeper dies before the end of the output: what is missing is
  /// not known, and no status of the program makes up for it.
  @Test func aKeeperThatDiesBetweenTheEndAndTheLastOutputLeavesAnUnknownOutcome() throws {
    let bench = try SessionBench()
    let go = bench.file("go")
    // It ends with the directory of the test, too.
    let waits = "until [ -e \(go) ] || [ ! -d \(bench.folder.path) ]; do sleep 0.05; done"
    let spec = bench.spec("(\(waits)) & echo text; exit 0")
    _ = try bench.start(spec)
    let place = bench.sessionsFolder.appending(path: spec.session.description).path
    let files = SessionFiles(spec.session, directory: try Directory(place))
    try waitUntil { files.state?.phase == .exited }
    try bench.killKeeper(of: spec.session)
    try Data().write(to: URL(fileURLWithPath: go))
    #expect(try bench.status(spec.session)?.end == .unknownKeeperDied)
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(client.end == .unknownKeeperDied)
    let (_, status) = try bench.run(["wait", "--session", spec.session.description])
    #expect(status == 74)
  }

  @Test func aSessionOfAnEarlierBootIsLostByTheReboot() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo before; read word")
    _ = try bench.start(spec)
    try waitUntil { try bench.status(spec.session)?.newest == 7 }
    try bench.killKeeper(of: spec.session)
    let place = bench.sessionsFolder.appending(path: spec.session.description).path
    let files = SessionFiles(spec.session, directory: try Directory(place))
    var state = try #require(files.state)
    state.boot = Array("another boot".utf8)
    try files.record(state, syncs: false)
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(client.end == .unknownRebooted && client.text == "before\n")
  }

  @Test func aProgramKilledByASignalIsToldFromOneThatExited() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo up; kill -9 $$")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.end == .signaled(number: 9, dumpedCore: false))
  }
}

extension AttachedClient {
  /// Nothing to send now.
  var outboxIsIdle: Bool {
    var copy = machine
    return copy.nextFrame(at: 0) == nil && !hasUnsent
  }
}
