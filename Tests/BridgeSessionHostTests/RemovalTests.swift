import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// A session is removed when its client has all of it, and not under those who still read it.
@Suite(.timeLimit(.minutes(5))) struct RemovalTests {
  /// Several segments, the size of which the cap decides.
  private let count = 4_000_000

  private func descriptors(ofKeeperOf session: SessionID, on bench: SessionBench) throws -> Int {
    let keeper = try #require(bench.keepers(of: session).first)
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(keeper)/fd").count
  }

  /// A session of a program that waits for a line, and its client.
  private func begin(_ bench: SessionBench) throws -> (session: SessionID, client: AttachedClient) {
    let spec = bench.spec("read word; head -c \(count) /dev/zero; exit 7") { $0.cap = 8 << 20 }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    return (spec.session, client)
  }

  /// Lets the program end; its client takes all of it and has the session removed.
  private func finish(_ client: AttachedClient) throws {
    try client.type("go\n")
    #expect(try client.close() == 0)
    #expect(client.all.count == count && client.end == .exited(status: 7))
  }

  /// How many bytes of output frames have.
  private func length(of frames: [Frame]) -> Int {
    frames.reduce(0) { if case .output(_, _, let bytes) = $1 { $0 + bytes.count } else { $0 } }
  }

  /// Clients of older versions say more than once that they will say it.
  @Test(arguments: [1, 2, 3]) func aCallerThatWaitsForTheEndIsAnswered(times: Int) throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    let before = try descriptors(ofKeeperOf: session, on: bench)
    let arguments = ["wait", "--session", session.description, "--marker", SessionBench.marker]
    let caller = try bench.launch(arguments)
    try waitUntil { try descriptors(ofKeeperOf: session, on: bench) == before + 2 }
    try finish(client)
    let takes = [UInt8](repeating: HostAnswer.takes, count: times)
    let (output, status) = caller.finish(takes + [HostAnswer.taken])
    guard case .status(let ended)? = try SessionBench.frames(in: output).last else {
      Issue.record("no status")
      return
    }
    #expect(status == 0 && ended.end == .exited(status: 7))
    try waitUntil { bench.names.isEmpty }
  }

  /// Its pipe holds a part of the output.
  @Test(arguments: [["--follow"], []])
  func aReaderOfTheOutputGetsAllOfIt(follow: [String]) throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    try client.type("go\n")
    try client.pump { $0.end != nil }
    let before = try descriptors(ofKeeperOf: session, on: bench)
    let reader = try bench.launch(
      ["read", "--session", session.description, "--marker", SessionBench.marker] + follow)
    try waitUntil { try descriptors(ofKeeperOf: session, on: bench) == before + 1 }
    #expect(try client.close() == 0)
    let (output, status) = reader.finish([])
    let frames = try SessionBench.frames(in: output)
    #expect(status == 0 && length(of: frames) == count)
    guard case .ended(_, let end)? = frames.last else {
      Issue.record("no end")
      return
    }
    #expect(end == .exited(status: 7))
    try waitUntil { bench.names.isEmpty }
  }

  @Test func anotherClientThatReadsSlowlyGetsAllOfIt() throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    let viewer = try bench.attach(session, client: ClientID(high: 9, low: 9)) { $0.role = .viewer }
    try viewer.greet()
    try finish(client)
    try viewer.pump { $0.end != nil }
    #expect(viewer.all.count == count && viewer.end == .exited(status: 7))
    #expect(viewer.gaps.isEmpty)
    _ = try viewer.close()
    try waitUntil { bench.names.isEmpty }
  }

  /// Its client has all of the session and left; another one still reads.
  @Test func aKeeperThatIsKilledWhileAnotherClientReadsHasItRemovedByThatOne() throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    let other = ClientID(high: 9, low: 9)
    let viewer = try bench.attach(session, client: other) { $0.role = .viewer }
    try viewer.greet()
    try finish(client)
    try waitUntil { try bench.files(of: session).isMarkedForRemoval }
    try bench.killKeeper(of: session)
    viewer.cut()
    let again = try bench.attach(session, client: other) { $0.role = .viewer }
    try again.pump { $0.end != nil }
    #expect(again.end == .exited(status: 7))
    _ = try again.close()
    try waitUntil { bench.names.isEmpty }
  }

  /// Its link is down when the program ends, or hangs then and is lost later, and the client of the
  /// session has all of it before that one is back.
  @Test(arguments: [["attach"], ["read", "--follow"], ["wait"]], [false, true])
  func aReaderThatWasLostFindsTheSession(_ verb: [String], hangs: Bool) throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    let other = ClientID(high: 9, low: 9)
    let arguments = ["--session", session.description, "--marker", SessionBench.marker]
    var lose: () throws -> Void
    if verb == ["attach"] {
      let viewer = try bench.attach(session, client: other) { $0.role = .viewer }
      try viewer.greet()
      lose = { viewer.cut() }
    } else {
      let before = try descriptors(ofKeeperOf: session, on: bench)
      let reader = try bench.launch(verb + arguments)
      try waitUntil { try descriptors(ofKeeperOf: session, on: bench) > before }
      // As a client that tells when it has the end.
      #expect(reader.input?.write([HostAnswer.takes], from: 0) == .wrote(1))
      lose = {
        reader.output.descriptor.closeNow()
        reader.closeInput()
        _ = reader.exitStatus()
      }
    }
    if !hangs {
      try lose()
      try waitUntil { try bench.status(session)?.attached == 1 }
    }
    try finish(client)
    if hangs {
      try waitUntil { try bench.files(of: session).isMarkedForRemoval }
      try lose()
    }
    try waitUntil { bench.keepers(of: session).isEmpty }
    if verb == ["attach"] {
      let again = try bench.attach(session, client: other) { $0.role = .viewer }
      try again.pump { $0.end != nil }
      #expect(again.all.count == count && again.end == .exited(status: 7))
    } else {
      let (frames, status) = try bench.run(verb + ["--session", session.description])
      #expect(status == 0 && length(of: frames) == (verb == ["wait"] ? 0 : count))
    }
  }

  /// It has what it wanted.
  @Test func aReaderThatIsDoneIsNotWaitedFor() throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    _ = try bench.run(["read", "--session", session.description])
    try finish(client)
    try waitUntil { bench.names.isEmpty }
  }

  /// Where a person wants that: not under a reader, nor where the program runs without its keeper.
  @Test func whatIsForgottenIsGoneForAllButItsReaders() throws {
    let bench = try SessionBench()
    let (files, client) = try beginEnded(bench)
    client.cut()
    let orphan = bench.spec("trap '' HUP TERM; exec sleep 600")
    _ = try bench.start(orphan)
    try bench.killKeeper(of: orphan.session)
    let reader = try launchReader(of: files, bench)
    let (frames, status) = try bench.run(["forget"])
    #expect(status == 0 && frames.count == 1)
    let output = reader.finish().output
    #expect(length(of: try SessionBench.frames(in: output)) == count)
    try waitUntil { bench.names == ["\(orphan.session)"] }
    #expect(try bench.run(["forget", "--session", "\(files.session)"]).status != 0)
    #expect(try bench.run(["forget", "--session", "\(orphan.session)"]).frames.isEmpty)
    _ = try bench.run(["kill", "--session", "\(orphan.session)", "--signal", "KILL"])
    #expect(try bench.run(["forget"]).frames.count == 1)
    #expect(bench.names.isEmpty)
  }

  // MARK: Without a keeper

  /// A session that has ended, and its client.
  private func beginEnded(
    _ bench: SessionBench
  ) throws -> (files: SessionFiles, client: AttachedClient) {
    let spec = bench.spec("head -c \(count) /dev/zero; exit 7") { $0.cap = 8 << 20 }
    _ = try bench.start(spec)
    try bench.waitForEnd(spec.session)
    return (try bench.files(of: spec.session), try bench.attach(spec.session))
  }

  private func launchReader(
    of files: SessionFiles, _ bench: SessionBench
  ) throws -> RunningProcess {
    let arguments = ["--session", files.session.description, "--marker", SessionBench.marker]
    let reader = try bench.launch(["read"] + arguments)
    // Its own lock, and not that of the client that was there before.
    try waitUntil { TestMachine.locks(LiveRecord.name, process: reader.process) }
    return reader
  }

  /// The last one who leaves removes it.
  @Test func aReaderOfAnEndedSessionGetsAllOfIt() throws {
    let bench = try SessionBench()
    let (files, client) = try beginEnded(bench)
    let reader = try launchReader(of: files, bench)
    #expect(try client.close() == 0)
    #expect(client.all.count == count && client.end == .exited(status: 7))
    #expect(!bench.names.isEmpty)
    let (output, status) = reader.finish([])
    let frames = try SessionBench.frames(in: output)
    #expect(status == 0 && length(of: frames) == count)
    #expect(bench.names.isEmpty)
  }

  @Test func anotherClientOfAnEndedSessionGetsAllOfIt() throws {
    let bench = try SessionBench()
    let (files, client) = try beginEnded(bench)
    let viewer = try bench.attach(files.session, client: ClientID(high: 9, low: 9)) {
      $0.role = .viewer
    }
    try viewer.greet()
    #expect(try client.close() == 0)
    try viewer.pump { $0.end != nil }
    #expect(viewer.all.count == count && viewer.gaps.isEmpty)
    #expect(viewer.end == .exited(status: 7))
    _ = try viewer.close()
    try waitUntil { bench.names.isEmpty }
  }

  /// A link that is half open ends long after its client has come back over another one.
  @Test(arguments: [true, false])
  func aLinkOfTheClientThatHadItRemovedKeepsNothing(isOfThatClient: Bool) throws {
    let bench = try SessionBench()
    let (files, client) = try beginEnded(bench)
    let other = ClientID(high: 9, low: 9)
    let old = try bench.attach(files.session, client: isOfThatClient ? nil : other) {
      $0.role = .viewer
    }
    try old.greet()
    #expect(try client.close() == 0)
    #expect(client.end == .exited(status: 7) && files.isMarkedForRemoval)
    let link = try #require(old.process)
    link.output.descriptor.closeNow()
    link.closeInput()
    _ = link.exitStatus()
    #expect(bench.names.isEmpty == isOfThatClient)
    #expect(!files.isMarkedForRemoval)
  }

  /// A reader that is killed removes nothing: that is left to the next keeper that leaves.
  @Test func whatAReaderLeftThatWasKilledIsRemovedBySweeping() throws {
    let bench = try SessionBench()
    let (files, client) = try beginEnded(bench)
    let reader = try launchReader(of: files, bench)
    #expect(try client.close() == 0)
    let retention = Retention(roots: [try bench.root], now: Machine.seconds)
    retention.sweep()
    #expect(!bench.names.isEmpty)
    reader.end()
    retention.sweep()
    #expect(bench.names.isEmpty)
  }
}
