import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// A session that may live is not called dead, and one that is dead is not called alive.
@Suite struct LifeTests {
  private static let echo = "while read word; do echo got $word; done"

  private func expectAlive(_ bench: SessionBench, _ spec: SessionSpec) throws {
    #expect(try bench.status(spec.session)?.state == .running)
    let client = try bench.attach(spec.session) { $0.takes = true }
    try client.greet()
    #expect(client.welcome?.hasEnded == false)
    try client.type("x\n")
    try client.pump { $0.text.hasSuffix("got x\n") }
    client.cut()
  }

  private func sweep(_ bench: SessionBench, after seconds: UInt64) throws {
    Retention(roots: [try bench.root], now: Machine.seconds + seconds).sweep()
  }

  /// As what cleans up directories of temporary files does.
  @Test func aSessionWhoseLockWasRemovedLives() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.echo)
    _ = try bench.start(spec)
    try FileManager.default.removeItem(atPath: bench.place(of: spec.session) + "/lock")
    try expectAlive(bench, spec)
    // Its socket, too: its process tells.
    try FileManager.default.removeItem(atPath: bench.place(of: spec.session) + "/sock")
    #expect(try bench.files(of: spec.session).life == .alive)
    try sweep(bench, after: 90 * 24 * 3600)
    try expectAlive(bench, spec)
    try bench.killKeeper(of: spec.session)
    #expect(try bench.status(spec.session)?.state == .keeperDied)
  }

  private static let canUnshare =
    SmallDisk.canMount && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")

  /// As a file system is after an error: what is in it can be read, and sockets answer.
  @Test(.enabled(if: canUnshare)) func aSessionOnADiskThatTakesNoWritesLives() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.echo)
    _ = try bench.start(spec)
    let folder = bench.folder.path
    bench.prelude =
      "exec /usr/bin/unshare -m /bin/sh -c 'mount --bind \(folder) \(folder) "
      + "&& mount -o remount,bind,ro \(folder) && exec \"$0\" \"$@\"'"
    try expectAlive(bench, spec)
    bench.prelude = nil
    try expectAlive(bench, spec)
  }

  // MARK: Another machine with the same files

  private func moveElsewhere(_ files: SessionFiles) throws {
    var state = try #require(files.state)
    (state.boot, state.node) = (Array("another boot".utf8), "node7")
    try files.record(state, syncs: false)
  }

  @Test func aSessionOfAnotherMachineIsNamedByIt() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.echo)
    _ = try bench.start(spec)
    let files = try bench.files(of: spec.session)
    #expect(files.state?.node == Machine.node && files.otherNode == nil)
    try moveElsewhere(files)
    // Its lock is seen from here, or it is not.
    for isSeen in [true, false] {
      if !isSeen { try bench.killKeeper(of: spec.session) }
      let status = try #require(try bench.status(spec.session))
      #expect(status.state == .running && status.node == "node7", "\(isSeen)")
      for verb in ["attach", "kill"] {
        let (frames, code) = try bench.run([verb, "--session", spec.session.description])
        guard case .refused(let refusal)? = frames.last else { Issue.record("\(verb)"); return }
        #expect(refusal.code == .directory && refusal.text.contains("is on node7"))
        #expect(code == 78)
      }
    }
  }

  /// It may run there: a keeper touches its files each day.
  @Test func aSessionOfAnotherMachineIsRemovedOnlyOnceItsFilesAreNotUsed() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.echo)
    _ = try bench.start(spec)
    let files = try bench.files(of: spec.session)
    try moveElsewhere(files)
    try bench.killKeeper(of: spec.session)
    try sweep(bench, after: 29 * 24 * 3600)
    #expect(bench.sessions == [spec.session])
    try sweep(bench, after: 31 * 24 * 3600)
    #expect(bench.sessions.isEmpty)
  }

  @Test func aRecordThatCannotBeReadIsNotKeptForever() throws {
    let bench = try SessionBench()
    let spec = bench.spec("exit 3")
    _ = try bench.start(spec)
    try bench.waitForEnd(spec.session)
    try Data("no record".utf8).write(
      to: URL(fileURLWithPath: bench.place(of: spec.session) + "/state"))
    try sweep(bench, after: 29 * 24 * 3600)
    #expect(bench.sessions == [spec.session])
    try sweep(bench, after: 31 * 24 * 3600)
    #expect(bench.sessions.isEmpty)
  }

  @Test func aKeeperMarksItsFilesAsUsed() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo text; \(Self.echo)")
    _ = try bench.start(spec)
    try bench.wait(for: spec.session, toPrint: 5)
    let files = try bench.files(of: spec.session)
    let old = Date(timeIntervalSince1970: 1_000_000)
    let place = bench.place(of: spec.session)
    for name in files.directory.names() {
      try FileManager.default.setAttributes(
        [.modificationDate: old], ofItemAtPath: "\(place)/\(name)")
    }
    files.directory.touch()
    for name in files.directory.names() {
      #expect(files.directory.info(of: name)?.modified ?? 0 > 1_000_000, "\(name)")
    }
  }
}
