import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

@Suite struct RetentionTests {
  private func ended(_ bench: SessionBench, _ command: String) throws -> SessionID {
    let spec = bench.spec(command)
    _ = try bench.start(spec)
    _ = try bench.run(["wait", "--session", spec.session.description])
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    return spec.session
  }

  private func sweep(
    _ bench: SessionBench, after seconds: UInt64, quota: UInt64 = Retention.quota
  ) throws {
    var retention = Retention(roots: [try bench.root], now: Machine.seconds + seconds)
    retention.quota = quota
    retention.sweep()
  }

  private static let day: UInt64 = 24 * 3600

  private func expectText(of session: SessionID, on bench: SessionBench) throws {
    let (frames, _) = try bench.run(["read", "--session", session.description])
    #expect(
      frames.contains(.output(offset: 0, stream: .standardOutput, bytes: Array("text\n".utf8))))
  }

  @Test func anEndedSessionIsKeptForSevenDays() throws {
    let bench = try SessionBench()
    let session = try ended(bench, "echo text; exit 3")
    try sweep(bench, after: 6 * Self.day)
    #expect(try bench.status(session)?.newest == 5)
    try expectText(of: session, on: bench)
    try sweep(bench, after: 8 * Self.day)
    #expect(bench.names.isEmpty)
  }

  /// Its directory is as old as its start, and its output as the last of it.
  @Test func aSessionWhoseKeeperDiedIsKeptForSevenDaysFromThenOn() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo text; read word")
    _ = try bench.start(spec)
    try waitUntil { try bench.status(spec.session)?.newest == 5 }
    try bench.killKeeper(of: spec.session)
    let place = bench.sessionsFolder.appending(path: spec.session.description)
    let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
    for path in names.map({ place.appending(path: $0).path }) + [place.path] {
      try FileManager.default.setAttributes(
        [.modificationDate: Date.now.addingTimeInterval(-8 * Double(Self.day))],
        ofItemAtPath: path)
    }
    try sweep(bench, after: 0)
    #expect(try bench.status(spec.session)?.end == .unknownKeeperDied)
    try sweep(bench, after: 6 * Self.day)
    try expectText(of: spec.session, on: bench)
    try sweep(bench, after: 8 * Self.day)
    #expect(bench.names.isEmpty)
  }

  /// Not the start: a client waits for that.
  @Test func aSessionThatEndsRemovesThoseThatWereKeptTooLong() throws {
    let bench = try SessionBench()
    let old = try ended(bench, "exit 3")
    let files = try bench.files(of: old)
    var state = try #require(files.state)
    state.endedAt = Machine.seconds - 8 * Self.day
    try files.record(state, syncs: false)
    let running = bench.spec("read word; exit 4")
    _ = try bench.start(running)
    #expect(try bench.status(old) != nil)
    _ = try bench.run(["kill", "--session", running.session.description])
    try waitUntil { try bench.status(old) == nil }
    #expect(try bench.status(running.session)?.state == .ended)
  }

  @Test func outputThatWasCommittedGoesAfterADayAndTheTombstoneStays() throws {
    let bench = try SessionBench()
    let session = try ended(bench, "echo text; exit 3")
    let client = try bench.attach(session)
    try client.pump { $0.end != nil }
    client.machine.commit(through: 5, at: Machine.milliseconds)
    try client.machine.detach(closes: false)
    try client.pump { _ in false }
    try sweep(bench, after: 2 * Self.day)
    #expect(try bench.status(session)?.end == .exited(status: 3))
    let again = try bench.attach(session)
    try again.pump { $0.end != nil }
    #expect(again.gaps == [0..<5] && again.end == .exited(status: 3))
  }

  @Test func beyondTheQuotaTheOldestOutputGoesFirst() throws {
    let bench = try SessionBench()
    let running = bench.spec("seq 1 1000; read word")
    _ = try bench.start(running)
    let sessions = try (0..<3).map { _ in try ended(bench, "seq 1 1000") }
    let directory = try Directory(bench.sessionsFolder.path)
    for (index, session) in sessions.enumerated() {
      let files = try #require(SessionFiles(session, in: [StateRoot(directory: directory)]))
      var state = try #require(files.state)
      state.endedAt = Machine.seconds - 100 + UInt64(index)
      try files.record(state, syncs: false)
    }
    try sweep(bench, after: 0, quota: 5000)
    let sizes = try sessions.map { session in
      let files = try #require(SessionFiles(session, in: [StateRoot(directory: directory)]))
      return Journal(files.directory).size
    }
    #expect(sizes == [0, 0, 3893])
    #expect(try bench.status(running.session)?.state == .running)
  }

  @Test func beyondTheQuotaWhatWasReadGoesBeforeWhatWasNot() throws {
    let bench = try SessionBench()
    let sessions = try (0..<3).map { _ in try ended(bench, "seq 1 1000") }
    for (index, session) in sessions.enumerated() {
      let files = try bench.files(of: session)
      var state = try #require(files.state)
      state.endedAt = Machine.seconds - 100 + UInt64(index)
      try files.record(state, syncs: false)
    }
    let reader = try bench.attach(sessions[1])
    try reader.pump { $0.end != nil }
    reader.machine.commit(through: 3893, at: Machine.milliseconds)
    try reader.machine.detach(closes: false)
    try reader.pump { _ in false }
    try sweep(bench, after: 0, quota: 8000)
    let sizes = try sessions.map { Journal(try bench.files(of: $0).directory).size }
    #expect(sizes == [3893, 0, 3893])
  }

  /// Its client had no time to read it.
  @Test func theLastSessionToEndKeepsItsOutputHoweverMuchItIs() throws {
    let bench = try SessionBench()
    let session = try ended(bench, "seq 1 1000")
    try sweep(bench, after: 0, quota: 100)
    #expect(Journal(try bench.files(of: session).directory).size == 3893)
  }

  /// Of two attachments to an ended session one removes it, and the other records a commit.
  @Test func filesThatAreAddedMeanwhileAreRemovedAsWell() async throws {
    let bench = try SessionBench()
    let root = bench.folder.path
    for name in (0..<300).map({ "gone-\($0)" }) {
      try FileManager.default.createDirectory(
        atPath: "\(root)/\(name)", withIntermediateDirectories: false)
      _ = try Directory("\(root)/\(name)").create("journal")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let directory = try? Directory("\(root)/\(name)")
          for file in 0..<8 { _ = try? directory?.create("live-\(file)") }
        }
        group.addTask { try Directory(root).removeDirectory(name) }
        try await group.waitForAll()
      }
      #expect(!FileManager.default.fileExists(atPath: "\(root)/\(name)"))
    }
  }

  @Test func whatAKilledStartLeftIsRemovedAndWhatIsHeldIsNot() throws {
    let bench = try SessionBench()
    _ = try bench.run(["list"])
    _ = try ended(bench, "true")
    for name in [".new-held", ".new-left", ".gone-left"] {
      let path = bench.sessionsFolder.appending(path: name).path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    let held = try Directory(bench.sessionsFolder.appending(path: ".new-held").path)
    let lock = try held.create("lock")
    #expect(try lock.lock())
    try sweep(bench, after: 10)
    #expect(bench.names.filter { $0.hasPrefix(".") }.count == 3)
    try sweep(bench, after: 120)
    #expect(bench.names.filter { $0.hasPrefix(".") } == [".new-held"])
    withExtendedLifetime(lock) {}
  }
}
