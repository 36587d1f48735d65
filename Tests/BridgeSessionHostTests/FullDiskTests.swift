import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// A keeper whose disk is full keeps the newest output and the end; the program goes on.
@Suite(.enabled(if: SmallDisk.canMount)) struct FullDiskTests {
  private func bench() throws -> (SessionBench, SmallDisk)? {
    let bench = try SessionBench()
    guard let disk = try SmallDisk(at: bench.folder, size: "3m") else { return nil }
    bench.environment["XDG_STATE_HOME"] = disk.path
    bench.stateFolder = URL(fileURLWithPath: disk.path)
    return (bench, disk)
  }

  /// A file that takes all the space there is.
  private func fill(_ disk: SmallDisk) throws -> Descriptor {
    let file = try Directory(disk.path).create("ballast")
    var size: UInt64 = 0
    while (try? file.write([UInt8](repeating: 0, count: 4096), at: size)) != nil { size += 4096 }
    return file
  }

  @Test func aTerminalsProgramGoesOnAndItsNewestOutputAndItsEndAreKept() throws {
    guard let (bench, disk) = try bench() else { return }
    let spec = bench.spec("stty -onlcr; seq 1 2000000; echo done >finished; exit 5") {
      $0.terminal = Array("dumb".utf8)
    }
    _ = try bench.start(spec)
    try waitUntil { !bench.text("finished").isEmpty }
    #expect(!bench.keepers(of: spec.session).isEmpty, "its output would go with the keeper")
    // A terminal of its own, as after a client's restart.
    let screen = try bench.attach(spec.session) { $0.replay = .screen }
    try screen.pump { $0.end != nil }
    #expect(screen.text.hasSuffix("\n2000000\n") && screen.end == .exited(status: 5))
    screen.cut()
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    let whole = Array((1...2_000_000).map { "\($0)\n" }.joined().utf8)
    let gap = try #require(client.gaps.first)
    #expect(client.gaps.count == 1 && gap.lowerBound == 0)
    let isWhole = client.all == Array(whole[Int(gap.upperBound)...])
    #expect(isWhole)
    #expect(client.all.count >= 2 << 20)
    #expect(try client.close() == 0)
    withExtendedLifetime(disk) {}
  }

  @Test func onPipesAClientThatCommitsGetsEveryByteThroughMemory() throws {
    guard let (bench, disk) = try bench() else { return }
    let spec = bench.spec("read word; seq 1 2500000; exit 6")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    let ballast = try fill(disk)
    try client.type("go\n")
    try client.pump { !$0.notices.isEmpty && $0.all.count > 12 << 20 }
    // What the client has taken was dropped: a reader does not take nothing for all of it.
    let (frames, status) = try bench.run(["read", "--session", spec.session.description])
    let gaps = frames.compactMap { if case .gap(let from, let to) = $0 { from..<to } else { nil } }
    #expect(status == 0 && (gaps.last?.upperBound ?? 0) > 8 << 20, "\(gaps)")
    ballast.truncate(to: 0)
    #expect(try client.close() == 0)
    // Again each time the disk had space in between.
    #expect(client.notices.allSatisfy { $0.code == .degraded })
    let isWhole = client.all == Array((1...2_500_000).map { "\($0)\n" }.joined().utf8)
    #expect(isWhole)
    #expect(client.gaps.isEmpty && client.end == .exited(status: 6))
    withExtendedLifetime(disk) {}
  }

  /// Of a session without a client nothing else would say it; a signal reaches its program.
  @Test func aListSaysWhatTheDiskDidNotTake() throws {
    guard let (bench, disk) = try bench() else { return }
    // No more than the disk has space for in the end.
    let spec = bench.spec("read word; seq 1 300000; exec sleep 600") {
      $0.terminal = Array("dumb".utf8)
    }
    _ = try bench.start(spec)
    #expect(try bench.status(spec.session)?.memory == nil)
    let client = try bench.attach(spec.session)
    try client.greet()
    let ballast = try fill(disk)
    try client.type("go\n")
    try client.pump { !$0.notices.isEmpty }
    client.cut()
    try waitUntil { try bench.status(spec.session)?.memory == .output }
    let kill = ["kill", "--session", spec.session.description, "--signal", "KILL"]
    #expect(try bench.run(kill).status == 0)
    try waitUntil { try bench.status(spec.session)?.memory == .end }
    ballast.truncate(to: 0)
    try waitUntil { try bench.status(spec.session)?.state == .ended }
    #expect(try bench.status(spec.session)?.memory == nil)
    withExtendedLifetime(disk) {}
  }

  /// A client has it, and it stays in memory: it is not called lost, and removing the session by
  /// its id ends the keeper.
  @Test func whatAClientHasOfAnEndedSessionIsStillThere() throws {
    guard let (bench, disk) = try bench() else { return }
    let spec = bench.spec("read word; seq 1 300000; exit 3")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    _ = try fill(disk)
    try client.type("go\n")
    try client.pump { $0.end != nil }
    client.cut()
    try waitUntil { try bench.status(spec.session)?.memory == .end }
    let read = ["read", "--session", spec.session.description]
    let (frames, status) = try bench.run(read)
    let hasGap = frames.contains { if case .gap = $0 { true } else { false } }
    #expect(status == 0 && !hasGap)
    // Without its id it stays: nothing else has its output.
    #expect(try bench.run(["forget"]).frames.isEmpty)
    #expect(try bench.run(["forget", "--session", spec.session.description]).frames.count == 1)
    #expect(bench.names.isEmpty)
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    withExtendedLifetime(disk) {}
  }

  /// Who reads the files takes what they have for all of it.
  @Test func theEndIsNotRecordedBeforeTheOutputIs() throws {
    guard let (bench, disk) = try bench() else { return }
    let spec = bench.spec("read word; seq 1 300000; exit 3")
    _ = try bench.start(spec)
    let waiter = try bench.launch(["wait", "--session", spec.session.description])
    let client = try bench.attach(spec.session)
    try client.greet()
    // The record of the end fits, the output does not.
    let ballast = try fill(disk)
    ballast.truncate(to: try ballast.info().size - (24 << 10))
    try client.type("go\n")
    try client.pump { $0.end != nil }
    client.cut()
    let full = try #require(try bench.status(spec.session))
    #expect(full.state == .running && full.memory == .end, "its output is not on disk")
    ballast.truncate(to: 0)
    #expect(waiter.finish().status == 0)
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    let ended = try #require(try bench.status(spec.session))
    #expect(ended.state == .ended && ended.memory == nil)
    let again = try bench.attach(spec.session)
    try again.pump { $0.end != nil }
    let isWhole = again.all == Array((1...300_000).map { "\($0)\n" }.joined().utf8)
    #expect(isWhole && again.gaps.isEmpty && again.end == .exited(status: 3))
    withExtendedLifetime(disk) {}
  }

  /// Its keeper would wait for space that never comes.
  @Test func aRemovedSessionEndsWithItsProgram() throws {
    guard let (bench, disk) = try bench() else { return }
    let spec = bench.spec("read word; seq 1 4000000; echo done >finished")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    try client.type("go\n")
    try client.pump { $0.all.count > 0 }
    let keepers = bench.keepers(of: spec.session)
    #expect(keepers.count == 1)
    client.cut()
    try FileManager.default.removeItem(
      at: bench.sessionsFolder.appending(path: spec.session.description))
    try waitUntil { !bench.text("finished").isEmpty }
    try waitUntil { keepers.allSatisfy { !FileManager.default.fileExists(atPath: "/proc/\($0)") } }
    withExtendedLifetime(disk) {}
  }

  @Test func theEndIsOnDiskOnceTheDiskHasSpace() throws {
    guard let (bench, disk) = try bench() else { return }
    let spec = bench.spec("read word; seq 1 400000; exit 7") { $0.terminal = Array("dumb".utf8) }
    _ = try bench.start(spec)
    let waiter = try bench.launch(["wait", "--session", spec.session.description])
    let client = try bench.attach(spec.session)
    try client.greet()
    let ballast = try fill(disk)
    try client.type("go\n")
    try client.pump { $0.end != nil }
    #expect(client.notices.map(\.code) == [.degraded])
    client.cut()
    #expect(try bench.status(spec.session)?.state == .running, "the end is not on disk")
    ballast.truncate(to: 0)
    #expect(waiter.finish().status == 0)
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    let again = try bench.attach(spec.session)
    try again.pump { $0.end != nil }
    #expect(again.end == .exited(status: 7) && again.all == client.all && again.gaps.isEmpty)
    withExtendedLifetime(disk) {}
  }

  /// What the client has stored makes space for the end.
  @Test func theEndIsRecordedOnceItsClientHasEverything() throws {
    guard let (bench, disk) = try bench() else { return }
    let ballast = try fill(disk)
    ballast.truncate(to: 2 << 20)
    let spec = bench.spec("seq 1 700000; exit 4")
    _ = try bench.start(spec)
    try waitUntil { try bench.status(spec.session)?.memory != nil }
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    try client.pump { !$0.hasUnsent && $0.machine.acknowledgementDeadline == nil }
    client.cut()
    try waitUntil { try bench.status(spec.session)?.state == .ended }
    #expect(try bench.status(spec.session)?.end == .exited(status: 4))
    let isWhole = client.all == Array((1...700_000).map { "\($0)\n" }.joined().utf8)
    #expect(isWhole)
    withExtendedLifetime(disk) {}
  }
}
